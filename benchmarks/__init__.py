"""Times mindtorch and torch side by side: `make bench`, or `python -m benchmarks --only op/`; in ops/ all ops."""

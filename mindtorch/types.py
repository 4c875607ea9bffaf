"""Types for annotations, as in `torch.types`."""

Number = int | float | bool

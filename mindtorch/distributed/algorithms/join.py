"""`Join`, for inputs of which some processes have more than others."""

from mindtorch.nn.parallel.joining import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]

"""mindtorch: tensors with automatic differentiation, with the names, semantics and messages of PyTorch."""

__version__ = "0.1.0"

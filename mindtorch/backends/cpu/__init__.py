"""The CPU backend: kernels over NumPy arrays, one module per family and helper modules."""


def get_cpu_capability() -> str:
    """The instructions that kernels were compiled for: these are NumPy's, and none of our own."""
    return "DEFAULT"

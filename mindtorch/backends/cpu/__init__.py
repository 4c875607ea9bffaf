"""The CPU backend: kernels of NumPy arrays, a folder for each family, and `common` for what several families share."""


def get_cpu_capability() -> str:
    """The instructions that kernels were compiled for: these are NumPy's, and none of our own."""
    return "DEFAULT"

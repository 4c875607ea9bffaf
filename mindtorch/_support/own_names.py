"""Which `__module__` the library's own classes and functions have."""

ROOTS = {__name__.partition(".")[0]}  # and "torch" once the library has PyTorch's name (mindtorch.install_as_torch)


def is_own(module: str) -> bool:
    """Whether a module of that name is one of the library's."""
    return module.partition(".")[0] in ROOTS

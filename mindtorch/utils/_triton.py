"""Whether there is a compiler of kernels: there is none."""


def has_triton() -> bool:
    return False


def has_triton_package() -> bool:
    return False

"""No such device is available; queries report this."""


def is_available() -> bool:
    return False


def is_built() -> bool:
    return False

"""There is no such device here; programs that ask get told so."""


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0

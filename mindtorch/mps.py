"""No such device is available; queries report this."""

__path__: list[str] = []  # the modules in it are stand-ins (mindtorch._support.absent)


def is_available() -> bool:
    return False


def device_count() -> int:
    return 0

"""opt_einsum is not used here. Its settings can be set, and change nothing."""

enabled = False
strategy = None


def is_available() -> bool:
    return False

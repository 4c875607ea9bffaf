"""What is said of calls and objects that need several processes."""

from typing import Any, NoReturn


def refuse_without_group(*args: Any, **kwargs: Any) -> NoReturn:
    raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")


class ProcessGroup:
    """Processes that would work together; nothing is one."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse_without_group()

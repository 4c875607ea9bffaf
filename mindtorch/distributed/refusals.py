"""What is said of parts of `torch.distributed` that are not built yet."""

from typing import Any, NoReturn


def refuse(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError("mindtorch has process groups and collectives, but not this part of torch.distributed")


class Refused:
    """A class that programs ask about; none can be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse()

"""Stand-ins for what PyTorch has and this library does not: they raise an error when they are called."""

from typing import Any, NoReturn


def no_cuda(*args: Any, **kwargs: Any) -> Any:  # NoReturn would hide what follows a call from type checkers
    raise AssertionError("Torch not compiled with CUDA enabled")


def no_such_part_of_distributed(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError("mindtorch has process groups and collectives, but not this part of torch.distributed")


class NoSuchPartOfDistributed:
    """A class that programs ask about; none can be made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        no_such_part_of_distributed()

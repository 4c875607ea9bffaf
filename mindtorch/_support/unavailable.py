"""Stand-ins for what PyTorch has and this library does not: they raise an error when they are called."""

from typing import Any, NoReturn

_NO_CUDA = "Torch not compiled with CUDA enabled"
_NO_SUCH_PART = "mindtorch has process groups and collectives, but not this part of torch.distributed"


def no_cuda(*args: Any, **kwargs: Any) -> Any:  # NoReturn would hide what follows a call from type checkers
    raise AssertionError(_NO_CUDA)


def no_such_part_of_distributed(*args: Any, **kwargs: Any) -> NoReturn:
    raise NotImplementedError(_NO_SUCH_PART)


class NoSuchPartOfDistributed:
    """A class that programs ask about; none can be made."""

    _mt_refusal = _NO_SUCH_PART

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        no_such_part_of_distributed()


# For those who ask whether a name refuses (mindtorch._support.absent.making.refusal_of).
vars(no_cuda)["_mt_refusal"] = _NO_CUDA
vars(no_such_part_of_distributed)["_mt_refusal"] = _NO_SUCH_PART

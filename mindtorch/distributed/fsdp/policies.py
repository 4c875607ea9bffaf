"""In which dtypes a spread model computes, and where its parameters are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mindtorch._core.dtype import dtype as Dtype


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes of parameters and inputs in forward and backward passes, of gradients on their way, and of outputs."""

    param_dtype: Dtype | None = None
    reduce_dtype: Dtype | None = None
    output_dtype: Dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class OffloadPolicy:
    """Parameters stay where they are."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters are on the CPU, where they are anyway."""

    pin_memory: bool = True


class FullyShardedDataParallel:
    """The older interface, which is not built."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "mindtorch does not have FullyShardedDataParallel: use `torch.distributed.fsdp.fully_shard`, which takes "
            "its place"
        )

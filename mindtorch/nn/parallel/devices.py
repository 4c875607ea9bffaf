"""What distributes tensors and modules over devices: `scatter`, `replicate`, `parallel_apply` and `gather`.

There are no devices to distribute over, so these say what PyTorch says on a machine that has only a CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from mindtorch.device import as_device
from mindtorch.errors import no_accelerator
from mindtorch.nn.modules.module import Module


def scatter(inputs: Any, target_gpus: Sequence[Any], dim: int = 0) -> NoReturn:
    """Parts of the inputs for each device."""
    raise _refusal(target_gpus)


def replicate(network: Module, devices: Sequence[Any], detach: bool = False) -> list[Module]:
    """A copy of a module for each device."""
    if not devices:
        return []
    raise _refusal(devices)


def _refusal(devices: Sequence[Any]) -> Exception:
    for each in devices:
        if not isinstance(each, int) and as_device(each).type == "cpu":
            return ValueError(f"Expected a non cpu device, but got: {each}")
    return no_accelerator()


def data_parallel(module: Module, inputs: Any, *options: Any, **more: Any) -> NoReturn:
    """The outputs of a module for parts of the inputs, each computed on its device."""
    raise RuntimeError("device type could not be determined")


def gather(outputs: Any, target_device: Any, dim: int = 0) -> NoReturn:
    """The outputs of several devices on one of them."""
    raise AssertionError("Gather function not implemented for CPU tensors")


def parallel_apply(
    modules: Sequence[Any], inputs: Sequence[Any], kwargs_tup: Any = None, devices: Sequence[Any] | None = None
) -> NoReturn:
    """The outputs of several modules, each computed on its device."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    for each in devices or ():
        if not isinstance(each, int) and as_device(each).type == "cpu":
            raise ValueError(f"Expected a cuda device, but got: {each}")
    raise no_accelerator()

"""What distributes tensors and modules over devices: `scatter`, `replicate`, `parallel_apply` and `gather`.

They are for GPUs. On a machine that has only a CPU these say what PyTorch says there; where there is an accelerator,
that it takes a process for each device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from mindtorch._core.device import accelerator, as_device
from mindtorch._support.errors import no_accelerator
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
    return _no_devices()


def _no_devices() -> Exception:
    kind = accelerator()
    if kind is None:
        return no_accelerator()
    return RuntimeError(
        f"modules are not spread over several {kind} devices by threads of one process: use one process for each "
        "device, and DistributedDataParallel"
    )


def data_parallel(module: Module, inputs: Any, *options: Any, **more: Any) -> NoReturn:
    """The outputs of a module for parts of the inputs, each computed on its device."""
    raise _no_devices() if accelerator() else RuntimeError("device type could not be determined")


def gather(outputs: Any, target_device: Any, dim: int = 0) -> NoReturn:
    """The outputs of several devices on one of them."""
    raise _no_devices() if accelerator() else AssertionError("Gather function not implemented for CPU tensors")


def parallel_apply(
    modules: Sequence[Any], inputs: Sequence[Any], kwargs_tup: Any = None, devices: Sequence[Any] | None = None
) -> NoReturn:
    """The outputs of several modules, each computed on its device."""
    if len(modules) != len(inputs):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}")
    for each in devices or ():
        if not isinstance(each, int) and as_device(each).type == "cpu":
            raise ValueError(f"Expected a cuda device, but got: {each}")
    raise _no_devices()

"""Every op of the table on a device and on the CPU: how they differ.

Arguments are moved to the device with their whole storage, strides and offset kept. Attention is computed step by step
in both places: the CPU's fused kernel has other strides.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._core.storage import UntypedStorage, array_on
from mindtorch._core.tensor import wrap
from mindtorch.nn.attention import SDPBackend, sdpa_kernel
from tests.harness import (
    Outcome,
    arguments_of,
    describe,
    dtypes_of,
    error_difference,
    function_of,
    inplace_samples,
    outcome,
    result_difference,
    samples_of,
    tensors_in,
    variant,
)

DTYPES = ("float32", "int64")
# How much further rounding goes: the CPU finds places in images in single precision, as torch does.
TOLERANCES = {"upsample_bicubic2d_backward": 8.0}
SAMPLES = 6 if os.environ.get("MINDTORCH_SAMPLES") == "all" else 2  # of each op and dtype


def moved(value: Any, device: str) -> Any:
    """A value with its tensors on a device, where their storages look as they did."""
    if isinstance(value, torch.Tensor):
        return _moved_tensor(value, device)
    if isinstance(value, (list, tuple)):
        return type(value)([moved(each, device) for each in value])
    if isinstance(value, dict):
        return {name: moved(each, device) for name, each in value.items()}
    return value


def _moved_tensor(tensor: torch.Tensor, device: str) -> torch.Tensor:
    source = tensor.untyped_storage()
    storage = UntypedStorage(source.nbytes(), device=device).copy_(source)
    place = (tensor.dtype, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
    return wrap(array_on(storage, *place)).requires_grad_(tensor.requires_grad)


def call(function: Callable, args: list, kwargs: dict) -> tuple[Outcome, Outcome]:
    """What a function gives, and the gradients of the arguments."""
    torch.manual_seed(0)
    found = outcome(function, args, kwargs)
    outputs = [each for each in tensors_in(torch, found.result) if each.requires_grad]
    leaves = [each for each in tensors_in(torch, [args, kwargs]) if each.requires_grad and each.is_leaf]
    if not outputs or not leaves:
        return found, Outcome()
    again = outcome(
        torch.autograd.grad, [outputs, leaves, [torch.ones_like(each) for each in outputs]], {"allow_unused": True}
    )
    return found, again


def difference(function: Callable, args: list, kwargs: dict, device: str, tolerance: float = 1.0) -> str | None:
    """How a call on the device differs from that on the CPU, in words."""
    there = moved([args, kwargs], device)
    with torch.device("cpu"):
        expected = call(function, args, kwargs)
    with torch.device(device):
        found = call(function, *there)
    written = Outcome(tensors_in(torch, there)), Outcome(tensors_in(torch, [args, kwargs]))
    pairs = (*zip(found, expected), written)
    return next((text for pair in pairs if (text := _compared(*pair, device, tolerance))), None)


def _compared(found: Outcome, expected: Outcome, device: str, tolerance: float) -> str | None:
    if found.error or expected.error:
        return error_difference(found.error, expected.error)
    elsewhere = [each.device for each in tensors_in(torch, found.result) if each.device.type != device]
    if elsewhere:
        return f"a result on {elsewhere[0]}"
    return result_difference(torch, torch, moved(found.result, "cpu"), expected.result, tolerance=tolerance)


def _tied(args: list, tied: Callable | None) -> list:
    """Arguments of which some follow from the others, as leaves."""
    if tied is None:
        return args
    pairs = zip(tied(*args), args, strict=True)
    return [
        own.detach().requires_grad_(before.requires_grad) if isinstance(own, torch.Tensor) else own
        for own, before in pairs
    ]


def cases(op: Any, dtypes: Sequence[str] = DTYPES) -> Iterator[tuple[str, Any, list, dict]]:
    """Calls of an op, in place and with `out=`, too."""
    for dtype in dtypes:
        if dtype not in dtypes_of(op):
            continue
        for count, sample in enumerate(samples_of(op, dtype)):
            if count == SAMPLES:
                break
            args, kwargs = arguments_of(torch, [list(sample.args), sample.kwargs], True)
            yield describe(sample), op, _tied(args, sample.tied), kwargs
        form = variant(op, "inplace")
        for count, sample in enumerate(inplace_samples(form, dtype) if form else ()):
            if count == SAMPLES:
                break
            yield describe(sample), form, *arguments_of(torch, [list(sample.args), sample.kwargs])


@sdpa_kernel(SDPBackend.MATH)
def differences(op: Any, device: str, dtypes: Sequence[str] = DTYPES) -> list[str]:
    """How an op on the device differs from that on the CPU: the first difference of each form."""
    found: dict[str, str] = {}
    for text, form, args, kwargs in cases(op, dtypes):
        if form.name not in found:
            said = difference(function_of(torch, form), args, kwargs, device, TOLERANCES.get(op.name, 1.0))
            if said:
                found[form.name] = f"{form.name}({text}): {said}"
    return list(found.values())

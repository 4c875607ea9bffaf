"""Tensors in groups that can be computed together."""

from __future__ import annotations

from typing import Any

from mindtorch._core.tensor import Tensor

Lists = list[list[Any]]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The devices on which one kernel does all of an optimizer's step, as torch lists them."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The devices on which optimizers compute on lists of tensors unless they are told not to."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Lists, with_indices: bool = False
) -> dict[tuple[Any, Any], tuple[Lists, list[int]]]:
    """The tensors of several lists by the device and dtype of those in the first list, and at which places they were.

    The other lists have None in the place of a tensor, or tensors that go with those of the first.
    """
    groups: dict[tuple[Any, Any], tuple[Lists, list[int]]] = {}
    for place, tensor in enumerate(tensorlistlist[0]):
        lists, places = groups.setdefault((tensor.device, tensor.dtype), ([[] for _ in tensorlistlist], []))
        for found, whole in zip(lists, tensorlistlist):
            if whole:
                found.append(whole[place])
        if with_indices:
            places.append(place)
    return groups


def _has_foreach_support(tensors: list[Tensor], device: Any) -> bool:
    """Whether lists of these tensors can be computed at once on a device."""
    on_cpu = device.type == "cpu"
    return (on_cpu or device.type in _get_foreach_kernels_supported_devices()) and all(
        each is None or type(each) is Tensor for each in tensors
    )


def _device_has_foreach_support(device: Any) -> bool:
    return device.type in [*_get_foreach_kernels_supported_devices(), "cpu"]

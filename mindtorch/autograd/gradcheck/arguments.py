"""Which inputs and outputs of a function gradcheck looks at, and what it refuses."""

import math
from typing import Any

import numpy as np

from mindtorch._core.dtype import complex128, float64
from mindtorch._core.interop import from_numpy
from mindtorch._core.layout import sparse_coo, strided
from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops


def as_tuple(values: Any) -> tuple:
    return tuple(values) if isinstance(values, (tuple, list)) else (values,)


def is_float(value: Any) -> bool:
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def is_complex(value: Any) -> bool:
    return isinstance(value, Tensor) and value.is_complex()


def requires_grad(value: Any) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def is_sparse(tensor: Any) -> bool:
    return tensor.layout is not strided


def differentiable(outputs: Any) -> tuple:
    return tuple(output for output in as_tuple(outputs) if requires_grad(output))


def sources_of(arguments: tuple) -> list[tuple[int, Any]]:
    """The arguments that require grad, with their positions."""
    return [(position, value) for position, value in enumerate(arguments) if requires_grad(value)]


def check_inputs(arguments: tuple) -> None:
    sources = sources_of(arguments)
    if not sources:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
    for position, value in sources:
        if value.dtype not in (float64, complex128):
            warn(
                f"Input #{position} requires gradient and is not a double precision floating point or complex. This "
                "check will likely fail if all the inputs are not of double precision floating point or complex. ",
                UserWarning,
            )
        content = elements_of(value)
        if any(stride == 0 and size > 1 for stride, size in zip(content.stride(), content.shape, strict=True)):
            raise RuntimeError(
                f"The {position}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )


def check_outputs(outputs: tuple) -> None:
    if any(is_sparse(output) for output in outputs):
        raise ValueError(
            "Sparse output is not supported at gradcheck yet. "
            "Please call to_dense(masked_grad=...) on the output of fn for gradcheck."
        )


# -------------------- sparse inputs --------------------


def elements_of(tensor: Any) -> Any:
    """The elements that are in memory."""
    return tensor._values() if tensor.layout is sparse_coo else tensor


def places_of(tensor: Any) -> list[int]:
    """For each element that is in memory its place among all elements, row by row."""
    if tensor.layout is not sparse_coo:
        return list(range(tensor.numel()))
    sizes = tuple(tensor.shape[: tensor.sparse_dim()])
    firsts = np.ravel_multi_index(tuple(tensor._indices().numpy()), sizes)
    together = math.prod(tensor.shape[tensor.sparse_dim() :])
    return [int(first) * together + offset for first in firsts for offset in range(together)]


def with_all_elements(tensor: Any) -> Any:
    """A sparse tensor with every element in memory, so that each can be changed; others as they are."""
    if not isinstance(tensor, Tensor) or tensor.layout is not sparse_coo:
        return tensor
    sizes = tuple(tensor.shape[: tensor.sparse_dim()])
    indices = from_numpy(np.indices(sizes).reshape(len(sizes), -1))
    values = tensor.detach().to_dense().reshape(-1, *tensor.shape[tensor.sparse_dim() :])
    full = ops._sparse_coo_tensor_unsafe(indices, values, tensor.shape, is_coalesced=True)
    return full.requires_grad_(tensor.requires_grad)

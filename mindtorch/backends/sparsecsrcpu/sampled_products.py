"""The product of two dense matrices at the places of a CSR matrix, of which alone it is computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mindtorch._core.layout import layout, sparse_csr, strided
from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.common.checks import scalar_name
from mindtorch.backends.cpu.common.numbers import checked_number
from mindtorch.backends.sparsecpu.array import SparseArray
from mindtorch.backends.sparsecsrcpu.array import CompressedArray


def sampled_addmm(
    input: CompressedArray, mat1: np.ndarray, mat2: np.ndarray, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> CompressedArray:
    """`beta * input + alpha * (mat1 @ mat2)` at the places of the input."""
    refusal = next(_refusals(input, mat1, mat2, input if out is None else out), None)
    if refusal is not None:
        raise RuntimeError(refusal)
    factors = [checked_number(each, input.dtype) for each in (alpha, beta)]
    result = input.with_values(quiet(_sampled_sum, input, mat1, mat2, *factors))
    return result if out is None else out.become(result)


def _sampled_sum(
    input: CompressedArray, mat1: np.ndarray, mat2: np.ndarray, alpha: np.ndarray, beta: np.ndarray
) -> np.ndarray:
    products = np.empty_like(input.values)
    for place, matrix in zip(np.ndindex(input.shape[:-2]), input.matrices()):
        rows, columns = matrix.places()
        products[place] = np.einsum("ki,ki->k", mat1[place][rows], mat2[place].T[columns])
    return (input.values * beta + products * alpha).astype(input.dtype, copy=False)


def _refusals(input: Any, mat1: Any, mat2: Any, result: Any) -> Iterator[str]:
    """What torch says of operands that do not fit, in the order in which it looks at them."""
    yield from _layouts(mat1, mat2, result)
    yield from _dtypes(input, mat1, mat2, result)
    yield from _shapes(input, mat1, mat2)
    if input.dtype.kind not in "fc" or input.itemsize < 4:
        name = scalar_name(input)
        yield f"sparse_sampled_addmm: Expected self to be a floating-point or complex tensor, but got {name}"


def _layouts(mat1: Any, mat2: Any, result: Any) -> Iterator[str]:
    if _layout_of(result) is not sparse_csr:
        yield f"sampled_addmm: Expected result to have sparse csr layout, but got {_layout_of(result).shown}"
    for name, each in (("mat1", mat1), ("mat2", mat2)):
        if _layout_of(each) is not strided:
            yield f"sampled_addmm: Expected {name} to have strided layout, but got {_layout_of(each).shown}"


def _layout_of(array: Any) -> layout:
    return array.layout if isinstance(array, CompressedArray | SparseArray) else strided


def _dtypes(input: Any, mat1: Any, mat2: Any, result: Any) -> Iterator[str]:
    for names, one, other in (
        ("mat1 and mat2", mat1, mat2),
        ("mat1 and self", mat1, input),
        ("result and self", result, input),
    ):
        if one.dtype != other.dtype:
            both = f"{scalar_name(one)} and {scalar_name(other)}"
            yield f"sampled_addmm: Expected {names} to have the same dtype, but got {both}"


def _shapes(input: Any, mat1: Any, mat2: Any) -> Iterator[str]:
    for name, each in (("mat1", mat1), ("mat2", mat2)):
        if each.ndim < 2:
            yield f"sampled_addmm: Expected {name} to be a matrix, got {each.ndim}-D tensor"
        elif each.shape[:-2] != input.shape[:-2]:
            batches = f"{list(input.shape[:-2])} and {list(each.shape[:-2])}"
            yield f"sampled_addmm: Expected self and {name} to have the same batch size, but got {batches}"
    (rows, inner), (length, columns) = mat1.shape[-2:], mat2.shape[-2:]
    if inner != length:
        yield f"sampled_addmm: mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {length}x{columns})"
    for dim, name, size in ((-2, "mat1", rows), (-1, "mat2", columns)):
        if input.shape[dim] != size:
            yield f"sampled_addmm: self.shape[{dim}] must match {name}.shape[{dim}]"

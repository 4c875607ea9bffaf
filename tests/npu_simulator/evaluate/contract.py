"""What an evaluator gets and owes: arrays that are views of device memory, and the rules of ACLNN for outputs."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import ml_dtypes
import numpy as np

Evaluator = Callable[..., None]

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
BOOL, INT32, INT64, FLOAT32 = (np.dtype(name) for name in ("bool", "int32", "int64", "float32"))
# aclDataType
DTYPES = {
    0: FLOAT32,
    1: np.dtype("float16"),
    2: np.dtype("int8"),
    3: INT32,
    4: np.dtype("uint8"),
    6: np.dtype("int16"),
    7: np.dtype("uint16"),
    8: np.dtype("uint32"),
    9: INT64,
    10: np.dtype("uint64"),
    11: np.dtype("float64"),
    12: BOOL,
    16: np.dtype("complex64"),
    17: np.dtype("complex128"),
    27: BFLOAT16,
}
CODES = {dtype: code for code, dtype in DTYPES.items()}
PARAM_NULLPTR, PARAM_INVALID, FIND_KERNEL, AICORE_EXCEPTION = 161001, 161002, 561003, 507015


class Refused(Exception):
    """What the first phase of an op refuses, with its code."""

    def __init__(self, why: str, code: int = PARAM_INVALID) -> None:
        super().__init__(why)
        self.code = code


def refuse(why: str, code: int = PARAM_INVALID) -> NoReturn:
    """Refuses the call."""
    raise Refused(why, code)


def require(condition: object, why: str) -> None:
    """Refuses the call unless the condition holds."""
    if not condition:
        refuse(why)


def is_younger_chip() -> bool:
    """Whether the simulated chip is an Ascend 950. A2 and A3, and those before, do some things in another way."""
    return os.environ.get("NPU_SIMULATOR_SOC", "Ascend910B1").startswith(("Ascend950", "Ascend910_95"))


# -------------------- dtypes --------------------


def is_floating(dtype: np.dtype) -> bool:
    """Whether values are real numbers with fractions."""
    return dtype.kind == "f" or dtype == BFLOAT16


def is_complex(dtype: np.dtype) -> bool:
    """Whether values are complex."""
    return dtype.kind == "c"


def is_inexact(dtype: np.dtype) -> bool:
    """Whether values are floating or complex."""
    return is_floating(dtype) or is_complex(dtype)


def category(dtype: np.dtype) -> int:
    """0 bool, 1 integer, 2 floating, 3 complex."""
    if dtype == BOOL:
        return 0
    return 3 if is_complex(dtype) else 2 if is_floating(dtype) else 1


def promote(one: np.dtype, other: np.dtype) -> np.dtype:
    """The dtype in which two tensors meet: of the higher category, the larger if they are of one."""
    if one == other:
        return one
    if category(one) != category(other):
        higher, lower = (one, other) if category(one) > category(other) else (other, one)
        wide_real = is_complex(higher) and lower == np.float64
        return np.dtype("complex128") if wide_real else higher
    if BFLOAT16 in (one, other):
        return FLOAT32 if np.float16 in (one, other) else other if one == BFLOAT16 else one
    found = np.promote_types(one, other)
    require(category(found) == category(one), f"{one} and {other} have no common dtype")
    return found


def scalar_dtype(value: complex) -> np.dtype:
    """What an aclScalar counts as: the least of its category."""
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INT64
    return FLOAT32 if isinstance(value, float) else np.dtype("complex64")


def promote_scalar(dtype: np.dtype, value: complex) -> np.dtype:
    """The dtype in which a tensor meets an aclScalar, which matters by its category only."""
    other = scalar_dtype(value)
    if category(other) <= category(dtype):
        return dtype
    return np.dtype("complex128") if is_complex(other) and dtype == np.float64 else other


def as_floating(dtype: np.dtype) -> np.dtype:
    """Of a result that has fractions."""
    return dtype if is_inexact(dtype) else FLOAT32


def castable(source: np.dtype, target: np.dtype) -> bool:
    """Whether a result may be delivered in another dtype: not of a lower category."""
    return category(source) <= category(target)


def wide(array: Any) -> np.ndarray:
    """In the precision that is computed in: double, or exact integers."""
    require(array is not None, "a required tensor is null")
    if is_complex(array.dtype):
        return array.astype(np.complex128)
    if is_floating(array.dtype):
        return array.astype(np.float64)
    return array.astype(np.uint64 if array.dtype == np.uint64 else np.int64)


def real(array: Any) -> np.ndarray:
    """In double precision, complex if it was."""
    values = wide(array)
    return values if is_inexact(values.dtype) else values.astype(np.float64)


# -------------------- outputs --------------------

_current = threading.local()


def expect(
    out: Any, shape: Iterable[int], dtype: np.dtype | None = None, castable_from: np.dtype | None = None
) -> None:
    """Refuses an output that is not what the inputs imply. Nothing is broadcast."""
    if out is None:
        refuse("an output is null", PARAM_NULLPTR)
    require(out.shape == tuple(shape), f"the output has shape {out.shape}, and the inputs imply {tuple(shape)}")
    require(dtype is None or out.dtype == dtype, f"the output has dtype {out.dtype}, and the inputs imply {dtype}")
    if castable_from is not None:
        require(castable(castable_from, out.dtype), f"a result of {castable_from} can't be cast to {out.dtype}")


def store(out: Any, values: Any, dtype: np.dtype | None = None, castable_from: np.dtype | None = None) -> None:
    """Writes a result into the view that was passed for it."""
    values = np.asarray(values)
    expect(out, values.shape, dtype, castable_from)
    note_written(out)
    with np.errstate(all="ignore"):
        out[...] = values != 0 if out.dtype == BOOL else values.astype(out.dtype)


def note_written(out: np.ndarray) -> None:
    """That an output is written, for those who look at the order of uses."""
    written = getattr(_current, "written", None)
    if written is not None:
        written(out)


def store_if(out: Any, values: Callable[[], Any], wanted: bool = True, **checks: Any) -> None:
    """The same for an output that may be null, or that a mask leaves out."""
    if out is not None and wanted:
        store(out, values(), **checks)


def begin(report_shape: Callable[[np.ndarray, tuple[int, ...]], None], written: Callable[[np.ndarray], None]) -> None:
    """Says who is told sizes that depend on the data, and what is written."""
    _current.report_shape = report_shape
    _current.written = written


def store_prefix(out: Any, values: np.ndarray, bound: Sequence[int]) -> None:
    """A result whose size depends on the data: the output must have room for `bound`, and its beginning is written."""
    if out is None:
        refuse("an output is null", PARAM_NULLPTR)
    need = math.prod(bound)
    require(out.size >= need, f"the output has room for {out.size} elements, and there may be {need}")
    contiguous(out)
    note_written(out)
    out.reshape(-1)[: values.size] = values.reshape(-1).astype(out.dtype)
    _current.report_shape(out, values.shape)


# -------------------- inputs --------------------


def same_dtype(*arrays: Any) -> np.dtype:
    """Of an op that does not promote: what is not null must agree."""
    found = {array.dtype for array in arrays if array is not None}
    require(len(found) == 1, f"the dtypes differ: {', '.join(sorted(map(str, found)))}")
    return found.pop()


def contiguous(*arrays: Any) -> None:
    """Of an op that takes no strided views."""
    for array in arrays:
        require(array is None or array.flags.c_contiguous, "a tensor is not contiguous")


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...]:
    """The shape that shapes have together."""
    try:
        return np.broadcast_shapes(*map(tuple, shapes))
    except ValueError:
        refuse(f"shapes {shapes} can't be broadcast")


def axis(dim: int, rank: int) -> int:
    """A dimension counted from the front."""
    rank = max(rank, 1)
    require(-rank <= dim < rank, f"dimension {dim} of {rank}")
    return dim % rank


def axes(dims: Sequence[int] | None, rank: int) -> tuple[int, ...]:
    """Dimensions counted from the front. All must be passed: none reduces nothing but a 0-dim tensor."""
    if dims is None:
        refuse("the dimensions are null", PARAM_NULLPTR)
    found = tuple(axis(dim, rank) for dim in dims)
    require(len(set(found)) == len(found), "a dimension is given twice")
    return found if rank else ()


def pair(values: Sequence[int], count: int = 2) -> tuple[int, ...]:
    """One number per dimension; a single one is for all."""
    values = tuple(values)
    require(len(values) in (1, count), f"{len(values)} numbers for {count} dimensions")
    return values * count if len(values) == 1 else values

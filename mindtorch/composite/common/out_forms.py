"""The `out=` forms of composite ops, made from the functions that compute the results.

Each maker is for one of the things that torch asks of the tensor which a result goes into.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._core.memory_format import contiguous_format
from mindtorch._core.tensor import Tensor
from mindtorch.autograd._engine.outputs import check_castable, write_castable, write_out
from mindtorch.backends.cpu.common.casting import check_same
from mindtorch.dispatch import ops

Function = Callable[..., Any]


def functional(name: str) -> Function:
    """The function of an op, which is there once all modules of ops are."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return getattr(ops, name)(*args, **kwargs)

    return function


def of_op(name: str) -> Function:
    """The form of the op that another op is a second name of."""

    def function(*args: Any, out: Any, **kwargs: Any) -> Any:
        return getattr(ops, name)(*args, **kwargs, out=out)

    return function


def of_same_dtype(compute: Function, text: str | None = None) -> Function:
    """`out` must have the dtype of the result; `text` is what torch says otherwise, where it has words of its own."""

    def function(*args: Any, out: Tensor, **kwargs: Any) -> Tensor:
        result = compute(*args, **kwargs)
        check_dtype(result, out, text)
        return put(out, result)

    return function


def of_input_dtype(compute: Function) -> Function:
    """The same of the first input, whose dtype the result has; looked at before anything is computed."""

    def function(input: Tensor, *args: Any, out: Tensor, **kwargs: Any) -> Tensor:
        check_same(input._mt_array, out._mt_array)
        return put(out, compute(input, *args, **kwargs))

    return function


def of_castable(op: str, compute: Function) -> Function:
    """The result must be of the same category as `out`, or of a lower one."""

    def function(*args: Any, out: Tensor, **kwargs: Any) -> Any:
        return write_castable(op, "result", out, compute(*args, **kwargs))

    return function


def of_same_dtypes(compute: Function) -> Function:
    """As `of_same_dtype`, for ops with several results."""

    def function(*args: Any, out: Any, **kwargs: Any) -> Any:
        results = compute(*args, **kwargs)
        for result, each in zip(results, out, strict=True):
            check_dtype(result, each)
        return write_out(out, results)

    return function


def of_castables(op: str, names: tuple[str, ...], compute: Function) -> Function:
    """As `of_castable`, for ops with several results, which have names."""

    def function(*args: Any, out: Any, **kwargs: Any) -> Any:
        results = compute(*args, **kwargs)
        for name, result, each in zip(names, results, out, strict=True):
            check_castable(op, name, result, each)
        return write_out(out, results)

    return function


def check_dtype(result: Tensor, out: Tensor, text: str | None = None) -> None:
    if out.dtype is result.dtype:
        return
    if text is None:
        check_same(result._mt_array, out._mt_array)
    else:
        raise RuntimeError(text.format(result=result.dtype.storage_name, out=out.dtype.storage_name))


def put(out: Tensor, result: Tensor) -> Tensor:
    """Write a result, row by row if the memory has to be taken anew."""
    if out.shape != result.shape:
        result = result.clone(memory_format=contiguous_format)
    written: Tensor = write_out(out, result)
    return written

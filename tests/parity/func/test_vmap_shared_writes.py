"""Ops in place inside `vmap`, with an argument that lies in the memory that they write: refused, or done for one sample
after the other, as in PyTorch."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import mindtorch

POINTWISE = (
    "add_ sub_ mul_ div_ atan2_ copysign_ clamp_min_ clamp_max_ clamp_ copy_ pow_ fmod_ remainder_ hypot_ xlogy_ "
    "floor_divide_ nextafter_ heaviside_ lt_ ge_ eq_ logical_and_ logical_or_ logical_xor_ true_divide_"
).split()


def _table() -> dict[str, Callable]:
    calls: dict[str, Callable] = {name: _call(name) for name in POINTWISE}
    calls |= {
        f"{name} (indices)": _by_index(name) for name in ("index_copy_", "index_add_", "scatter_", "scatter_add_")
    }
    return calls | {
        "addcmul_": lambda T, x, y: x.addcmul_(y, y),
        "addcdiv_": lambda T, x, y: x.addcdiv_(y, y),
        "lerp_": lambda T, x, y: x.lerp_(y, 0.5),
        "scatter_reduce_": lambda T, x, y: x.scatter_reduce_(0, T.tensor([0, 1, 2]), y, "sum"),
        "index_put_": lambda T, x, y: x.index_put_((T.tensor([0, 1, 2]),), y),
        "put_": lambda T, x, y: x.put_(T.tensor([0, 1]), y[:2]),
        "x[i] = y": lambda T, x, y: x.__setitem__(T.tensor([0, 1, 2]), y),
        "x[:] = y": lambda T, x, y: x.__setitem__(slice(None), y),
    }


def _call(name: str) -> Callable:
    return lambda T, x, y: getattr(x, name)(y)


def _by_index(name: str) -> Callable:
    return lambda T, x, y: getattr(x, name)(0, T.tensor([0, 1, 2]), y)


CALLS = _table()
# Which dimensions count the samples: the same ones, rows beside columns, and y the same for all samples.
IN_DIMS = {"same": (0, 0), "crossed": (0, 1), "columns": (1, 0)}


def written(T: Any, call: Callable, in_dims: tuple) -> Any:
    """What the tensor is in the end, or the error."""
    x = T.arange(1.0, 10.0, dtype=T.float64).reshape(3, 3)

    def f(a: Any, b: Any) -> Any:
        call(T, a, b)
        return a.sum()

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that there is no rule for the op
            T.vmap(f, in_dims=in_dims)(x, x)
    except RuntimeError as error:
        return str(error)
    return x


@pytest.mark.parametrize("dims", IN_DIMS)
@pytest.mark.parametrize("name", CALLS)
def test_what_is_written_is_read(name: str, dims: str) -> None:
    expected, actual = (written(T, CALLS[name], IN_DIMS[dims]) for T in (torch, mindtorch))
    if isinstance(expected, str):
        assert actual == expected
    else:
        assert not isinstance(actual, str), actual
        np.testing.assert_allclose(actual.numpy(), expected.numpy(), rtol=1e-12)

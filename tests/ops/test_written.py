"""Kernels write `out`, what their schemas mark as written, and what `writes` in ops.yaml names: nothing else.

Backends that compute on copies rely on it.
"""

import warnings
from itertools import islice

import numpy as np
import pytest

import mindtorch as torch
from mindtorch.dispatch.registry import all_ops, find_op, kernel_table
from tests.harness import (
    arguments_of,
    dtypes_of,
    function_of,
    inplace_samples,
    outcome,
    sampled_ops,
    samples_of,
    tensors_in,
    variant,
    without_dtype,
)

OPS = [op for op in sampled_ops() if "CPU" in (op.dispatch or {}) and op.view is None]
_MOST_SAMPLES = 3


class Watched:
    """The CPU's kernel of an op, and which of its arguments a call has changed, by number."""

    def __init__(self, op):
        self._table, self.written = kernel_table(op), set()

    def __enter__(self):
        self._kernel = self._table[np.ndarray]  # which fills the table, if the family has not been loaded yet
        self._kept, self._direct = dict(self._table), self._table.direct
        self._table[np.ndarray] = self
        return self

    def __exit__(self, *error):
        self._table.clear()
        dict.update(self._table, self._kept)
        self._table.direct = self._direct

    def direct(self, *args):
        raise KeyError  # ask for the kernel with all its arguments

    def __call__(self, *args, out=None, **kwargs):
        before = [_bytes(value) for value in args]
        result = self._kernel(*args, **({} if out is None else {"out": out}), **kwargs)
        outs = out if isinstance(out, (list, tuple)) else [out]
        for place, (value, kept) in enumerate(zip(args, before)):
            if _bytes(value) != kept and not any(np.shares_memory(value, each) for each in outs if each is not None):
                self.written.add(place)
        return result


def _bytes(value):
    return value.tobytes() if isinstance(value, np.ndarray) else None


def calls(op):
    dtype = "float32" if "float32" in dtypes_of(op) else dtypes_of(op)[0]
    for form in (op, variant(op, "inplace")):
        if form is not None:
            samples = inplace_samples(form, dtype) if form.derived_from else samples_of(form, dtype)
            for sample in islice(samples, _MOST_SAMPLES):
                yield form, *arguments_of(torch, [list(sample.args), sample.kwargs])
    out = variant(op, "out")
    if out is not None and not out.is_copied_out:
        for sample in islice(samples_of(op, dtype), _MOST_SAMPLES):
            yield from _with_out(op, out, *arguments_of(torch, [list(sample.args), sample.kwargs]))


def _with_out(op, form, args, kwargs):
    """The call that writes its results to other tensors."""
    results = tensors_in(torch, outcome(function_of(torch, op), args, kwargs).result)
    names = [argument.name for argument in form.schema.out_arguments]
    if len(results) == len(names):
        outs = dict(zip(names, map(torch.empty_like, results)))
        yield form, args, without_dtype(form, kwargs) | outs


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_only_what_is_listed_is_written(op):
    with Watched(op.name) as watched, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for form, args, kwargs in calls(op):
            outcome(function_of(torch, form), args, kwargs)
    assert watched.written <= set(find_op(op.name).writes)


def test_statistics_of_a_batch_are_listed():
    """PyTorch's schema of native_batch_norm does not tell that it keeps a running mean and variance."""
    x, mean, variance = torch.randn(4, 2), torch.zeros(2), torch.ones(2)
    with Watched("native_batch_norm") as watched:
        torch.native_batch_norm(x, None, None, mean, variance, True, 0.1, 1e-5)
    assert watched.written == set(find_op("native_batch_norm").writes) == {3, 4}


# Calls of the ops that write an argument and have no samples of which that can be seen.
WRITING = {
    "_adamw_step_": (
        *(torch.ones(8) for _ in range(3)),
        torch.full((8,), 3.0),
        torch.tensor(1.0),
        0.1,
        0.9,
        0.99,
        0.0,
        1e-8,
    ),
    "bernoulli_.Tensor": (torch.full((8,), 0.5),),
    "bernoulli_.float": (0.5,),
    "cauchy_": (),
    "copy_": (torch.ones(8),),
    "embedding_renorm_": (torch.arange(8), 1.0, 2.0),
    "exponential_": (),
    "geometric_": (0.5,),
    "log_normal_": (),
    "normal_": (),
    "random_": (),
    "random_.from": (1, 9),
    "random_.to": (9,),
    "uniform_": (),
    "zero_": (),
}


def test_all_ops_that_write_are_called_here():
    assert {entry.name for entry in all_ops() if entry.writes} == {*WRITING, "native_batch_norm"}


@pytest.mark.parametrize("name", WRITING)
def test_what_is_listed_is_written(name):
    entry = find_op(name)
    target = torch.full((8, 3) if name == "embedding_renorm_" else (8,), 7.0)
    with Watched(name) as watched:
        entry.function(target, *WRITING[name])
    assert watched.written == set(entry.writes) >= {0}

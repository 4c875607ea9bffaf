"""Every op inside `vmap` gives what a loop over the samples gives, whichever of its tensors are batched."""

import gc
import warnings
from itertools import islice

import pytest

import mindtorch as torch
from mindtorch._core import state
from mindtorch.composite.common.batching import REFUSED
from mindtorch.func import vmap
from tests.harness import (
    SAMPLES,
    Maker,
    arguments_of,
    describe,
    difference,
    dtypes_of,
    function_of,
    outcome,
    sampled_ops,
    specs_in,
    tensors_in,
)

COUNT = 3  # samples in a batch
DTYPES = ("float32", "int64", "complex64", "bool")
# The number of results depends on the values: vmap refuses, as torch does.
LOOKING_AT_VALUES = {
    *("argwhere", "masked_select", "nonzero", "repeat_interleave.self_Tensor"),
    *("cov", "nanquantile", "quantile"),  # they look at weights and at q
}
# Views that ask how the elements of a sample lie in memory.
OF_MEMORY = {
    *("_reshape_alias", "as_strided", "as_strided_copy", "as_strided_scatter"),
    *("view.dtype", "view_as_complex", "view_as_complex_copy", "view_copy.dtype"),
}


@pytest.fixture(autouse=True)
def levels_end():
    """No table keeps a level: as long as there is one, every call of an op is looked at."""
    before = state.batch_levels
    yield
    if state.batch_levels > before:
        gc.collect()
    assert state.batch_levels <= before


def dtypes_to_test(op):
    """Two, with how many samples to take: what depends on shapes is seen with the first."""
    found = [dtype for dtype in DTYPES if dtype in dtypes_of(op)] or dtypes_of(op)
    return zip(found, (15, 4))


def batches_of(op, dtype, most):
    """Calls that differ in the values of their tensors only, so many at a time."""
    streams = [SAMPLES[op.samples](Maker(f"{op.name}{number}", dtype)) for number in range(COUNT)]
    for samples in islice(zip(*streams, strict=True), most):
        if op.name in OF_MEMORY and any(spec.layout != "plain" for spec in specs_in(samples[0])):
            continue
        calls = [(arguments_of(torch, list(each.args)), arguments_of(torch, each.kwargs)) for each in samples]
        shapes = {tuple((each.shape, each.dtype) for each in tensors_in(torch, list(call))) for call in calls}
        if len(shapes) == 1:
            yield describe(samples[0]), calls


def rebuilt(call, tensors):
    """A call with other tensors in it."""
    rest = iter(tensors)

    def build(value):
        if isinstance(value, torch.Tensor):
            return next(rest)
        if isinstance(value, (list, tuple)):
            return type(value)([build(each) for each in value])
        return {name: build(each) for name, each in value.items()} if isinstance(value, dict) else value

    args, kwargs = call
    return build(args), build(kwargs)


def patterns(op, tensors):
    """Which tensors are batched, and where: all at the front, all at the end, each of them alone."""
    yield [0] * len(tensors)
    if op.name not in OF_MEMORY:
        yield [tensor.ndim for tensor in tensors]
    if len(tensors) > 1:
        for place in range(len(tensors)):
            yield [0 if place == other else None for other in range(len(tensors))]


def flat(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def given(columns, in_dims):
    """What `vmap` gets: the samples stacked, or the first of them where there is no batch."""
    return [column[0] if dim is None else torch.stack(column, dim) for column, dim in zip(columns, in_dims)]


def sample_of(op, batch, dim, number):
    """One sample, as it lies in the batch: some results tell how that is (`LU` of `_linalg_det`)."""
    if dim is None:
        return batch
    sample = batch.select(dim, number)
    return sample.clone() if op.name in OF_MEMORY else sample  # inside vmap, its memory begins at offset 0


def looped(op, call, batches, in_dims):
    """The results of a loop, stacked; the error of the first call that fails."""
    function, results = function_of(torch, op), []
    for number in range(COUNT):
        args, kwargs = rebuilt(call, [sample_of(op, batch, dim, number) for batch, dim in zip(batches, in_dims)])
        found = outcome(function, args, kwargs)
        if found.error is not None:
            return found
        results.append(flat(found.result))
    if not all(isinstance(each, torch.Tensor) for each in results[0]) or len({len(each) for each in results}) > 1:
        return None
    if any(len({each.shape for each in column}) > 1 for column in zip(*results)):
        return None
    return outcome(lambda: [torch.stack(column) for column in zip(*results)], (), {})


def batched(op, call, batches, in_dims):
    function = function_of(torch, op)

    def run(*tensors):
        args, kwargs = rebuilt(call, tensors)
        return flat(function(*args, **kwargs))

    return outcome(vmap(run, in_dims=tuple(in_dims)), batches, {})


def check(op, text, calls):
    columns = list(zip(*[tensors_in(torch, list(call)) for call in calls]))
    for in_dims in patterns(op, [column[0] for column in columns]):
        batches = given(columns, in_dims)
        expected = looped(op, calls[0], batches, in_dims)
        if expected is None:
            continue
        found = batched(op, calls[0], batches, in_dims)
        where = f"{text} in_dims={in_dims}"
        if expected.error is not None:
            assert found.error is not None, f"{where}: no error, expected {expected}"
            continue
        if found.error is not None and "boolean mask" in str(found.error):  # refused, as torch does
            continue
        assert found.error is None, f"{where}: {found}"
        for left, right in zip(found.result, expected.result, strict=True):
            problem = difference(left, right, tolerance=10, strides=False)
            assert problem is None, f"{where}: {problem}"


def vmapped_ops():
    return [
        op
        for op in sampled_ops()
        if op.name not in LOOKING_AT_VALUES
        and op.name not in REFUSED
        and "nondeterministic_seeded" not in op.tags
        and any(argument.type.base == "Tensor" for argument in op.schema.inputs)
        and not op.schema.arguments[0].is_written
    ]


@pytest.mark.parametrize("op", vmapped_ops(), ids=lambda op: op.name)
def test_vmap_is_a_loop(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype, most in dtypes_to_test(op):
            for text, calls in batches_of(op, dtype, most):
                check(op, f"{dtype} {text}", calls)

"""An `out=` tensor of another shape is resized, and stays on its storage: views of it see what is written."""

import warnings

import pytest
import torch

import mindtorch
from tests import harness
from tests.parity.support.peer import torch_ops

SMALL, LARGE = 1, 60  # elements in `out`: fewer than the results have, and more


# Matrices that LAPACK makes, which torch copies to rows when `out` had elements, and keeps in columns otherwise.
LAPACK = {"cholesky_inverse", "geqrf", "linalg_eig", "linalg_householder_product", "orgqr", "ormqr"}
# torch resizes a view of `out`, which keeps a shape that is not that of its values.
LEFT_IN_SHAPE = {"binary_cross_entropy", "binary_cross_entropy_backward"}


def forms():
    """Every op with an `out=` variant."""
    return [(op, form) for op in torch_ops() if (form := harness.variant(op, "out")) is not None]


def first_call(op):
    """The first sample whose results have another shape than `out`, with the dtypes that torch gives them."""
    dtype = next(each for each in ("float32", "int64", "complex64") if each in harness.dtypes_of(op))
    for sample in harness.samples_of(op, dtype):
        given = harness.outcome(harness.function_of(torch, op), *arguments(torch, sample))
        results = harness.tensors_in(torch, given.result)
        if results and all(each.numel() > 1 and each.layout is torch.strided for each in results):
            return sample, [str(each.dtype).removeprefix("torch.") for each in results]
    return None, ()


def arguments(T, sample):
    return harness.arguments_of(T, [list(sample.args), sample.kwargs])


def written(T, form, sample, dtypes, elements):
    """What is to be seen of `out` tensors in the end parts of longer ones, whose first elements are another's."""
    args, kwargs = arguments(T, sample)
    whole = [T.zeros(elements + 2, dtype=getattr(T, dtype)) for dtype in dtypes]
    outs, storages = [each[2:] for each in whole], [each.untyped_storage() for each in whole]
    names = [argument.name for argument in form.schema.out_arguments]
    T.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kwargs = {**harness.without_dtype(form, kwargs), **dict(zip(names, outs, strict=True))}
        given = harness.outcome(harness.function_of(T, form), args, kwargs)
    if given.error is not None:
        return type(given.error).__name__, []
    places = [
        (
            each.storage_offset(),
            tuple(each.stride()),
            each.untyped_storage().nbytes(),
            each.data_ptr() - start.data_ptr(),
        )
        for each, start in zip(outs, whole, strict=True)
    ]
    return (places, [each.nbytes() for each in storages]), whole


@pytest.mark.parametrize("elements", [SMALL, LARGE])
@pytest.mark.parametrize(("op", "form"), forms(), ids=lambda op: op.name)
def test_resized(op, form, elements):
    sample, dtypes = first_call(op)
    if sample is None or len(dtypes) != len(form.schema.out_arguments):
        pytest.skip("no results to write")
    ours, theirs = (written(T, form, sample, dtypes, elements) for T in (mindtorch, torch))
    if op.name not in LAPACK | LEFT_IN_SHAPE:
        assert ours[0] == theirs[0]
    if op.name not in LAPACK:
        assert harness.result_difference(mindtorch, torch, ours[1], theirs[1], tolerance=20) is None


@pytest.mark.parametrize("op", ["add", "abs", "mm", "sum", "cumsum"])
def test_empty_output(op):
    """The storage of an `out` without elements is the one that its views and its holders have had."""

    def run(T):
        out = T.empty(0)
        storage, view = out.untyped_storage(), out.detach()
        args = {"add": (2,), "mm": (T.ones(3, 3),), "sum": (0,), "cumsum": (0,)}.get(op, ())
        getattr(T, op)(T.ones(3, 3), *args, out=out)
        view.resize_(2)
        return storage.nbytes(), storage.data_ptr() == out.data_ptr(), view.tolist()

    assert run(mindtorch) == run(torch)

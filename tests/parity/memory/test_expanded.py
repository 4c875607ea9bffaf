"""Every in-place op refuses, or accepts, to write to an expanded tensor as torch does."""

import warnings

import pytest
import torch

import mindtorch
from tests.harness import arguments_of, dtypes_of, inplace_samples, variant
from tests.parity.support.peer import torch_ops
from tests.parity.support.programs import assert_same

ERRORS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
FORMS = [form for op in torch_ops() if (form := variant(op, "inplace")) is not None]
# What torch computes of an expanded tensor, which it does not refuse here, depends on the order in which it writes;
# and the samples of index_put_ have None among the indices, which torch's method does not take.
NOT_COMPARED = ("tril_", "triu_", "addmv_", "baddbmm_", "index_put_")


def method_of(form):
    return form.name.split(".")[0]


def is_tested(form):
    """Whether both libraries have the method, and its result can be compared."""
    name = method_of(form)
    return hasattr(torch.Tensor, name) and hasattr(mindtorch.Tensor, name) and name not in NOT_COMPARED


def written(T, form, sample):
    """What is left of the call: the elements, or type and first line of the error."""
    first, *args = [arguments_of(T, value) for value in sample.args]
    kwargs = {name: arguments_of(T, value) for name, value in sample.kwargs.items()}
    expanded = first.clone()[:1].expand(first.shape)
    try:
        return getattr(expanded, method_of(form))(*args, **kwargs).tolist()
    except ERRORS as error:
        return type(error).__name__, str(error).splitlines()[0]


def can_be_expanded(sample):
    shape = getattr(getattr(sample.args[0], "data", None), "shape", ())
    return len(shape) > 0 and shape[0] > 1


@pytest.mark.parametrize("form", list(filter(is_tested, FORMS)), ids=lambda form: form.name)
def test_writing_to_an_expanded_tensor(form):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in sorted({"float32", "int64"} & set(dtypes_of(form))):
            for sample in filter(can_be_expanded, inplace_samples(form, dtype)):
                ours, theirs = (written(T, form, sample) for T in (mindtorch, torch))
                assert str(ours) == str(theirs)


def test_the_text():
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor refers to a single memory"):
        mindtorch.zeros(1).expand(3).add_(1)


@pytest.mark.parametrize("limits", [(1 + 2j, 2), (1, 2 + 1j), (None, 1j)])
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_limits_that_are_refused(limits, dtype):
    """Floats are not looked at before the memory is."""
    for shape in ((1,), (3,)):
        texts = []
        for T in (mindtorch, torch):
            with pytest.raises((RuntimeError, NotImplementedError)) as error:
                T.zeros(1, dtype=getattr(T, dtype)).expand(shape).clamp_(*limits)
            texts.append(str(error.value))
        assert texts[0] == texts[1]


# -------------------- another tensor on the same memory --------------------

LAYOUTS = {
    "rows": lambda T: T.arange(12.0).reshape(3, 4),
    "turned": lambda T: T.arange(12.0).reshape(4, 3).t(),
    "expanded": lambda T: T.arange(4.0).expand(3, 4),
    "columns": lambda T: T.arange(3.0)[:, None].expand(3, 4),
    "gaps": lambda T: T.arange(24.0).reshape(3, 8)[:, ::2],
    "empty": lambda T: T.zeros(0, 4),
}
SEEN_AGAIN = {
    "data": lambda T, x: x.data,
    "detach": lambda T, x: x.detach(),
    "parameter": lambda T, x: T.nn.Parameter(x, requires_grad=False),
    "view": lambda T, x: x[:],
    "itself": lambda T, x: x,
}
WRITES = {
    "index": lambda T, out, x: out.__setitem__(T.arange(len(x)), x),
    "slice": lambda T, out, x: out.__setitem__(slice(None), x),
    "add_": lambda T, out, x: out.add_(x),
    "index_copy_": lambda T, out, x: out.index_copy_(0, T.arange(len(x)), x),
    "scatter_": lambda T, out, x: out.scatter_(0, T.zeros(x.shape, dtype=T.int64), x),
    "gather": lambda T, out, x: T.gather(x, 0, T.zeros(x.shape, dtype=T.int64), out=out),
    "index_select": lambda T, out, x: T.index_select(x, 0, T.arange(len(x)), out=out),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("again", SEEN_AGAIN)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_writing_a_tensor_to_another_on_its_memory(layout, again, write):
    """Of two tensors it is seen in dense memory only that they share it; one and the same is always refused."""

    def run(T):
        x = LAYOUTS[layout](T)
        WRITES[write](T, SEEN_AGAIN[again](T, x), x)
        return x

    assert_same(run)

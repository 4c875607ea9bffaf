"""`vmap`: levels and what is left of them, in-place ops, ops without a rule, and the programs of docs/vmap.md."""

import gc
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core import state
from mindtorch._core.batched_array import BatchedArray, BatchedShape, Level
from mindtorch.func import vmap
from tests.harness import arguments_of, difference, function_of, inplace_samples, outcome, sampled_ops, variant

PAGE = Path(__file__).resolve().parents[3] / "docs" / "vmap.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_the_programs_of_the_page(capsys):
    names = {}
    for program in PROGRAMS:
        exec(compile(program, PAGE.name, "exec"), names)
        said = re.findall(r"^# (.*)$|\)  # (.*)$", program, re.MULTILINE)
        assert capsys.readouterr().out.splitlines() == ["".join(each) for each in said]


# -------------------- levels --------------------


@pytest.mark.usefixtures("settled")
def test_nothing_is_watched_after_the_call():
    before = state.active_modes
    vmap(lambda x: x * 2 + x.sum())(torch.ones(2, 3))
    gc.collect()
    assert (state.active_modes, state.batch_levels) == (before, 0)


RESULTS = {
    "new": vmap(lambda v: v * 2),
    "part of new": vmap(lambda v: (v * 2)[0]),
    "new and part": vmap(lambda v: ((t := v.exp()), t[:1])),
    "several parts": vmap(lambda v: v.exp().unbind(0)),
    "itself": vmap(lambda v: v),
    "part": vmap(lambda v: v[0]),
    "written": vmap(lambda v: v.mul_(2)),
    "moved": vmap(lambda v: v[None].exp().T, 1, 1),
    "nested": vmap(vmap(lambda v: (v * 2, v), 0, 0)),
    "tangents": lambda x: torch.func.jvp(vmap(lambda v: (v.exp(), v.exp()[0])), (x,), (x,)),
    "gradients": vmap(torch.func.grad(lambda v: (v * v).sum())),
    "hessian": torch.func.hessian(lambda x: (x * x).sum()),
}


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize("name", RESULTS)
def test_results_do_not_keep_the_level(name):
    kept = RESULTS[name](torch.ones(2, 3))
    gc.collect()
    assert state.batch_levels == 0
    del kept


@pytest.mark.usefixtures("settled")
def test_a_level_ends_when_an_error_is_raised():
    with pytest.raises(ZeroDivisionError):
        vmap(lambda x: 1 / 0)(torch.ones(2))
    gc.collect()
    assert state.thread.vmap_levels == () and state.batch_levels == 0


@pytest.mark.usefixtures("settled")
def test_a_graph_keeps_the_levels_that_it_needs():
    x = torch.ones(2, 3, requires_grad=True)
    y = vmap(lambda v: v + 1)(x)
    gc.collect()
    assert state.batch_levels == 1
    y.sum().backward()
    del y
    gc.collect()
    assert state.batch_levels == 0 and torch.equal(x.grad, torch.ones(2, 3))


def test_a_shape_knows_its_levels():
    level = Level(1, 2, "error")
    plain = np.ones((2, 3))
    batched = BatchedArray(plain, 0, level)
    assert tuple(batched.shape) == (3,) and batched.shape.levels == (level,)
    assert batched.shape != (3,) and (3,) != batched.shape
    assert batched.shape == BatchedArray(plain + 1, 0, level).shape
    assert isinstance(batched.shape, BatchedShape) and hash(batched.shape) == hash((3,))


def test_nested_levels_are_numbered_outwards():
    seen = []

    def look(sample):
        seen.append((sample._mt_array.level.depth, sample._mt_array.inner.level.depth))
        return sample * 1

    vmap(vmap(look))(torch.ones(2, 3, 4))
    assert seen == [(2, 1)]


# -------------------- mixed with others --------------------

MIXED = {
    "a tensor first": lambda v: torch.ones(3) - v,
    "a number first": lambda v: 2 - v,
    "in a list": lambda v: torch.stack([torch.ones(3), v, torch.zeros(3)]),
    "in the condition only": lambda v: torch.where(v > 1, torch.ones(3), torch.zeros(3)),
    "an index only": lambda v: torch.arange(6)[v.long()],
    "keyword arguments": lambda v: torch.addcmul(torch.ones(3), torch.ones(3), v, value=2),
}


@pytest.mark.parametrize("function", MIXED.values(), ids=MIXED)
def test_the_first_tensor_need_not_be_batched(function):
    rows = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(vmap(function)(rows), torch.stack([function(row) for row in rows]))


def test_gradients_of_a_first_tensor_that_is_not_batched():
    weight = torch.ones(3, requires_grad=True)
    vmap(lambda v: (weight / v).sum())(torch.full((4, 3), 2.0)).sum().backward()
    assert weight.grad.tolist() == [2.0, 2.0, 2.0]


def test_the_version_of_a_tensor_that_is_not_batched_is_watched():
    weight = torch.ones(3, requires_grad=True)
    factor = torch.ones(3)
    loss = vmap(lambda v: factor * v * weight)(torch.ones(2, 3)).sum()
    factor.add_(1)
    loss.backward()  # `factor` was not saved: it has no gradient
    base = weight * 1
    loss = vmap(lambda v: (base * v).exp())(torch.ones(2, 3, requires_grad=True)).sum()
    base.detach().add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


# -------------------- in place --------------------


def inplace_ops():
    forms = [variant(op, "inplace") for op in sampled_ops() if "nondeterministic_seeded" not in op.tags]
    return [form for form in forms if form is not None and form.schema.returns and form.name != "detach_"]


def test_samples_are_not_detached_in_place():
    """They are views of the batch, as in torch."""
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        vmap(lambda x: x.detach_())(torch.ones(2))


@pytest.mark.parametrize("form", inplace_ops(), ids=lambda form: form.name)
def test_in_place(form):
    """An in-place op writes to all samples what it would write to each of them."""
    function = function_of(torch, form)
    for sample in list(inplace_samples(form, "float32" if form.dtypes != "integral" else "int64"))[:6]:
        first, *rest = arguments_of(torch, list(sample.args))
        kwargs = arguments_of(torch, sample.kwargs)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = outcome(function, [first.clone(), *rest], kwargs)
            batch = torch.stack([first, first])
            found = outcome(vmap(lambda x, rest=rest, kwargs=kwargs: function(x, *rest, **kwargs)), [batch], {})
        if expected.error is not None or tuple(expected.result.shape) != tuple(first.shape):
            continue
        assert found.error is None, found
        for result in (found.result, batch):
            assert difference(result[1], expected.result, strides=False) is None


def test_samples_are_not_written_into_what_all_of_them_share():
    shared = torch.zeros(3)
    with pytest.raises(RuntimeError, match="inplace arithmetic"):
        vmap(lambda v: shared.mul_(v))(torch.ones(2, 3))
    assert shared.tolist() == [0.0, 0.0, 0.0]


# -------------------- ops without a rule --------------------


def test_an_op_of_another_package_runs_for_one_sample_after_the_other():
    @torch.library.custom_op("vmap_tests::largest", mutates_args=())
    def largest(x: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(np.asarray(x.numpy().max()))

    assert vmap(largest)(torch.arange(6.0).reshape(2, 3)).tolist() == [2.0, 5.0]


# -------------------- transforms of transforms --------------------


def test_derivatives_of_each_sample_by_a_loop():
    def function(weight, x):
        return (torch.tanh(weight @ x) * x.sum()).sum()

    weight, batch = torch.randn(2, 3), torch.randn(4, 3)
    for transform in (torch.func.grad, torch.func.jacrev, torch.func.jacfwd, torch.func.hessian):
        derivative = transform(function)
        looped = torch.stack([derivative(weight, x) for x in batch])
        torch.testing.assert_close(vmap(derivative, (None, 0))(weight, batch), looped)


def test_derivatives_through_vmap_are_those_through_a_loop():
    def mapped(weight):
        return vmap(lambda x: torch.tanh(weight @ x).sum() * x[0])(batch).sum()

    def looped(weight):
        return sum(torch.tanh(weight @ x).sum() * x[0] for x in batch)

    weight, batch = torch.randn(2, 3), torch.randn(4, 3)
    for transform in (torch.func.grad, torch.func.jacrev, torch.func.jacfwd, torch.func.hessian):
        torch.testing.assert_close(transform(mapped)(weight), transform(looped)(weight))


def test_gradcheck_through_vmap():
    x = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(3, dtype=torch.float64, requires_grad=True)

    def function(x, weight):
        return vmap(lambda v: (v * weight).cumsum(0).exp() * v.sum())(x)

    assert torch.autograd.gradcheck(function, (x, weight), check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, (x, weight))

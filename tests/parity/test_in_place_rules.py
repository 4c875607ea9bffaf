"""What in-place writes do to the graph, for every way of writing: on leaves, non-leaves, views, inference tensors."""

import pytest

from tests.parity.programs import assert_same, sample

WRITES = {
    **{f"{name}_(1)": (lambda t, T, name=name: getattr(t, f"{name}_")(1)) for name in "eq ne lt le gt ge".split()},
    **{f"{name}_(b)": (lambda t, T, name=name: getattr(t, f"{name}_")(t * 2)) for name in "eq ne lt le gt ge".split()},
    "copy_(2)": lambda t, T: t.copy_(2),
    "copy_(True)": lambda t, T: t.copy_(True),
    "t[:] = t * 2": lambda t, T: t.__setitem__(slice(None), t.clone()),
    "t[mask] = number of another dtype": lambda t, T: t.__setitem__(t > 0, T.tensor([[3]])),
    "t[:, mask] = number of another dtype": lambda t, T: t.__setitem__(
        (slice(None), T.tensor([True, False])), T.tensor(3)
    ),
    "t[index] = t": lambda t, T: t.__setitem__(T.tensor([0, 1, 2]), t),
    "t[0, 0] = tensor": lambda t, T: t.__setitem__((0, 0), T.tensor(2.0)),
    "t[:] = complex": lambda t, T: t.__setitem__(slice(None), 1 + 2j),
    "set_": lambda t, T: t.detach() if not t.is_leaf else t.set_(t.detach()),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("kind", ["plain", "leaf", "non-leaf", "view of a leaf", "view", "multi-view"])
def test_write(write, kind):
    def run(T):
        x = sample(T, 3, 2, requires_grad=kind != "plain")
        y = x * 2 if kind in ("non-leaf", "view", "multi-view") else x
        target = {"view": lambda: y[:], "view of a leaf": lambda: y[:], "multi-view": lambda: y.split(3)[0]}
        t = target.get(kind, lambda: y)()
        WRITES[write](t, T)
        if y.requires_grad:
            y.sum().backward()
        return y, t, x.grad, y._version

    assert_same(run)


INFERENCE = {
    "recorded outside": lambda t, T: (t + 1).requires_grad,
    "detach": lambda t, T: t.detach().is_inference(),
    "data": lambda t, T: t.data.is_inference(),
    "view": lambda t, T: t[0].is_inference(),
    "write": lambda t, T: t.add_(1),
}


@pytest.mark.parametrize("use", INFERENCE)
@pytest.mark.parametrize("requires_grad", [False, True])
def test_inference_tensor(use, requires_grad):
    def run(T):
        with T.inference_mode():
            t = sample(T, 3, 2, requires_grad=False) * 1
            t.requires_grad_(requires_grad)
        return INFERENCE[use](t, T) if use != "write" or not requires_grad else None

    assert_same(run)


def test_nothing_is_recorded_in_inference_mode():
    def run(T):
        x = sample(T, 3)
        with T.inference_mode(), T.enable_grad():
            y = x * 2
            return y.requires_grad, x.detach().is_inference(), y.is_inference()

    assert_same(run)


@pytest.mark.parametrize("value", [True, False])
def test_requires_grad_of_a_non_leaf(value):
    def run(T):
        y = sample(T, 3) * 2
        y.requires_grad = value

    assert_same(run)


def test_second_backward_through_saved_indices():
    def run(T):
        y = sample(T, 3)[[0, 1]].sum()
        y.backward()
        y.backward()

    assert_same(run)


def test_as_strided_of_an_expanded_complex_tensor():
    def run(T):
        x = sample(T, 1, 2, dtype=T.complex64)
        x.expand(3, 2).detach().requires_grad_().as_strided((3,), (0,)).abs().sum().backward()
        leaf = x.detach().expand(3, 2).requires_grad_()
        leaf.as_strided((3,), (0,)).abs().sum().backward()
        return leaf.grad

    assert_same(run)


def test_atan2_at_the_origin():
    def run(T):
        x = T.zeros(2, requires_grad=True)
        T.atan2(x, x).sum().backward()
        return x.grad

    assert_same(run)

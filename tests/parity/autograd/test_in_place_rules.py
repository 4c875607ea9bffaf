"""What in-place writes do to the graph, for every way of writing: on leaves, non-leaves, views, inference tensors."""

import pytest

from tests.parity.support.programs import assert_same, sample

WRITES = {
    **{f"{name}_(1)": (lambda t, T, name=name: getattr(t, f"{name}_")(1)) for name in "eq ne lt le gt ge".split()},
    **{f"{name}_(b)": (lambda t, T, name=name: getattr(t, f"{name}_")(t * 2)) for name in "eq ne lt le gt ge".split()},
    **{
        f"{name}_(b)": (lambda t, T, name=name: getattr(t, f"{name}_")(t > 0)) for name in ("logical_and", "logical_or")
    },
    "logical_not_": lambda t, T: t.logical_not_(),
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


def _row(T):
    return T.tensor([[1.0, 2.0, 3.0]])


SHARED_WRITES = {
    "index_add_": lambda t, T: t.index_add_(0, T.tensor([0]), _row(T)),
    "index_copy_": lambda t, T: t.index_copy_(0, T.tensor([0]), _row(T)),
    "scatter_ of a tensor": lambda t, T: t.scatter_(0, T.tensor([[0]]), _row(T)),
    "scatter_ of a number": lambda t, T: t.scatter_(0, T.tensor([[0]]), 1),
    "scatter_add_": lambda t, T: t.scatter_add_(0, T.tensor([[0]]), _row(T)),
    "cumsum_": lambda t, T: t.cumsum_(0),
    "random_": lambda t, T: t.random_(),
    "random_ below": lambda t, T: t.random_(5),
    "normal_": lambda t, T: t.normal_(),
    "uniform_": lambda t, T: t.uniform_(),
    "bernoulli_": lambda t, T: t.bernoulli_(),
    "exponential_": lambda t, T: t.exponential_(),
    "fill_ with a number": lambda t, T: t.fill_(3),
    "fill_ with a tensor": lambda t, T: t.fill_(T.tensor(3)),
    "t[..., :3] = number": lambda t, T: t.__setitem__((..., slice(None, 3)), 3.0),
    "t[mask] = number": lambda t, T: t.__setitem__(T.tensor([[True, False, True], [False, True, True]]), 3),
    "t[indices] = tensor": lambda t, T: t.__setitem__(T.tensor([0]), _row(T)),
    "masked_fill_": lambda t, T: t.masked_fill_(T.tensor([True, False, True]), 3),
    "masked_scatter_": lambda t, T: t.masked_scatter_(T.tensor([True, False, True]), T.arange(9.0)),
    "copy_ of the same view": lambda t, T: t.copy_(t[:]),
    "t[:][:] = t": lambda t, T: t[:].__setitem__(slice(None), t),
    "copy_": lambda t, T: t.copy_(t.clone()),
    "addmm_": lambda t, T: t.addmm_(T.ones(2, 2), T.ones(2, 3)),
    "cumsum into": lambda t, T: T.cumsum(T.ones(2, 3), 0, out=t),
    "cat into": lambda t, T: T.cat([_row(T), _row(T)], out=t),
    "gather into": lambda t, T: T.gather(T.ones(2, 3), 0, T.tensor([[0, 1, 0], [0, 0, 0]]), out=t),
    "index_select into": lambda t, T: T.index_select(T.ones(2, 3), 0, T.tensor([0, 1]), out=t),
    "mm into": lambda t, T: T.mm(T.ones(2, 3), T.ones(3, 3), out=t),
}


@pytest.mark.parametrize("write", SHARED_WRITES)
def test_write_to_an_expanded_tensor(write):
    def run(T):
        t = T.zeros(1, 3).expand(2, 3)
        SHARED_WRITES[write](t, T)
        return t

    assert_same(run)


WRITES_FROM_THEMSELVES = {
    "scatter_": lambda t, T: t.scatter_(0, T.tensor([0]), t[1:]),
    "scatter_ by itself": lambda t, T: t.scatter_(0, t, 1),
    "index_add_": lambda t, T: t.index_add_(0, T.tensor([0]), t[1:]),
    "masked_scatter_": lambda t, T: t.masked_scatter_(t > 0, t),
    "gather": lambda t, T: T.gather(t, 0, T.tensor([1, 0]), out=t),
    "index_select": lambda t, T: T.index_select(t, 0, T.tensor([1, 0]), out=t),
    "cat": lambda t, T: T.cat([t[1:], t[:1]], out=t),
}


@pytest.mark.parametrize("write", WRITES_FROM_THEMSELVES)
def test_write_of_what_is_read(write):
    def run(T):
        return WRITES_FROM_THEMSELVES[write](T.tensor([0, 1]), T)

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


@pytest.mark.parametrize("values", [[0.0, 0.0, 3.0], [0.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
def test_prod_with_zeros_below_a_division(values):
    def run(T):
        x = T.tensor(values, requires_grad=True)
        (2 / x.prod()).backward()
        return x.grad

    assert_same(run)


def test_name_of_the_node_of_a_copy():
    def run(T):
        y = T.zeros(3).copy_(T.ones(3, requires_grad=True))
        return y.grad_fn.name(), type(y.grad_fn).__name__

    assert_same(run)

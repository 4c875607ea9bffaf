"""`make_fx` where it is not what it is in PyTorch."""

import pytest

import mindtorch as torch
from mindtorch._decomp import core_aten_decompositions, decomposition_table, get_decompositions
from mindtorch.fx.experimental.proxy_tensor import get_proxy_mode, make_fx


def test_constants_are_fresh_in_each_run():
    def f(x):
        total = torch.tensor([0.0])
        total.add_(x)
        return total

    traced = make_fx(f)(torch.ones(1))
    assert [traced(torch.tensor([3.0])).item() for _ in range(2)] == [3, 3]


def test_what_autograd_saves_is_known():
    def f(x):
        (gradient,) = torch.autograd.grad(torch.tanh(torch.sigmoid(x)).sum(), x)
        return gradient

    x = torch.randn(3, requires_grad=True)
    traced = make_fx(f)(x)
    assert not list(traced.buffers())
    y = torch.randn(3, requires_grad=True)
    assert torch.equal(traced(y), f(y))


def test_training_steps():
    net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.LayerNorm(8), torch.nn.GELU(), torch.nn.Linear(8, 1))
    names, values = zip(*net.named_parameters())

    def step(*given):
        *parameters, x = given
        loss = torch.func.functional_call(net, dict(zip(names, parameters)), (x,)).square().mean()
        return loss, *torch.autograd.grad(loss, parameters)

    traced = make_fx(step)(*values, torch.randn(5, 4))
    assert not list(traced.parameters()) and not list(traced.buffers())
    x = torch.randn(5, 4)
    for found, expected in zip(traced(*values, x), step(*values, x)):
        assert torch.equal(found, expected)


def test_symbolic_sizes_are_refused():
    with pytest.raises(NotImplementedError, match="symbolic sizes"):
        make_fx(torch.relu, tracing_mode="symbolic")
    with pytest.raises(NotImplementedError, match="pre_dispatch"):
        make_fx(torch.relu, pre_dispatch=True)


def test_there_is_a_mode_while_it_traces():
    seen = []

    def f(x):
        seen.append(get_proxy_mode())
        return x + 1

    make_fx(f)(torch.ones(1))
    assert seen[0] is not None and get_proxy_mode() is None


def test_nothing_is_computed_on_fake_tensors():
    huge = torch.empty(1, device="meta").expand(10**6, 10**6)
    traced = make_fx(lambda x: (x @ x).relu(), tracing_mode="fake")(huge)
    assert [node.meta["val"].shape for node in traced.graph.nodes if node.op == "call_function"] == [(10**6, 10**6)] * 2


# Inputs of the ops that are taken apart.
def _inputs(name):
    x, y = torch.randn(4, 5), torch.randn(4, 5)
    return {
        "addmm.default": (torch.randn(3), x, torch.randn(5, 3)),
        "native_layer_norm.default": (x, [5], torch.randn(5), torch.randn(5), 1e-5),
        "_softmax.default": (x, 1, False),
        "_log_softmax.default": (x, 1, False),
        "_softmax_backward_data.default": (x, y.softmax(1), 1, torch.float32),
        "_log_softmax_backward_data.default": (x, y.log_softmax(1), 1, torch.float32),
        "threshold_backward.default": (x, y, 0.5),
        "leaky_relu.default": (x, 0.1),
        "tanh_backward.default": (x, y.tanh()),
        "sigmoid_backward.default": (x, y.sigmoid()),
        "mse_loss.default": (x, y),
        "addcmul.default": (x, y, y),
        "addcdiv.default": (x, y, y.abs() + 1),
        "t.default": (x,),
        "lerp.Scalar": (x, y, 0.3),
    }.get(name, (x,))


@pytest.mark.parametrize("overload", [*decomposition_table], ids=str)
def test_decompositions_compute_the_same(overload):
    args = _inputs(overload.__name__)
    found, expected = decomposition_table[overload](*args), overload(*args)
    found, expected = ((each if isinstance(each, tuple) else (each,)) for each in (found, expected))
    for one, other in zip(found, expected):
        torch.testing.assert_close(one, other)


def test_decompositions_are_traced():
    aten = torch.ops.aten
    table = get_decompositions([aten.addmm, aten.silu.default])
    assert set(table) == {aten.addmm.default, aten.silu.default}
    traced = make_fx(lambda x: torch.nn.functional.silu(x), decomposition_table=table)(torch.ones(2))
    targets = [node.target for node in traced.graph.nodes if node.op == "call_function"]
    assert aten.silu.default not in targets and aten.mul.Tensor in targets
    assert set(core_aten_decompositions()) <= set(decomposition_table)

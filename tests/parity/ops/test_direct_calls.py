"""Ops that are called directly, with operands as a layer never gives them: results and refusals as in torch."""

import pytest

import mindtorch
from tests.harness import Outcome, error_difference, result_difference

torch = pytest.importorskip("torch")

CROSS_ENTROPY = [
    f"A.binary_cross_entropy{form}"
    for shapes in (
        ((3, 1), (3,), None),
        ((3, 1), (3,), (3,)),
        ((3, 1), (3,), (1, 1)),
        ((2, 3), (2, 1), (3,)),
        ((2, 3), (6,), None),
        ((2, 1, 3), (2, 3), (2, 1, 1)),
        ((2, 3), (2, 3), (4,)),
        ((2, 3), (2, 3), (2, 1)),
    )
    for input, target, weight in [[each and f"p{each}" for each in shapes]]
    for reduction in (0, 1, 2)
    for form in (
        f"({input}, {target}, {weight}, {reduction})",
        f"_backward(L.tensor(2.0), {input}, {target}, {weight}, {reduction})",
        f"_backward({input}, {input}, {target}, {weight}, {reduction})",
    )
] + [
    f"A.binary_cross_entropy{form}p(3), p(3), (4 * p(3)).to(L.{dtype}))"
    for dtype in ("int64", "bool", "float64", "complex64")
    for form in ("(", "_backward(p(3), ")
]
EDGES = "L.tensor([0.0, 1.0, 0.5, 0.3]), L.tensor([0.2, 0.3, 0.4, 1.0])"
CROSS_ENTROPY_GRADIENTS = [
    f"{call}(lambda x, y: F.binary_cross_entropy(x, y, {weight}, reduction={reduction!r}), ({EDGES}), {tangents})"
    for weight in ("None", "L.tensor([1, 2, 0, 3])")
    for reduction in ("none", "sum", "mean")
    for call, tangents in (
        ("L.func.jvp", f"({EDGES})"),
        ("L.func.jvp", "(L.ones(4), L.zeros(4))"),
        ("vjp", "None"),
        ("second", "None"),
    )
] + [
    f"vjp(lambda o: A.binary_cross_entropy_backward(o, p(4,), p(4,), None, {reduction}), ({given},), None)"
    for reduction in (0, 1, 2)
    for given in ("L.ones(4)", "L.ones(1)", "L.ones(())")
]
LIKELIHOOD = [
    f"{call}(lambda o, w: A.nll_loss{form}, (L.tensor({given}), L.tensor({total})), (L.tensor(2.0), L.tensor(3.0)))"
    for reduction, given in ((0, "[1.0, 1.0]"), (1, "1.0"), (2, "1.0"))
    for total in ("2.0", "[5.0]", "[5.0, 6.0]", "5")
    for ignored in (-100, 1)
    for call in ("L.func.jvp", "plain")
    for form in (f"_backward(o, p(2, 3), L.tensor([1, 2]), None, {reduction}, {ignored}, w)",)
    if call == "plain" or total == "2.0" and reduction
]
STEPS = [
    f"{name}(p({count}, 3), L.tensor({sizes}), {state}, ({weights}) * {directions}, True, 1, 0.0, False, {both})"
    for count, sizes, rows in (
        (4, [1, 1, 1], 2),
        (4, [1, 2, 1], 2),
        (4, [3, 1], 2),
        (4, [2, 1, 1], 3),
        (6, [1, 2, 3], 3),
        (6, [3, 1, 2], 3),
        (6, [3, 2, 1], 3),
        (4, [2, 2], 1),
    )
    for directions, both in ((1, False), (2, True))
    for name, gates in (("L.rnn_tanh", 1), ("L.rnn_relu", 1), ("L.gru", 3))  # an LSTM writes where it may not
    for state in [f"p({directions}, {rows}, 4)"]
    for weights in [f"p({4 * gates}, 3), p({4 * gates}, 4), p({4 * gates}), p({4 * gates})"]
] + [
    f"L.{name}(p(3, 2, 3), p(1, {rows}, 4), {weights}, True, 1, 0.0, False, {two}, {first})"
    for name, gates in (("rnn_tanh", 1), ("rnn_relu", 1), ("gru", 3))
    for weights in [f"(p({4 * gates}, 3), p({4 * gates}, 4), p({4 * gates}), p({4 * gates}))"]
    for rows in (1, 2, 3)
    for two, first in ((False, True), (False, False), (True, False))
]
OPERANDS = {
    "1.0": "p()",
    "True": "True",
    "2": "2",
    "a bool": "L.tensor(True)",
    "bools": "L.tensor([True, False])",
    "floats": "p(2)",
    "doubles": "p(2).double()",
}
SAMPLES = [
    f"L.vmap(lambda s: {call})({samples})"
    for samples in ("p(3)", "p(3, 2)", "p(3) > 1", "p(3, 2) > 1")
    for other in OPERANDS.values()
    for call in (
        f"s - {other}",
        f"{other} - s",
        f"L.sub(s, {other}, alpha=2)",
        f"L.clone(s).sub_({other})",
        f"s * {other}",
    )
    if "sub_" not in call or "2)" not in call and "[" not in call  # torch shows the sizes of all samples there
] + [
    f"L.vmap(lambda s, t: {call})({first}, {second})"
    for first in ("p(3)", "p(3, 2)", "p(3) > 1", "p(3, 2) > 1")
    for second in ("p(3)", "p(3, 2)", "p(3) > 1", "p(3, 2) > 1")
    for call in ("s - t", "L.rsub(s, t)", "L.where(s > 1, s, t)")
]
OTHERS = (
    [f"L.polygamma({n}, p(5) ** {power})" for n in (2, 3, 20, 33, 34, 35, 100) for power in (1, 3, -1)]
    + [
        f"L.{name}({values}, {dim} out=L.zeros({shape}, dtype=L.{dtype}))"
        for name in ("any", "all")
        for dtype in ("uint8", "bool")
        for dim, shape in (("", "()"), ("1,", "2"), ("(0,),", "3"), ("(),", "(2, 3)"))
        for values in (
            "6 * p(2, 3)",
            "L.tensor([[256, 1, 0], [512, 3, -1]])",
            "L.tensor([[0.5, 2, 1], [-0.5, 3, 0.1]])",
        )
    ]
    + [
        f"L.convolution(p(1, 2, 5, 5), p(2, {2 // groups}, 3, 3), None, [1], [0], [{step}], False, [{extra}], {groups})"
        for groups in (1, 2)
        for step in (1, 2)
        for extra in (1, 3)
    ]
    + [
        f"L.{name}(p(2, 3), dx={dx})"
        for name in ("trapezoid", "cumulative_trapezoid")
        for dx in ("True", "2j", "2", "L.tensor(True)")
    ]
    + [
        "L._fft_r2c(p(2, 3), [0, 1, 0, 1, 0], 0, True)",
        "L.vmap(lambda s: L.where(s, L.ones(2), 2.5))(p(3) > 1)",
    ]
)


def _vjp(L):
    def run(function, inputs, _):
        inputs = [each.detach().requires_grad_() for each in inputs]
        result = function(*inputs)
        return L.autograd.grad(result, inputs, L.ones_like(result))

    return run


def _second(L):
    def run(function, inputs, _):
        inputs = [each.detach().requires_grad_() for each in inputs]
        result = function(*inputs)
        first = L.autograd.grad(result, inputs, L.ones_like(result), create_graph=True)
        weights = L.arange(1.0, 5.0)
        return [L.autograd.grad(each, inputs, weights, allow_unused=True, retain_graph=True) for each in first]

    return run


def _outcome(call: str, L) -> Outcome:
    def p(*shape):
        shape = shape[0] if shape and isinstance(shape[0], tuple) else shape
        count = int(L.ones(shape).numel())
        return (L.arange(1.0, count + 1) / (count + 1)).reshape(shape)

    names = {"L": L, "F": L.nn.functional, "A": L.ops.aten, "p": p, "vjp": _vjp(L), "second": _second(L)}
    names["plain"] = lambda function, inputs, _: function(*inputs)
    try:
        return Outcome(eval(call, names))
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        return Outcome(error=error)


GROUPS = {
    "cross entropy": CROSS_ENTROPY,
    "its gradients": CROSS_ENTROPY_GRADIENTS,
    "likelihood": LIKELIHOOD,
    "steps": STEPS,
    "samples": SAMPLES,
    "others": OTHERS,
}


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.filterwarnings("ignore")
def test_calls(group):
    found = []
    for call in GROUPS[group]:
        own, peer = _outcome(call, mindtorch), _outcome(call, torch)
        if own.error or peer.error:
            text = error_difference(own.error, peer.error)
        else:
            text = result_difference(mindtorch, torch, own.result, peer.result)
        if text:
            found.append(f"{call}: {text}")
    assert found == []

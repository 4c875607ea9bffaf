"""Calls with arguments that are missing, too many, unknown, given twice or of another type: refused where PyTorch is.

`misbound_calls` makes them of everything that is public. What PyTorch refuses must not be taken here. A text may
differ: a Python function refuses unknown and surplus arguments before its first line runs, in Python's words, and room
for them would cost every call a few percent.
"""

import warnings

import numpy as np
import pytest
import torch

import mindtorch
from tests.daily import some
from tests.parity.errors.misbound_calls import Call, calls, functions, names

_LOSSES = "PyTorch's function is written in Python, and looks at what numbers have not"
_OUT = "`out=None` is nothing here, also where an overload has no `out`"

# Calls that PyTorch refuses, and this library takes: the function, what is given last, and why.
TAKEN = {
    **{(f"torch.{name}", "out=None"): _OUT for name in ("argsort", "median", "nanmedian", "prod", "sum", "where")},
    **{(f"torch.bitwise_{name}", "out=None"): _OUT for name in ("and", "or", "xor", "left_shift", "right_shift")},
    **{
        (f"torch.special.{name}", f"out={value}"): "the op's own function has an `out`"
        for name in ("softmax", "log_softmax")
        for value in ("None", "x")
    },
    **{("torch.normal", f"{name}=None"): "an option of None is nothing" for name in ("dtype", "layout", "device")},
    **{
        ("torch.range", f"{name}=None"): "PyTorch parses its options by hand"
        for name in ("layout", "pin_memory", "requires_grad")
    },
    **{(f"{place}.histogram", "range=array"): "an array of floats is a list of them" for place in ("torch", "x")},
    **{
        (f"x.{method}", f"{name}={value}"): "a method that is written by hand takes the truth of a value"
        for method, name in (("numpy", "force"), ("type", "non_blocking"))
        for value in ("None", "'a'", "1.5", "3", "0", "[x]", "[1.5]", "obj", "1j", "torch.float32")
    },
    **{("x.type", f"non_blocking={value}"): "the truth of a value is not asked for" for value in ("x", "array")},
    **{(f"x.{method}", "dim=True"): "a bool is an int" for method in ("size", "stride")},
    ("x.new_tensor", "dtype=0"): "0 is as good as no dtype",
    ("x.nonzero", "out=None"): _OUT,
    ("torch.histogramdd", "x"): "a tensor of edges is the list of its rows",
    **{("torch.nn.functional.gumbel_softmax", f"eps={value}"): "eps is not used" for value in ("x", "array")},
    **{
        ("torch.nn.functional.huber_loss", f"weight={value}"): _LOSSES
        for value in ("1.5", "3", "0", "True", "1j", "array")
    },
}
# PyTorch resizes an `out` that is the input, too, and reads what is left of it, or what lies behind.
RESIZED = {
    *("torch.frobenius_norm", "torch.kron", "torch.linalg.det", "torch.linalg.eigvalsh", "torch.linalg.matrix_rank"),
    "torch.linalg.svdvals",
}
FUNCTIONS = list(functions())


def error_of(T, call: Call) -> Exception | None:
    try:
        eval(call.text, names(T))
    except Exception as error:  # noqa: BLE001  (whatever is raised is compared)
        return error
    return None


def last_of(call: Call) -> str:
    return call.text.removesuffix(")").rpartition("(" if "," not in call.text else ",")[2].strip()


def taken(function: str) -> list[str]:
    """The calls that PyTorch refuses and this library takes."""
    found = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for call in calls(function):
            is_known = (function, last_of(call)) in TAKEN or (function in RESIZED and last_of(call) == "out=x")
            if not is_known and error_of(mindtorch, call) is None:
                expected = error_of(torch, call)
                found += [f"{call.text}: {type(expected).__name__}: {expected}"] if expected else []
    return found


def test_there_are_functions():
    assert len(FUNCTIONS) > 1000


@pytest.mark.parametrize("function", some(FUNCTIONS, 40))
def test_what_pytorch_refuses_is_refused(function):
    assert taken(function) == []


@pytest.mark.parametrize("function, last", some(sorted(TAKEN), 6))
def test_what_is_taken_is_known(function, last):
    found = [call for call in calls(function) if last_of(call) == last and error_of(mindtorch, call) is None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert any(error_of(torch, call) is not None for call in found), "the entry agrees with PyTorch"


# -------------------- texts --------------------

OVERLOADS = """
    torch.sum() ; torch.max() ; torch.linspace(0, 1) ; torch.eye() ; torch.arange() ; torch.zeros()
    torch.linalg.norm() ;     torch.where() ; torch.div(x) ; torch.any() ; torch.median() ; torch.quantile(x)
    x.add() ; x.mul() ; x.view() ; x.reshape() ; x.permute() ; x.expand() ; x.transpose(0) ; x.matmul() ; x.gather(0)
    x.index_select(0) ; x.masked_fill(x > 0) ; x.unsqueeze() ; x.softmax() ; x.scatter(0) ; x.lerp(x) ; x.addmm(x)
    x.fill_() ; x.add_() ; x.pow() ; x.topk() ; x.select(0) ; x.narrow(0, 0) ; x.bmm() ; x.dot() ; x.eq()
    torch.Tensor.exp() ; torch.Tensor.sum() ; x.repeat() ; x.flip() ; x.tile() ; x.new_zeros() ; x.new_full()
    torch.sort(x, out=(x,)) ; torch.linalg.eigh(x, out=()) ; torch.aminmax(x, out=[x]) ; torch.max(x, 0, out=(x, x, x))
    torch.zeros(2, requires_grad=0) ; torch.full((1,), 1, requires_grad="a") ; torch.zeros_like(x, requires_grad=1.5)
    torch.arange(3, requires_grad=1) ; x.new_zeros(2, requires_grad=0)
    torch.zeros(2, requires_grad=1, out=x.clone())
    torch.tensor(1, pin_memory=0) ; torch.asarray(x, copy=1) ; torch.asarray(x, requires_grad=1)
    torch.isclose(x, x, 1e-5, 1e-8, 1) ; torch.allclose(x, 3) ; torch.nonzero(x, as_tuple=1) ; torch.unique(x, 1)
    torch.unique(x, True, 3, dim=0) ; torch.unique_consecutive(x, 3) ; torch.can_cast(3, torch.int) ;
    torch.promote_types(torch.int, x) ; torch.promote_types(float, torch.int) ; torch.can_cast(float, int)
    torch.pairwise_distance(3, x) ; torch.nn.functional.soft_margin_loss(x, 1j) ; torch.cosine_similarity(x, x, None)
    torch.hamming_window(3, alpha=0.5) ; torch.kaiser_window(3, beta=2.0) ; torch.hsplit(x, sections=1, indices=[1])
    torch.max(x, dim=0, other=x) ; torch.normal(x, requires_grad=0) ; x.scatter(0, xi, src=x, value=1.0)
    torch.use_deterministic_algorithms(3) ; torch.use_deterministic_algorithms(False, warn_only=3) ; x.put(xi, x)
    torch.nn.functional.mse_loss(x, x, reduction=[1]) ; torch.from_file("a", 3) ; torch.from_file("a", True, 1.5)
""".replace("\n", " ; ").split(" ; ")


def shown(T, text: str) -> str:
    try:
        return str(eval(text, names(T)))
    except (RuntimeError, TypeError, ValueError) as error:
        return f"{type(error).__name__}: {error}".replace("mindtorch.", "torch.")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [each.strip(" ;") for each in OVERLOADS if each.strip(" ;")])
def test_texts(text):
    assert shown(mindtorch, text) == shown(torch, text)


@pytest.mark.xfail(strict=True, reason="one overload here, or ints that have become a tuple, and several in PyTorch")
@pytest.mark.parametrize(
    "text",
    [
        "torch.subtract(x)",
        "x.copy_()",
        "torch.rand(2, requires_grad=1)",
        "torch.eye(2, requires_grad='a', out=x.clone())",
    ],
)
def test_texts_of_overloads(text):
    assert shown(mindtorch, text) == shown(torch, text)


@pytest.mark.xfail(strict=True, reason="Python refuses these before a line of the function runs, in its own words")
@pytest.mark.parametrize("text", ["torch.add(x, y=1)", "x.sum(foo=1)", "x.transpose(0, 1, 2)", "torch.relu()"])
def test_texts_of_python(text):
    assert shown(mindtorch, text) == shown(torch, text)

"""The calls that PyTorch has deprecated: which ones still work, what they give, and its warning."""

import subprocess
import sys
import warnings

import pytest
import torch

import mindtorch

BINARY = [
    f"{function}({values})"
    for function in ("T.add", "T.sub")
    for values in ("x, 2, y", "x, 2.5, 3", "2.5, 3, y", "x, two, y")
]
METHODS = [f"x.{method}(2, y)" for method in ("add", "sub", "add_", "sub_")]
POINTWISE = [
    f"{place}{name}({first}2, y, z)" for name in ("addcmul", "addcdiv") for place, first in (("T.", "x, "), ("x.", ""))
]
IN_PLACE = ["x.addcmul_(2, y, z)", "x.addcdiv_(0.5, y, z)", "x.addmm_(2, 3, y, z)", "x.addmm_(2, y, z)"]
PRODUCTS = ["T.addmm(2, x, 3, y, z)", "T.addmm(two, x, y, z)", "x.addmm(2, 3, y, z)", "x.addmm(0.5, y, z)"]
BATCHED = ["T.baddbmm(2, b, 3, b, b)", "T.baddbmm(2, b, b, b)", "b.baddbmm(2, b, b)", "b.clone().baddbmm_(2, 3, b, b)"]
OUT = ["T.add(x, 2, y, out=T.empty(0))", "T.addcmul(x, 2, y, z, out=T.empty(0))", "T.addmm(2, x, y, z, out=T.empty(0))"]
WORKING = BINARY + METHODS + POINTWISE + IN_PLACE + PRODUCTS + BATCHED + OUT

REFUSED = [
    "T.add(x, y, 2)",
    "T.add(x, 2, y, 3)",
    "x.add(y, 2)",
    "x.add_(y, 2)",
    "T.sub(x, y, z)",
    "T.add(x, 'two', y)",
    "T.rsub(x, 2, y)",
    "x.addmm(2, 3, y)",
    "T.addcmul(x, y, z, 2)",
    "T.add(x, True, y)",
    "x.addcmul_(two, z, x, x)",
    "x.sub(True, 2, y)",
]

# torch lists more overloads in the text than mindtorch has.
REFUSED_IN_OTHER_WORDS = ["x.add(2, y, 3)", "T.addmm(x, y, z, 2, 3)", "T.addmm(x, y, z, 2)"]


def tensors(T):
    values = {
        name: T.tensor(rows)
        for name, rows in zip("xyz", ([[1.0, -2.0], [0.5, 4.0]], [[3.0, 1.0], [-1.0, 2.0]], [[2.0, 5.0], [4.0, -3.0]]))
    }
    return values | {"T": T, "two": T.tensor(2), "b": T.stack([values["x"], values["y"]])}


def outcome(T, call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(call, tensors(T)).tolist()
        except (TypeError, RuntimeError) as error:
            return type(error), str(error).partition(", but expected one of")[0]


@pytest.mark.parametrize("call", WORKING)
def test_old_calls_work(call):
    ours, theirs = outcome(mindtorch, call), outcome(torch, call)
    assert isinstance(theirs, list)
    assert ours == pytest.approx(theirs) if not isinstance(theirs[0], list) else ours == theirs


@pytest.mark.parametrize("call", REFUSED)
def test_other_calls_do_not(call):
    ours, theirs = outcome(mindtorch, call), outcome(torch, call)
    assert isinstance(theirs, tuple)
    assert ours == theirs


@pytest.mark.parametrize("call", REFUSED_IN_OTHER_WORDS)
def test_calls_with_another_text(call):
    assert outcome(mindtorch, call)[0] is outcome(torch, call)[0] is TypeError


# torch warns once in a process: each call gets one of its own.
PROGRAM = """
import os, sys, warnings
import torch
x, y, z, two = torch.eye(2), torch.eye(2), torch.eye(2), torch.tensor(2)
b = torch.stack([x, y])
T = torch
for call in sys.argv[1:]:
    sys.stdout.flush()
    process = os.fork()
    if process:
        os.waitpid(process, 0)
        continue
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        eval(call)
    print(repr([(warning.category.__name__, str(warning.message)) for warning in found]))
    sys.stdout.flush()
    os._exit(0)
"""


@pytest.fixture(scope="module")
def torch_warnings():
    done = subprocess.run([sys.executable, "-c", PROGRAM, *WORKING], text=True, capture_output=True, check=True)
    return dict(zip(WORKING, map(eval, done.stdout.splitlines()), strict=True))


def comparable(text):
    """torch's text without where it was made, and without the overloads that mindtorch has not."""
    lines = text.partition(" (Triggered internally")[0].splitlines()
    return [line for line in lines if "out_dtype" not in line]


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
@pytest.mark.parametrize("call", WORKING)
def test_warning(call, torch_warnings):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        eval(compile(call, f"<{call}>", "eval"), tensors(mindtorch))
    ours = [(warning.category.__name__, comparable(str(warning.message))) for warning in found]
    assert ours == [(category, comparable(text)) for category, text in torch_warnings[call]]

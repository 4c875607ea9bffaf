"""Calls that stop working are those of the op: what is written by hand under its name has defaults of its own."""

import pytest

from codegen.diff.compare import compare
from codegen.diff.state import state_of
from codegen.load import load
from tests.codegen.diff_project import DERIVATIVES, EXP, OPS, TODAY
from tests.codegen.project import write_project

FUNCTIONAL = "mindtorch/nn/functional.py"
TOP = "mindtorch/__init__.py"
TENSOR = "mindtorch/_core/tensor.py"


def project(root, ops, derivatives, file, source):
    write_project(root, ops, derivatives)
    (root / file).parent.mkdir(parents=True, exist_ok=True)
    (root / file).write_text(source)
    return load(root)


def callers(root, op, edit, file, source):
    """What the diff says of the callers of an op, when its entries are edited."""
    edited = [text.replace(*edit) for text in (OPS, DERIVATIVES)]
    base = project(root / "old", OPS, DERIVATIVES, file, source)
    head = project(root / "new", *edited, file, source)
    report = compare(state_of("old", base), state_of("new", head), TODAY)
    return [finding.caller for change in report.changes if change.op == op for finding in change.findings]


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("def dropout(input): return ops.dropout(input, 0.5, True, 1)", "torch.ops.aten.dropout"),
        ("from mindtorch.nn.dropouts import dropout as dropout", "torch.ops.aten.dropout"),
        ("dropout = memoized(ops.dropout)", "torch.ops.aten.dropout"),
        ("def relu(input): ...", "torch.ops.aten.dropout"),
        ("dropout = ops.dropout", "torch.nn.functional.dropout"),
        ("from mindtorch._generated.ops.nn import dropout", "torch.nn.functional.dropout"),
    ],
)
def test_a_function_of_nn(source, place, tmp_path):
    found = callers(tmp_path, "dropout", ("float scale=1)", "float scale=2)"), FUNCTIONAL, source)
    assert found == [f"`{place}(input)` now means `scale=2`"]


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("def cat(tensors, dim=0): ...", "torch.ops.aten.cat"),
        ("from mindtorch._generated.functions import *", "torch.cat"),
        ("from mindtorch._generated.functions import cat", "torch.cat"),
        ("from mindtorch.joining import cat", "torch.ops.aten.cat"),
    ],
)
def test_a_function_of_the_package(source, place, tmp_path):
    found = callers(tmp_path, "cat", ("tensors, int dim=0)", "tensors, int dim)"), TOP, source)
    assert found == [f"`{place}([x, y])` stops working"]


@pytest.mark.parametrize(
    ("members", "call"), [("def sum(self): ...", "torch.sum(x, 0)"), ("def other(self): ...", "x.sum(0)")]
)
def test_a_method_written_by_hand(members, call, tmp_path):
    source = f"class Tensor:\n    shape = None\n    {members}\n"
    found = callers(tmp_path, "sum.dim", ("bool keepdim=False, *,", "bool keepdim, *,"), TENSOR, source)
    assert found == [f"`{call}` stops working"]


@pytest.mark.parametrize(("members", "findings"), [("def exp(self): ...", 0), ("def other(self): ...", 1)])
def test_a_method_that_goes_on_by_hand(members, findings, tmp_path):
    without = EXP.replace("  variants: function, method\n", "")
    source = f"class Tensor:\n    shape = None\n    {members}\n"
    assert len(callers(tmp_path, "exp", (EXP, without), TENSOR, source)) == findings

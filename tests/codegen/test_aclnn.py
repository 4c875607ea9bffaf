"""The ACLNN call of an entry: its form, and the names in it."""

import pytest

from tests.codegen.project import diagnostics, write_project

ENTRY = """
- func: {}
  family: pointwise
  dispatch: {{CPU: f, NPU: f}}
  aclnn: {}
"""
ADD = "add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
SUM = "sum(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"
TOPK = "topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)"
BACKWARD = "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, bool is_result, Tensor self) -> Tensor"


def found_in(root, schema, call):
    return diagnostics(write_project(root, ENTRY.format(schema, call), "[]"))


@pytest.mark.parametrize(
    ("schema", "call"),
    [
        (ADD, "aclnnAdd(self, other, alpha, out)"),
        (ADD, "aclnnAdds(self, other, out)"),
        (ADD, "aclnnInplaceAdd(selfRef, other, alpha)"),
        (SUM, "aclnnReduceSum(self, dims, keepDims, dtype, out)"),
        (TOPK, "aclnnTopk(self, k, dim, largest, sorted, valuesOut, indicesOut)"),
        (BACKWARD, "aclnnEluBackward(gradOutput, alpha, scale, inputScale, isResult, selfOrResult, gradInput)"),
        (BACKWARD, "aclnnEluBackward(gradOut, alpha, scale, isResult, cubeMathType, gradInput)"),
    ],
)
def test_names_of_cann(schema, call, tmp_path):
    assert found_in(tmp_path, schema, call) == ()


@pytest.mark.parametrize(
    ("schema", "call", "column", "message", "hint"),
    [
        (ADD, "aclnnAdd(slef, other, alpha, out)", 19, "'slef' is no argument or output of add", "'self'"),
        (ADD, "aclnnAdd(self, othr, alpha, out)", 25, "'othr' is no argument or output of add", "'other'"),
        (ADD, "aclnnAdd(self, other, alhpa, out)", 32, "'alhpa' is no argument or output of add", "'alpha'"),
        (
            SUM,
            "aclnnReduceSum(self, dims, keepDmis, out)",
            37,
            "'keepDmis' is no argument or output of sum",
            "'keepdim'",
        ),
        (
            TOPK,
            "aclnnTopk(self, k, dim, valuesOut, indcesOut)",
            45,
            "'indcesOut' is no argument or output of topk",
            "'indices'",
        ),
        (
            ADD,
            "aclnnAdd(self, banana, out)",
            25,
            "'banana' is no argument or output of add",
            "it has self, other, alpha, out",
        ),
        (ADD, "aclnnAdd(weight, other, out)", 19, "'weight' is no argument or output of add", "CANN_NAMES"),
        (ADD, "aclnnAdd(self, self, alpha)", 25, "'self' is given twice in the ACLNN call", "remove one"),
        (ADD, "aclnnAdd", 10, "'aclnnAdd' is no call of an ACLNN function", "write aclnnAdd(self, other, alpha, out)"),
        (ADD, "Add(self, out)", 10, "'Add(self, out)' is no call of an ACLNN function", "write aclnnAdd("),
        (ADD, "aclnnAdd(self,other)", 10, "'aclnnAdd(self,other)' is no call of an ACLNN function", "write aclnnAdd("),
        (ADD, "aclnnAdd(self, out", 10, "'aclnnAdd(self, out' is no call of an ACLNN function", "write aclnnAdd("),
    ],
)
def test_mistakes(schema, call, column, message, hint, tmp_path):
    (found,) = found_in(tmp_path, schema, call)
    assert (found.code, found.message, found.location.line, found.location.column) == ("E043", message, 4, column)
    assert hint in found.hint


def test_another_package_may_call_what_is_not_listed_here(tmp_path):
    root = write_project(tmp_path, ENTRY.format(ADD, "aclnnAdd(self, banana, out)"), "[]")
    (root / "pyproject.toml").write_text(
        '[tool.mindtorch-codegen]\npackage = "fruit"\nbackends = {CPU = "src/fruit/cpu", NPU = "src/fruit/npu"}\n'
    )
    assert diagnostics(root) == ()

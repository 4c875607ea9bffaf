# ruff: noqa: E501 (schemas are as long as PyTorch writes them)
"""Ops that are an expression of other ops: what is wrong with one, and the functions that follow from it."""

import pytest

from tests.codegen.emitted import definition, emit_project
from tests.codegen.project import OPS, Case, check_case, clean, load_project, write_project

OPS = f"{clean(OPS)}\n- func: max(Tensor self) -> Tensor\n  family: reduction\n  dispatch: {{CPU: max}}\n"
TENSOR = {
    "mindtorch___core__tensor": (
        "class Tensor:\n    shape = dtype = ndim = None\n    def pow_(self, exponent): ...\n    def to(self, dtype): ...\n"
    ),
    "mindtorch__composite__pointwise": "def square(input): ...\ndef double_out(input, other, out): ...\n",
    "mindtorch__composite__helpers": "def number_beside(number, tensor):\n    return tensor\n",
}
_PLACE = (
    "here are grad, self; besides there are ops, Python builtins, dtypes, layouts, memory formats and helpers: "
    "define one in "
)


def _cube(expression):
    return f"""
        - func: cube(Tensor self, Tensor? grad=None) -> Tensor
          family: pointwise
          decomposition: {expression}
    """


CASES = (
    Case(
        "not Python",
        _cube("mul(self,"),
        "ops.yaml:3:21: error[E060] the decomposition is not a Python expression: '(' was never closed",
        "check operators, commas and brackets; a formula with ': ' or ' #' in it needs quotes",
    ),
    Case(
        "empty",
        _cube('""'),
        "ops.yaml:3:18: error[E014] 'decomposition' must be a Python expression",
        "it is the op in other ops, an expression over its arguments, instead of a composite function",
    ),
    Case(
        "unknown name",
        _cube("mul(self, sefl)"),
        "ops.yaml:3:28: error[E061] unknown name 'sefl'",
        "did you mean 'self'?",
    ),
    Case(
        "unknown name without a guess",
        _cube("mul(self, zzz)"),
        "ops.yaml:3:28: error[E061] unknown name 'zzz'",
        _PLACE + "mindtorch/composite/helpers.py",
    ),
    Case(
        "unknown function",
        _cube("mull(self, self)"),
        "ops.yaml:3:18: error[E061] unknown function 'mull'",
        "did you mean 'mul'? otherwise define it in mindtorch/composite/helpers.py",
    ),
    Case(
        "misspelt dtype",
        _cube("mul(self, self).to(flaot64)"),
        "ops.yaml:3:37: error[E061] unknown name 'flaot64'",
        "did you mean 'float64'?",
    ),
    Case(
        "a module",
        _cube("mul(self, self).to(torch.float64)"),
        "ops.yaml:3:37: error[E061] unknown name 'torch': a formula has no modules",
        "write float64",
    ),
    Case(
        "arguments of an op",
        _cube("mul(self)"),
        "ops.yaml:3:18: error[E062] wrong arguments for mul(): 1 positional",
        "it is mul(input, other) or mul(input, other, *, out)",
    ),
    Case(
        "arguments of a helper",
        _cube("number_beside(2)"),
        "ops.yaml:3:18: error[E062] wrong arguments for number_beside(): 1 positional",
        "it is number_beside(number, tensor)",
    ),
    Case(
        "a method that changes an argument",
        _cube("self.pow_(3)"),
        "ops.yaml:3:23: error[E076] 'pow_' changes a tensor: a decomposition computes new ones",
        "compute with tensors and their methods alone",
    ),
    Case(
        "a private attribute",
        _cube("mul(self, self._mt_array)"),
        "ops.yaml:3:33: error[E061] '_mt_array' is private",
        "write a function of the tensor instead: formulas are made of ops",
    ),
    Case(
        "an output",
        _cube("mul(self, result)"),
        "ops.yaml:3:28: error[E066] 'result' has no meaning in a decomposition",
        "it is the op itself: use its arguments, other ops and helpers",
    ),
    Case(
        "which gradients are wanted",
        _cube("mul(self, needs_input_grad.self)"),
        "ops.yaml:3:28: error[E066] 'needs_input_grad' has no meaning in a decomposition",
        "it is the op itself: use its arguments, other ops and helpers",
    ),
    Case(
        "gradients",
        _cube("mul(self, grads[0])"),
        "ops.yaml:3:28: error[E066] 'grads' has no meaning in a decomposition",
        "it is the op itself: use its arguments, other ops and helpers",
    ),
    Case(
        "a tangent",
        _cube("mul(self, self_t)"),
        "ops.yaml:3:28: error[E066] 'self_t' has no meaning in a decomposition",
        "only forward formulas have primals and tangents",
    ),
    Case(
        "a word of formulas",
        _cube("not_implemented"),
        "ops.yaml:3:18: error[E065] 'not_implemented' is no decomposition",
        "a decomposition is an expression",
    ),
    Case(
        "a comprehension",
        _cube("cat([each for each in (self, self)])"),
        "ops.yaml:3:22: error[E069] a decomposition cannot use a comprehension",
        "write a helper in mindtorch/composite/helpers.py",
    ),
    Case(
        "a lambda",
        _cube("'mul(self, (lambda: self)())'"),
        "ops.yaml:3:30: error[E069] a decomposition cannot use a lambda",
        "write a helper in mindtorch/composite/helpers.py",
    ),
    Case(
        "itself",
        _cube("mul(self, cube(self))"),
        "ops.yaml:3:18: error[E074] the decomposition of cube calls cube, which it is",
        "write it in other ops",
    ),
    Case(
        "beside kernels",
        """
        - func: cube(Tensor self) -> Tensor
          family: pointwise
          dispatch: {CPU: cube}
          decomposition: mul(self, self)
        """,
        "ops.yaml:4:3: error[E031] cube has both 'dispatch' and 'decomposition'",
        "an op made of other ops has no kernels: keep one of the two",
    ),
    Case(
        "with the key of a kernel",
        """
        - func: cube(Tensor self) -> Tensor
          family: pointwise
          shape: same
          decomposition: mul(self, self)
        """,
        "ops.yaml:3:3: error[E040] 'shape' is about a kernel, and cube is composite",
        "remove 'shape'",
    ),
    Case(
        "beside a function that has no form of it",
        """
        - func: cube(Tensor self) -> Tensor
          family: pointwise
          autogen: out
          composite: cube
          decomposition: mul(self, self)
        """,
        "ops.yaml:4:14: error[E036] no form 'cube_' or 'cube_out' of cube is written by hand",
        "remove 'composite': the decomposition is the op",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_errors(case, tmp_path):
    write_project(tmp_path, f"{clean(case.text)}\n{OPS}", **TENSOR)
    check_case(case, tmp_path)


@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("mul(self, self.shape[0])", {"mul", "self", "self.shape"}),
        ("mul(self, grad)", {"mul", "self", "grad"}),
        ("cat([self, self]).to(bool)", {"cat", "self", "constants.bool"}),
        ("mul(self, bool(self))", {"mul", "self", "bool"}),
        ("max_dim(self, 0)[0] if self.dtype is float64 else self", {"max_dim", "self", "constants.float64"}),
    ],
)
def test_names(expression, names, tmp_path):
    model = load_project(tmp_path, f"{clean(_cube(expression))}\n{OPS}", **TENSOR)
    assert model.ops["cube"].decomposition.names == names


@pytest.mark.parametrize(
    ("keys", "name", "text"),
    [
        ("decomposition: mul(self, other)", "twice", "return ops.mul(input, other)"),
        ("decomposition: self * other.shape[0] + self.ndim", "twice", "return input * other._mt_array.shape[0] + input._mt_array.ndim"),
        ("decomposition: max_dim(self, 0)[0]", "twice", "return ops.max_dim(input, 0)[0]"),
        ("decomposition: number_beside(2, self) if bool(other) else self.to(bool)", "twice", "return number_beside(2, input) if bool(other) else input.to(boolean)"),
        ("autogen: inplace, out\n  decomposition: mul(self, other)", "twice_", "return input.mul_(other)"),
        ("autogen: inplace, out\n  decomposition: mul(self, other)", "out of twice", "return ops.mul(input, other, out=out)"),
        ("autogen: inplace, out\n  decomposition: self.mul(other)", "twice_", "return input.mul_(other)"),
        ("autogen: inplace, out\n  decomposition: self.mul(other)", "out of twice", "return ops.mul(input, other, out=out)"),
        ("autogen: inplace\n  decomposition: mul(other, self)", "twice_", "return write_back(input, ops.mul(other, input))"),
        ("autogen: out\n  decomposition: mul(self, other)[0]", "out of twice", "return write_out(out, ops.mul(input, other)[0])"),
        ("autogen: out\n  decomposition: cat([self, other])", "out of twice", "return write_out(out, ops.cat([input, other]))"),
        ("autogen: out\n  composite: double\n  decomposition: mul(self, other)", "out of twice", "return composite.double_out(input, other, out=out)"),
    ],
)  # fmt: skip
def test_functions(keys, name, text, tmp_path):
    op = f"\n- func: twice(Tensor self, Tensor other) -> Tensor\n  family: pointwise\n  {keys}\n"
    files = emit_project(tmp_path, OPS + op, **TENSOR)
    source = definition(files, "generated/ops/pointwise.py", name.removeprefix("out of "))
    returns = [line.strip() for line in source.splitlines() if line.strip().startswith("return ")]
    assert returns[-2 if name.startswith("out of ") else -1] == text


def test_a_node_of_its_own_runs_the_expression(tmp_path):
    op = "\n- func: twice(Tensor self, float by) -> Tensor\n  family: pointwise\n  decomposition: mul(self, by)\n"
    derivative = "- name: twice(Tensor self, float by) -> Tensor\n  self: grad * by\n"
    files = emit_project(tmp_path, OPS + op, derivative, **TENSOR)
    text = definition(files, "generated/ops/pointwise.py", "twice")
    assert "return recorded(node, lambda input, by: ops.mul(input, by), input, by)" in text
    assert text.count("return ops.mul(input, by)") == 1

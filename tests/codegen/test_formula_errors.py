"""Formulas that are no Python, or use names that are not there."""

import pytest

from tests.codegen.project import OPS, Case, check_case, diagnostics, write_project

TENSOR = {
    "mindtorch___core__tensor": "class Tensor:\n    shape = dtype = None\n",
    "mindtorch___functions__creation": (
        "@extend_tensor\nclass Methods:\n    def new_zeros(self, size, *, dtype=None): ...\n    conj = new_zeros\n"
    ),
}
CASES = (
    Case(
        "not Python",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad *
          other: grad
        """,
        "derivatives.yaml:2:14: error[E060] the formula is not a Python expression: invalid syntax",
        "check operators, commas and brackets; a formula with ': ' or ' #' in it needs quotes",
    ),
    Case(
        "statement",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: x = grad
          other: grad
        """,
        "derivatives.yaml:2:11: error[E060] the formula is not a Python expression: invalid syntax",
        "check operators, commas and brackets; a formula with ': ' or ' #' in it needs quotes",
    ),
    Case(
        "unclosed bracket",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: multiply(grad, 2
          other: grad
        """,
        "derivatives.yaml:2:17: error[E060] the formula is not a Python expression: '(' was never closed",
        "check operators, commas and brackets; a formula with ': ' or ' #' in it needs quotes",
    ),
    Case(
        "unknown name",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: gradd * other
          other: grad
        """,
        "derivatives.yaml:2:9: error[E061] unknown name 'gradd'",
        "did you mean 'grad'?",
    ),
    Case(
        "Python name of an argument",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * other
          other: grad * input
        """,
        "derivatives.yaml:3:17: error[E061] unknown name 'input'",
        "in formulas the argument is called 'self'",
    ),
    Case(
        "tangent under the Python name of an argument",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * other
          other: grad * self
          result: input_t * other_p + self_p * other_t
        """,
        "derivatives.yaml:4:11: error[E061] unknown name 'input_t'",
        "in formulas the argument is called 'self', so write 'self_t'",
    ),
    Case(
        "another name of the output",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * output
          other: grad
        """,
        "derivatives.yaml:2:16: error[E061] unknown name 'output'",
        "in formulas the output is called 'result'",
    ),
    Case(
        "another name of several outputs",
        """
        - name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          self: grad * out
        """,
        "derivatives.yaml:2:16: error[E061] unknown name 'out'",
        "in formulas the output is called 'values' or 'indices'",
    ),
    Case(
        "another name of the gradient",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad_output * other
          other: grad
        """,
        "derivatives.yaml:2:9: error[E061] unknown name 'grad_output'",
        "in formulas the gradient is called 'grad'",
    ),
    Case(
        "another name of the gradient of a list",
        """
        - name: unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]
          self: gradient
        """,
        "derivatives.yaml:2:9: error[E061] unknown name 'gradient'",
        "in formulas the gradient is called 'grads'",
    ),
    Case(
        "shape of a number",
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: grad * factor.shape[0]
          weight: grad
        """,
        "derivatives.yaml:2:23: error[E061] 'factor' is int and no tensor: it has no attribute 'shape'",
        "write 'factor' alone, or a helper that takes it",
        TENSOR,
    ),
    Case(
        "attribute of a number that is nowhere",
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: grad * factor.shpe
          weight: grad
        """,
        "derivatives.yaml:2:23: error[E061] 'factor' is int and no tensor: it has no attribute 'shpe'",
        "write 'factor' alone, or a helper that takes it",
        TENSOR,
    ),
    Case(
        "method of tensors called on a number",
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: grad * factor.conj()
          weight: grad
        """,
        "derivatives.yaml:2:23: error[E061] 'factor' is int and no tensor: it has no attribute 'conj'",
        "did you mean 'conjugate'?",
        TENSOR,
    ),
    Case(
        "misspelt attribute of a number",
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: grad * factor.conjugat()
          weight: grad
        """,
        "derivatives.yaml:2:23: error[E061] 'factor' is int and no tensor: it has no attribute 'conjugat'",
        "did you mean 'conjugate'?",
        TENSOR,
    ),
    Case(
        "name of the library",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * torch.square(other)
          other: grad
        """,
        "derivatives.yaml:2:16: error[E061] unknown name 'torch': a formula has no modules",
        "write square(...)",
    ),
    Case(
        "function that the library does not have",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * torch.linalg.vector_norm(other, 2, True)
          other: grad
        """,
        "derivatives.yaml:2:16: error[E061] unknown name 'torch': a formula has no modules",
        "write the number, or a constant or function in mindtorch/autograd/formulas.py that uses torch",
        files=TENSOR,
    ),
    Case(
        "private attribute",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * other._array
          other: grad
        """,
        "derivatives.yaml:2:22: error[E061] '_array' is private",
        "write a function of the tensor instead: formulas are made of ops",
        files=TENSOR | {"mindtorch___functions__creation": "@extend_tensor\nclass Methods:\n    _array = 1\n"},
    ),
    Case(
        "constant of a module",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * math.pi / math.pi
          other: grad
        """,
        "derivatives.yaml:2:16: error[E061] unknown name 'math': a formula has no modules",
        "write the number, or a constant or function in mindtorch/autograd/formulas.py that uses math",
        files=TENSOR,
    ),
    Case(
        "function of a module",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * np.linalg.norm(other).clip(np.pi)
          other: grad
        """,
        "derivatives.yaml:2:16: error[E061] unknown name 'np': a formula has no modules",
        "write the number, or a constant or function in mindtorch/autograd/formulas.py that uses np",
        files=TENSOR
        | {"mindtorch___functions__creation": "@extend_tensor\nclass Methods:\n    def clip(self, limit): ...\n"},
    ),
    Case(
        "misspelt keyword",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: non_differentiable
          result: auto_elementwise
        """,
        "derivatives.yaml:4:11: error[E061] unknown name 'auto_elementwise'",
        "did you mean 'auto_element_wise'?",
    ),
    Case(
        "misspelt method",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * other.cojn()
          other: grad.new_zeros(self.shape).mul(self.dtype)
        """,
        "derivatives.yaml:2:22: error[E061] a tensor has no attribute 'cojn'",
        "did you mean 'conj'?",
        TENSOR,
    ),
    Case(
        "misspelt tangent",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * other
          other: grad * self
          result: self_tt * other_p + other_t * self_p
        """,
        "derivatives.yaml:4:11: error[E061] unknown name 'self_tt'",
        "did you mean 'self_t'?",
    ),
    Case(
        "unknown name in a quoted formula",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: '-grad * othr'
          other: grad
        """,
        "derivatives.yaml:2:18: error[E061] unknown name 'othr'",
        "did you mean 'other'?",
    ),
    Case(
        "unknown name behind a wide letter",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: "multiply('é', gradd)"
          other: grad
        """,
        "derivatives.yaml:2:24: error[E061] unknown name 'gradd'",
        "did you mean 'grad'?",
    ),
    Case(
        "unknown function",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: multipli(grad, other)
          other: grad
        """,
        "derivatives.yaml:2:9: error[E061] unknown function 'multipli'",
        "did you mean 'multiply'? otherwise define it in mindtorch/autograd/formulas.py",
    ),
    Case(
        "function unlike any other",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: frobnicate(grad)
          other: grad
        """,
        "derivatives.yaml:2:9: error[E061] unknown function 'frobnicate'",
        "it is no op, Python builtin or helper: define it in mindtorch/autograd/formulas.py",
    ),
    Case(
        "too many arguments",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: multiply(grad, other, True, 1)
          other: grad
        """,
        "derivatives.yaml:2:9: error[E062] wrong arguments for multiply(): 4 positional",
        "it is multiply(grad, factor, fast=...)",
    ),
    Case(
        "too few arguments",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: multiply(grad)
          other: grad
        """,
        "derivatives.yaml:2:9: error[E062] wrong arguments for multiply(): 1 positional",
        "it is multiply(grad, factor, fast=...)",
    ),
    Case(
        "unknown keyword",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: multiply(grad, other, slow=True)
          other: grad
        """,
        "derivatives.yaml:2:31: error[E062] multiply() has no argument 'slow'",
        "it is multiply(grad, factor, fast=...)",
    ),
    Case(
        "argument given twice",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: multiply(grad, other, factor=2)
          other: grad
        """,
        "derivatives.yaml:2:9: error[E062] wrong arguments for multiply(): 2 positional and keywords factor",
        "it is multiply(grad, factor, fast=...)",
    ),
    Case(
        "grads out of range",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grads[1]
          other: grad
        """,
        "derivatives.yaml:2:9: error[E063] 'grads[1]' is out of range: the op has 1",
        "grads counts the outputs that have a gradient, from 0",
    ),
    Case(
        "grads of a non-differentiable output",
        """
        - name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          self: grads[1]
          output_differentiability: [True, False]
        """,
        "derivatives.yaml:2:9: error[E063] 'grads[1]' is out of range: the op has 1",
        "grads counts the outputs that have a gradient, from 0",
    ),
    Case(
        "gradient of a non-differentiable output",
        """
        - name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          self: grad_indices
          output_differentiability: [True, False]
        """,
        "derivatives.yaml:2:9: error[E061] unknown name 'grad_indices'",
        "did you mean 'indices'?",
    ),
    Case(
        "grad and grads",
        """
        - name: max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)
          self: grad + grads[1]
        """,
        "derivatives.yaml:2:9: error[E064] the formula mixes 'grad' and 'grads'",
        "write grads[0] instead of grad",
    ),
    Case(
        "grad of a list",
        """
        - name: unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]
          self: grad
        """,
        "derivatives.yaml:2:9: error[E061] unknown name 'grad'",
        "did you mean 'grads'?",
    ),
    Case(
        "gradient in a forward formula",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          result: grad * other_p
        """,
        "derivatives.yaml:4:11: error[E066] 'grad' has no meaning in a forward formula",
        "a forward formula uses <argument>_p and <argument>_t",
    ),
    Case(
        "tangent in a backward formula",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad * other_t
          other: grad
        """,
        "derivatives.yaml:2:16: error[E066] 'other_t' has no meaning in a backward formula",
        "only forward formulas have primals and tangents",
    ),
    Case(
        "tangent of a number",
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: grad
          weight: grad
          result: factor_t
        """,
        "derivatives.yaml:4:11: error[E061] unknown name 'factor_t'",
        "'factor' is int and no tensor: write 'factor', it has no tangent",
    ),
    Case(
        "whole tensor in a forward formula",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          result: self_t * other
        """,
        "derivatives.yaml:4:20: error[E066] 'other' has a tangent: a forward formula cannot use it as a whole",
        "write other_p (its value) or other_t (its tangent)",
    ),
    Case(
        "tangent of a non-differentiable argument",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: non_differentiable
          result: self_t * other_t
        """,
        "derivatives.yaml:4:20: error[E066] 'other' is non_differentiable: it has no tangent 'other_t'",
        "write other",
    ),
    Case(
        "output in when",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          when: result.is_complex()
        """,
        "derivatives.yaml:4:9: error[E066] 'result' has no meaning in a when formula",
        "it is evaluated before the op runs: use arguments only",
    ),
    Case(
        "gradient in when",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          when: grad is not None
        """,
        "derivatives.yaml:4:9: error[E066] 'grad' has no meaning in a when formula",
        "it is evaluated before the op runs: use arguments only",
    ),
    Case(
        "needs_input_grad of a number",
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: multiply(grad, needs_input_grad.factor)
          weight: grad
        """,
        "derivatives.yaml:2:24: error[E061] 'factor' is no tensor argument of scale",
        "tensor arguments: self, weight",
    ),
    Case(
        "needs_input_grad of no argument",
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: multiply(grad, needs_input_grad.weigth)
          weight: grad
        """,
        "derivatives.yaml:2:24: error[E061] 'weigth' is no tensor argument of scale",
        "did you mean 'weight'?",
    ),
    Case(
        "needs_input_grad of a non-differentiable argument",
        """
        - name: scale(Tensor self, Tensor? weight, int factor, *, bool fast=False) -> Tensor
          self: multiply(grad, needs_input_grad.weight)
          weight: non_differentiable
        """,
        "derivatives.yaml:2:24: error[E066] 'needs_input_grad.weight' is never true: 'weight' is non_differentiable",
        "remove it",
    ),
    Case(
        "needs_input_grad in a forward formula",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: grad
          other: grad
          result: multiply(self_t, needs_input_grad.self)
        """,
        "derivatives.yaml:4:28: error[E066] 'needs_input_grad' has no meaning in a forward formula",
        "a forward formula uses <argument>_p and <argument>_t",
    ),
    Case(
        "assignment expression",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: (x := grad)
          other: grad
        """,
        "derivatives.yaml:2:10: error[E069] a formula cannot use an assignment (:=)",
        "write a helper in mindtorch/autograd/formulas.py",
    ),
    Case(
        "format string",
        """
        - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
          self: multiply(grad, f'{other}')
          other: grad
        """,
        "derivatives.yaml:2:24: error[E069] a formula cannot use a formatted string",
        "write a helper in mindtorch/autograd/formulas.py",
    ),
    Case(
        "name of a comprehension outside it",
        """
        - name: cat(Tensor[] tensors, int dim=0) -> Tensor
          tensors: multiply([x for x in tensors], x)
        """,
        "derivatives.yaml:2:43: error[E061] unknown name 'x'",
        "here are dim, grad, grad_result, result, result0, tensors; besides there are ops, Python builtins and "
        "helpers: define one in mindtorch/autograd/formulas.py",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrong_formula(case, tmp_path):
    write_project(tmp_path, derivatives=case.text, **case.files)
    check_case(case, tmp_path)


NEG = "- func: neg(Tensor self) -> Tensor\n  family: pointwise\n  variants: function, method\n  dispatch: {CPU: f}\n"
USES_NEG = """
- name: mul.Tensor(Tensor self, Tensor other) -> Tensor
  self: neg(grad) * other
  other: grad.neg()
"""


@pytest.mark.parametrize(
    ("right", "wrong", "code"),
    [
        ("function, method", "function method", "E014"),
        ("->", "\u2192", "E020"),
        ("neg(", "neg.(", "E020"),
        ("func: neg(Tensor self) -> Tensor", "func: neg(Tensor self)", "E020"),
    ],
)
def test_formulas_that_use_an_entry_that_cannot_be_read_are_not_wrong(right, wrong, code, tmp_path):
    files = {"mindtorch___core__tensor": "class Tensor:\n    shape = None\n"}
    write_project(tmp_path, OPS + "\n" + NEG.replace(right, wrong), USES_NEG, **files)
    assert [found.code for found in diagnostics(tmp_path)] == [code]


@pytest.mark.parametrize("name", ["node", "edges"])
def test_names_of_the_generated_code_cannot_be_saved(name, tmp_path):
    derivative = f"- name: mul.Tensor(Tensor self, Tensor {name}) -> Tensor\n  self: grad * {name}\n  {name}: grad\n"
    write_project(tmp_path, OPS.replace("Tensor other", f"Tensor {name}").replace("other", name), derivative)
    (found,) = [each for each in diagnostics(tmp_path) if each.code == "E066"]
    assert f"'{name}' cannot be saved" in str(found)

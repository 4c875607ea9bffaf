"""Formulas that are Python, and compute nothing or no gradient."""

import pytest

from tests.codegen.project import OPS, diagnostics, load_project, write_project

DERIVATIVES = """
- name: mul.Tensor(Tensor self, Tensor other) -> Tensor
  self: "{}"
  other: grad * self
"""
MASK = "write where(condition, grad, 0), or multiply by a mask: grad * (self > 0)"
CHOICE = "write where(condition, a, b) for a choice of each element, or ask '... is None'"
OPERAND = "write a tensor or a number"


@pytest.mark.parametrize(
    ("formula", "column", "code", "message", "hint"),
    [
        ("not grad", 10, "E075", "the gradient of 'self' is a tensor, and this is True or False", MASK),
        ("mul", 10, "E075", "the gradient of 'self' is a tensor, and this is a function",
         "call it, with its arguments in brackets"),
        ("[grad]", 10, "E075", "the gradient of 'self' is a tensor, and this is a list",
         "write an expression that gives a tensor"),
        ("grad, ", 10, "E067", "a tuple of one gradient for 'self'", "remove the comma at the end"),
        ("grad.mul_(other)", 15, "E076", "'mul_' changes a tensor: a formula computes new ones", "write 'mul'"),
        ("mul_(grad, other)", 10, "E076", "'mul_' changes a tensor: a formula computes new ones", "write 'mul'"),
        ("grad.item()", 15, "E076", "'item' is outside of what can be differentiated again",
         "compute with tensors and their methods alone"),
        ("grad * None", 17, "E077", "'grad * None' computes with 'None', which is None", OPERAND),
        ("grad * mul", 17, "E077", "'grad * mul' computes with 'mul', which is a function",
         OPERAND + ", or call it: mul(...)"),
        ("grad * [1]", 10, "E077", "'grad * [1]' computes with a tensor and a list",
         "write a number or a tensor; a list becomes one with stack(...) or cat(...)"),
        ("None.shape", 10, "E077", "'None' is None: it has no 'shape'", "write a tensor in front of the dot"),
        ("grad[0:1:0]", 15, "E077", "a slice of step 0 has no end", "remove the step, or write another one"),
        ("grad['a']", 15, "E077", "''a'' is no index", "write a whole number, a slice, None or ..."),
        ("True[0] * grad", 10, "E077", "'True' is True or False: it has no elements",
         "write a tensor or a list there"),
        ("grad if other else grad", 18, "E077", "'if' asks whether 'other' is true, and a tensor has many elements",
         CHOICE),
        ("grad or other", 10, "E077", "'or' asks whether 'grad' is true, and a tensor has many elements", CHOICE),
        ("grad / -0.0", 10, "E078", "'grad / -0.0' divides by 0",
         "write what to divide by; for zeros there is zeros_like(...)"),
        ("grad * 1e999", 17, "E078", "a number that is larger than any float", "write a smaller number"),
        ("grad * 9 ** 9 ** 9", 17, "E078", "'9 ** 9 ** 9' is larger than any float", "write a smaller number"),
        ("grad * " + "9" * 30, 17, "E078", "a whole number that no dtype holds",
         "write a smaller one, or a float such as 1e20"),
        ("grad # of it", 15, "E079", "a comment inside of the formula",
         "write it behind the quotes, or on a line of its own"),
        ("1(grad)", 10, "E062", "'1' is a number and no function: it cannot be called",
         "to multiply, write 1 * (...)"),
        ("other(grad)", 10, "E062", "'other' is no function: it cannot be called", "to multiply, write other * (...)"),
        ("mul(grad, 1)(other)", 10, "E062", "what 'mul(grad, 1)' gives is no function: it cannot be called",
         "write one call, or the operator that is missing between the two"),
    ],
)  # fmt: skip
def test_wrong(formula, column, code, message, hint, tmp_path):
    (found,) = diagnostics(write_project(tmp_path, OPS, DERIVATIVES.format(formula)))
    assert (found.code, found.message, found.hint) == (code, message, hint)
    assert (found.location.line, found.location.column) == (2, column)


@pytest.mark.parametrize(
    "formula",
    [
        "grad if other.ndim else None",
        "grad * (other > 0)",
        "grad * 2 ** 10 / 1e-300",
        "grad[None, ..., 0:1]",
        "(grad * other)[0, ::2]",
        "multiply(grad, [1] * 3 + list(self.shape))",
        "grad if other is None or len(self.shape) else other",
        "grad * (1 if isinstance(other, float) else 2)",
        "[grad][0]",
        "LOG_2 * grad",
        "grad * max(1, 2)",
    ],
)
def test_right(formula, tmp_path):
    assert load_project(tmp_path, OPS, DERIVATIVES.format(formula))

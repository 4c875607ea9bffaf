"""Operators on bits in formulas: a power that is written `^`, and comparisons without brackets."""

import pytest

from tests.codegen.project import diagnostics, write_project

OPS = """
- func: f(Tensor self, Tensor mask, int n, Scalar p, *, bool fast=False) -> (Tensor values, Tensor indices)
  family: pointwise
  dispatch: {CPU: f}

- func: g(Tensor self) -> Tensor
  family: pointwise
  dispatch: {CPU: g}
"""
ENTRY = """
- name: f(Tensor self, Tensor mask, int n, Scalar p, *, bool fast=False) -> (Tensor values, Tensor indices)
  self: {backward}
  mask: non_differentiable
  values: {forward}
  output_differentiability: [True, False]
"""
FORMULAS = "def scaled(x): ...\ndef where(*values): ...\n"
POWER = "a power is written **"
BRACKETS = "it binds more tightly than a comparison: write (a > 0) {0} (b > 0), or logical_{1}(a, b)"


def found(root, backward="grad", forward="self_t"):
    files = {"mindtorch__autograd__formulas": FORMULAS}
    write_project(root, OPS, ENTRY.format(backward=backward, forward=forward), **files)
    return [(str(each).splitlines()[0], each.hint) for each in diagnostics(root)]


@pytest.mark.parametrize(
    ("formula", "column", "operand", "sign", "hint"),
    [
        ("grad * self ^ 2", 21, "grad * self", "^", POWER),
        ("grad * (self ^ 2)", 22, "self", "^", POWER),
        ("grad * (2 ^ self)", 19, "self", "^", POWER),
        ("grad * (1.5^n)", 20, "1.5", "^", POWER),
        ("grad * (n / 2 ^ n)", 23, "n / 2", "^", POWER),
        ("grad * (-values ^ 2)", 25, "-values", "^", POWER),
        ("grad * (scaled(self) ^ 2)", 30, "scaled(self)", "^", POWER),
        ("grads[0] ^ 2", 18, "grads[0]", "^", POWER),
        ("grad_values ^ 2", 21, "grad_values", "^", POWER),
        ("grad * (p ^ 2)", 19, "p", "^", POWER),
        ("where(self > 0 & self < 1, grad, 0)", 24, "self", "&", BRACKETS.format("&", "and")),
        ("where(self > 0 | values < 1, grad, 0)", 24, "values", "|", BRACKETS.format("|", "or")),
        ("grad << n", 14, "grad", "<<", "write a * 2 ** b"),
        ("grad >> n", 14, "grad", ">>", "write a / 2 ** b"),
        ("grad * ~self", 16, "self", "~", "it is for masks: write -a, or logical_not(a)"),
    ],
)
def test_of_what_has_fractions(tmp_path, formula, column, operand, sign, hint):
    message = f"'{sign}' computes with the bits of whole numbers: it cannot take '{operand}'"
    assert found(tmp_path, formula) == [(f"derivatives.yaml:2:{column}: error[E072] {message}", hint)]


def test_in_a_forward_formula(tmp_path):
    ((line, hint),) = found(tmp_path, forward="self_t * self_p ^ 2")
    assert line.startswith("derivatives.yaml:4:27: error[E072] '^'")
    assert hint == POWER


@pytest.mark.parametrize(
    "formula",
    [
        "grad * self ** 2",
        "grad * (n ^ 1)",
        "grad * (n << 2)",
        "grad * (1 ^ 2)",
        "grad * (n * 2 + 1 ^ fast)",
        "grad * (self.ndim ^ 1)",
        "grad * (self.shape[0] ^ 1)",
        "grad * (self.numel() ^ 1)",
        "grad * (len(self.shape) ^ 1)",
        "where((self > 0) & (self < 1), grad, 0)",
        "where((self > 0) ^ scaled(self), grad, 0)",
        "where(~(self > 0), grad, 0)",
        "where(mask | ~mask, grad, 0)",
        "where(not fast ^ fast, grad, 0)",
    ],
)
def test_of_whole_numbers_and_masks(tmp_path, formula):
    assert found(tmp_path, formula) == []

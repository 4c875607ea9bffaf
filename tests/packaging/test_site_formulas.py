"""Formulas as mathematics: every one is well-formed, and signs stand where a reader expects them."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from codegen.project import Project
from docs.builder import formula_math
from docs.builder.helpers import read_helpers
from tests.harness import ROOT, model

SYMBOLS = formula_math.symbols_of(model().ops["lerp.Tensor"].schema)


def formulas():
    for derivative in model().derivatives.values():
        for formula in derivative.backward:
            if formula.is_expression:
                yield formula_math.gradient(derivative, formula)
        for formula in derivative.forward:
            if formula.kind != "not_implemented":
                yield formula_math.tangent(derivative, formula)


def text_of(math: str) -> str:
    """MathML on one line: fractions as a/b, powers as a^b, what stands below as a_b."""
    for tag, sign in (("mfrac", "/"), ("msup", "^"), ("msub", "_"), ("munder", "_")):
        math = _between_children(math, tag, sign)
    return unescape(re.sub(r"<[^>]+>|\u2061", "", math.replace("<mspace", " <mspace").replace("</mtd>", " </mtd>")))


def _between_children(math: str, tag: str, sign: str) -> str:
    root = ElementTree.fromstring(f"<math>{math}</math>")
    for node in root.iter(tag):
        mark = ElementTree.Element("mo")
        mark.text = sign
        node.insert(1, mark)
    return ElementTree.tostring(root, encoding="unicode")


def test_every_formula_is_well_formed():
    found = [ElementTree.fromstring(formula) for formula in formulas()]
    assert len(found) > 400
    assert {root.tag for root in found} == {"math"}


def test_every_equation_of_a_helper_is_well_formed():
    helpers = read_helpers(Project(ROOT))
    equations = [ElementTree.fromstring(each) for helper in helpers.values() for each in helper.equations]
    assert len(equations) > 40
    assert {root.tag for root in equations} == {"math"}


def test_a_fraction_and_a_power_have_two_children_each():
    for formula in formulas():
        for node in ElementTree.fromstring(formula).iter():
            if node.tag in ("mfrac", "msup", "msub", "munder"):
                assert len(node) == 2, formula


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("grad", "g"),
        ("-grad", "−g"),
        ("grad * self", "g⋅x"),
        ("grad * (1 - weight)", "g⋅(1−weight)"),
        ("(grad - self) - weight", "g−x−weight"),
        ("grad - (self - weight)", "g−(x−weight)"),
        ("grad - (self + weight)", "g−(x+weight)"),
        ("grad * (self * weight)", "g⋅(x⋅weight)"),
        ("-(grad + self)", "−(g+x)"),
        ("-grad * self", "−g⋅x"),
        ("grad * -self", "g⋅(−x)"),
        ("(-self) ** 2", "(−x)^2"),
        ("-(self ** 2)", "−x^2"),
        ("(self ** 2) ** 3", "(x^2)^3"),
        ("grad / self", "g/x"),
        ("(grad / self) ** 2", "(g/x)^2"),
        ("grad * conj(result)", "g⋅y^∗"),
        ("conj(self + 1)", "(x+1)^∗"),
        ("self.exp()", "e^x"),
        ("self.pow(2)", "x^2"),
        ("self.t()", "x^⊤"),
        ("self.t().mm(grad)", "x^⊤ g"),
        ("(self + grad).mm(weight)", "(x+g) weight"),
        ("self.shape", "shape(x)"),
        ("self.cos()", "cos(x)"),
        ("self.sum(dim, True)", "∑_dimx"),
        ("(self + grad).sum()", "∑(x+g)"),
        ("maybe_multiply(grad, alpha)", "g⋅α"),
        ("mul_backward(grad, self)", "mul_backward(g,x)"),
        ('self.div(weight, rounding_mode="floor")', "div(x,weight,rounding_mode=“floor”)"),
        ("self_t * weight_p", "δx⋅weight"),
        ("grads[1]", "g_1"),
        ("(grad, self)", "(g,x)"),
        ("[self, 1]", "[x,1]"),
        ("self == 0 or self > weight", "x=0∨x>weight"),
        ("not (self == 0)", "¬(x=0)"),
        ("zeros_like(grad)", "0"),
        ("where(self >= weight, grad, 0)", "{g if x≥weight 0 otherwise "),
        ("grad if self is None else self", "{g if xisNone x otherwise "),
        ("2 / SQRT_PI * grad", "2/π⋅g"),
        ("needs_input_grad.self", "wanted(x)"),
        ("[-width for width in pad]", "[-width for width in pad]"),
    ],
)
def test_signs(source, text):
    assert text_of(formula_math.expression(source, SYMBOLS)) == text

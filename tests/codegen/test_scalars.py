"""Scalar expressions: what they may say, where errors are, and the functions that are generated from them."""

import re

import pytest

from codegen.errors import Problems
from codegen.model import Location
from codegen.project import LIBRARY_ROOT, Project
from codegen.read.scalars import read_scalar, rows
from codegen.read.schema_parser import parse_schema
from codegen.read.yaml_source import Scalar
from codegen.sources.hand_written import read_hand_written

SCHEMA = (
    "soft(Tensor grad_output, Tensor self, Scalar beta=1, *, bool is_result=False, str approximate='none')" " -> Tensor"
)
START = Location("ops.yaml", 3, 11)


@pytest.fixture(scope="module")
def names():
    return read_hand_written(Project(LIBRARY_ROOT), Problems()).scalar_names


def read(text, names, problems):
    return read_scalar(Scalar(text, START, 0), parse_schema(Scalar(SCHEMA, START, 0)), names, problems)


def test_an_expression_takes_its_operands_in_the_order_of_the_schema(names):
    found = read("where(self * beta > 2, inf, grad_output) / exp(-self)", names, Problems())
    assert found.operands == ("grad_output", "self", "beta")
    assert found.code == "m.where(self * beta > 2, m.inf, grad_output) / m.exp(-self)"
    assert list(rows("soft", found)) == [("soft", {})]


def test_a_tensor_in_place_of_a_condition_is_a_mask(names):
    found = read("where(self, grad_output, beta)", names, Problems())
    assert (found.operands, found.masks) == (("grad_output", "self", "beta"), ("self",))
    assert read("self + 1", names, Problems()).masks == ()


def test_the_page_of_rules_has_all_names(names):
    section = (LIBRARY_ROOT / "docs/rules.md").read_text().partition("## Scalar:")[2]
    rows = [row.split(" | ")[0] for row in section.splitlines() if row.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`(\w+)", row)}
    assert named == names.functions.keys() | names.constants


def test_a_choice_by_a_flag_or_a_word_gives_a_loop_for_each(names):
    found = read(
        "(exp(self) if is_result else self) * (tanh(self) if approximate == 'tanh' else erf(self))", names, Problems()
    )
    assert found.operands == ("self",)
    assert list(rows("soft", found)) == [
        ("soft", {"is_result": False, "approximate": "none"}),
        ("soft_tanh", {"is_result": False, "approximate": "tanh"}),
        ("soft_is_result", {"is_result": True, "approximate": "none"}),
        ("soft_is_result_tanh", {"is_result": True, "approximate": "tanh"}),
    ]


@pytest.mark.parametrize(
    "text, column, code, message",
    [
        ("self *", 16, "E060", "the scalar expression is not a Python expression: invalid syntax"),
        ("self * slef", 18, "E061", "unknown name 'slef' in the scalar expression"),
        ("self * exq(self)", 18, "E061", "unknown function 'exq' in the scalar expression"),
        ("torch.exp(self)", 11, "E061", "unknown function 'torch.exp' in the scalar expression"),
        ("is_result * self", 11, "E061", "'is_result' is bool, no number"),
        ("exp(self, beta)", 11, "E062", "'exp' takes 1 argument by position"),
        ("where(beta, self, 2)", 17, "E062", "this is a number, and a condition is meant here"),
        ("where(self, self, 2)", 11, "E062", "'self' is a condition here, and a number there"),
        ("(self > 0) * self", 12, "E062", "this is a condition, and a number is meant here"),
        ("self > 0", 11, "E062", "this is a condition, and a number is meant here"),
        ("self ** 2", 11, "E069", "a scalar expression cannot use this"),
        ("self.exp()", 11, "E061", "unknown function 'self.exp' in the scalar expression"),
        ("self + 'a'", 18, "E069", "a scalar expression cannot use 'a' here"),
        ("0 < self < 1", 11, "E069", "a scalar expression cannot use this"),
        ("1 if self > 0 else self", 16, "E069", "the choice is by no flag and no word of the op's arguments"),
    ],
)
def test_errors_are_where_they_are(names, text, column, code, message):
    problems = Problems()
    assert read(text, names, problems) is None
    first = problems.diagnostics[0]
    assert (first.code, first.message, first.location) == (code, message, Location("ops.yaml", 3, column))

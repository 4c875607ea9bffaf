"""PyTorch's rules of schema compatibility: the verdicts, and the reasons that are given."""

import pytest

from codegen.diff import compat
from tests.codegen.compat_table import TABLE
from tests.codegen.mutations import parse


@pytest.mark.parametrize(("old", "new", "backward", "forward"), TABLE.values(), ids=TABLE.keys())
def test_verdicts(old, new, backward, forward):
    schemas = parse(new), parse(old)
    assert (not compat.backward(*schemas), not compat.forward(*schemas)) == (backward, forward)


@pytest.mark.parametrize(
    ("old", "new", "backward", "forward"),
    [
        ("f(Tensor a) -> Tensor", "f.x(Tensor a) -> Tensor", ["the op has another name or overload name"], None),
        ("f(Tensor a) -> Tensor", "f(Tensor a) -> ()", ["the number of returns differs"], None),
        ("f(Tensor a, int b) -> Tensor", "f(Tensor a) -> Tensor", ["there are fewer arguments"], []),
        (
            "f(Tensor a, int b=1) -> Tensor",
            "f(Tensor a, *, int[1] b=2) -> Tensor",
            [f"argument b: {why}" for why in ("the size of the list differs", "it has become keyword-only")]
            + ["argument b: its type does not fit", "argument b: its default differs"],
            None,
        ),
        (
            "f(Tensor a) -> Tensor",
            "f(Tensor(x!) b, int c) -> Tensor? d",
            ["return d: its name differs from the one in this place", "return d: its type does not fit"]
            + ["argument b: its name differs from the one in this place", "argument b: the alias annotation differs"]
            + ["argument c: it is new and has no default"],
            ["argument b: its name differs from the one in this place", "argument b: the alias annotation differs"]
            + ["argument c: it is new and has no default"],
        ),
        ("f(int a) -> Tensor", "f(int a=1, int[] b=[]) -> Tensor", [], ["argument a: it has gained a default"]
         + ["argument b: it is new and its default is a list"]),
        ("f(Tensor a) -> Tensor", "f(Tensor a, *, Tensor(x!) o) -> Tensor", [],
         ["the number of arguments from the first out argument on differs"]),
        ("f(Tensor a) -> Tensor", "f(Tensor a) -> Tensor?", ["return 0: its type does not fit"], []),
    ],
)  # fmt: skip
def test_reasons(old, new, backward, forward):
    schemas = parse(new), parse(old)
    assert list(map(str, compat.backward(*schemas))) == backward
    assert list(map(str, compat.forward(*schemas))) == (backward if forward is None else forward)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ("int", "Scalar"),
        ("complex?", "Scalar?"),
        ("int[]", "int[]?"),
        ("SymInt[2]", "int[]"),
        ("Tensor??", "Tensor?"),
        ("Dimname", "str"),
    ],
)
def test_subtypes(narrow, wide):
    types = [parse(f"f({text} a) -> Tensor").arguments[0].type for text in (narrow, wide)]
    assert compat.is_subtype(*types)
    assert compat.is_subtype(types[1], types[0]) == (narrow in ("SymInt[2]", "Tensor??", "Dimname"))

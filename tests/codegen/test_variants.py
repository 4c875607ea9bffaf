"""What an entry of ops.yaml gives: the op, and the variants that are derived from it."""

import pytest

from tests.codegen.project import load_project


def load_entry(root, schema, *lines):
    entry = [f"- func: {schema}", "  family: pointwise", "  dispatch: {CPU: f}", *(f"  {line}" for line in lines)]
    return load_project(root, "\n".join(entry), "[]")


@pytest.mark.parametrize(
    ("schema", "inplace"),
    [
        ("relu(Tensor self) -> Tensor", "relu_(Tensor(a!) self) -> Tensor(a!)"),
        (
            "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
        ),
        ("_foreach_neg(Tensor[] self) -> Tensor[]", "_foreach_neg_(Tensor(a!)[] self) -> ()"),
    ],
)
def test_inplace(tmp_path, schema, inplace):
    entry = f"- func: {schema}\n  family: pointwise\n  composite: f\n  autogen: inplace\n"
    functional, derived = load_project(tmp_path, entry, "[]").ops.values()
    assert str(derived.schema) == inplace
    assert (derived.kind, derived.derived_from) == ("inplace", functional.name)


@pytest.mark.parametrize(
    ("schema", "out"),
    [
        ("relu(Tensor self) -> Tensor", "relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"),
        (
            "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            "add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
        ),
        (
            "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
            "pow.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)",
        ),
        (
            "aminmax(Tensor self) -> (Tensor min, Tensor max)",
            "aminmax.out(Tensor self, *, Tensor(a!) min, Tensor(b!) max) -> (Tensor(a!) min, Tensor(b!) max)",
        ),
        (
            "pair(Tensor self) -> (Tensor, Tensor)",
            "pair.out(Tensor self, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))",
        ),
        (
            "like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None,"
            " bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
            "like.out(Tensor self, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
        ),
        (
            "cumsum(Tensor self, *, ScalarType? dtype=None) -> Tensor",
            "cumsum.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
        ),
    ],
)
def test_out(tmp_path, schema, out):
    model = load_entry(tmp_path, schema, "autogen: out")
    functional, derived = model.ops.values()
    assert str(derived.schema) == out
    assert derived.kind == "out"
    assert model.variant(functional, "out") is derived
    assert model.variant(functional, "inplace") is None


def test_schemas_that_are_written_out(tmp_path):
    model = load_entry(
        tmp_path,
        "polygamma(int n, Tensor self) -> Tensor",
        "inplace: polygamma_(Tensor(a!) self, int n) -> Tensor(a!)",
        "out: polygamma.to(int n, Tensor self, *, Tensor(a!) result) -> Tensor(a!)",
    )
    assert list(model.ops) == ["polygamma", "polygamma_", "polygamma.to"]
    assert {op.derived_from for op in model.ops.values()} == {None, "polygamma"}


def test_keys_become_attributes(tmp_path):
    lines = ("numbers: other", "promotion: default", "shape: broadcast", "tags: core, pointwise", "dtypes: no_bool")
    model = load_entry(tmp_path, "mul.Tensor(Tensor self, Tensor other) -> Tensor", *lines, "samples: binary")
    (op,) = model.ops.values()
    assert (op.numbers, op.promotion, op.shape, op.tags) == (("other",), "default", "broadcast", ("core", "pointwise"))
    assert (op.dtypes, op.samples, op.dispatch, op.composite) == ("no_bool", "binary", {"CPU": "f"}, None)
    assert (op.is_function, op.is_method, op.is_composite, op.hidden, op.factory) == (True, False, False, False, False)
    assert op.location.line == 1


def test_operators_are_split_between_variants(tmp_path):
    schema = "mul.Tensor(Tensor self, Tensor other) -> Tensor"
    model = load_entry(tmp_path, schema, "operators: __mul__, __rmul__, __imul__", "autogen: inplace, out")
    assert [op.operators for op in model.ops.values()] == [("__mul__", "__rmul__"), ("__imul__",), ()]


@pytest.mark.parametrize(
    ("lines", "variants"),
    [
        ((), ("function", "method")),
        (("variants: method",), ("method",)),
        (("python_module: nn",), ("function",)),
    ],
)
def test_inplace_op_is_a_method(tmp_path, lines, variants):
    model = load_entry(tmp_path, "gelu(Tensor self) -> Tensor", "autogen: inplace", *lines)
    assert model.ops["gelu_"].variants == variants


def test_families_and_overloads(tmp_path):
    model = load_project(tmp_path, derivatives="[]")
    assert list(model.families) == ["pointwise", "reduction", "indexing", "view"]
    assert [op.name for op in model.families["pointwise"]] == [
        "mul.Tensor",
        "mul_.Tensor",
        "mul.out",
        "scale",
        "square",
    ]
    assert [op.name for op in model.groups["mul"]] == ["mul.Tensor"]
    assert [op.name for op in model.groups["mul_"]] == ["mul_.Tensor"]

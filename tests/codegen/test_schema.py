"""The schema grammar: strings are printed back unchanged, and the parts are what they should be."""

import pytest

from codegen.model import Alias, BaseType, ListType, Location, OptionalType
from codegen.read.schema_parser import is_default, parse_schema
from codegen.read.yaml_source import Scalar

TENSOR = BaseType("Tensor")


def parse(text):
    return parse_schema(Scalar(text, Location("ops.yaml", 3, 9)))


@pytest.mark.parametrize(
    "text",
    [
        "relu(Tensor self) -> Tensor",
        "rand() -> Tensor",
        "_foreach_zero_(Tensor(a!)[] self) -> ()",
        "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "zeros(SymInt[] size, *, ScalarType? dtype=None, bool? pin_memory=None) -> Tensor",
        "conv2d(Tensor input, SymInt[2] stride=1, int[2] dilation=[1,1], str mode=\"a b\", str s='none') -> Tensor",
        "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
        "f(Tensor(a|b) x, Tensor(b! -> a|*)? y, Tensor?[] z, int[3]? k=None) -> (Tensor(a|b), Tensor(b! -> a|*)?)",
        "sort.out(Tensor self, int dim=-1, *, Tensor(a!) v, Tensor(b!) i) -> (Tensor(a!) v, Tensor(b!) i)",
        "nan_ok(Tensor self, float eps=1e-05, float big=-1.5, int reduction=Mean) -> bool",
        "named(Tensor self) -> Tensor result",
        "wrapped(Tensor self) -> (Tensor result)",
        "__and__.Tensor(Tensor self, Tensor other) -> Tensor",
    ],
)
def test_prints_back(text):
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("name", "base", "inplace", "overload", "kind"),
    [
        ("mul(Tensor self) -> Tensor", "mul", False, "", "functional"),
        ("mul.Tensor(Tensor self) -> Tensor", "mul", False, "Tensor", "functional"),
        ("mul_.Tensor(Tensor(a!) self) -> Tensor(a!)", "mul", True, "Tensor", "inplace"),
        ("mul.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "mul", False, "out", "out"),
        ("t(Tensor(a) self) -> Tensor(a)", "t", False, "", "functional"),
        ("update(Tensor x, Tensor(a!) mean) -> Tensor", "update", False, "", "mutable"),
        ("__iand__(Tensor self) -> Tensor", "__iand__", False, "", "functional"),
    ],
)
def test_name_and_kind(name, base, inplace, overload, kind):
    schema = parse(name)
    assert (schema.base, schema.inplace, schema.overload, schema.kind) == (base, inplace, overload, kind)
    assert schema.full_name == name.partition("(")[0]


def test_arguments():
    schema = parse("f(Tensor self, Tensor?[] indices, int[2] k=0, *, bool from=True, Tensor(a!) out) -> Tensor(a!)")
    self, indices, k, from_, out = schema.arguments
    assert (self.type, indices.type) == (TENSOR, ListType(OptionalType(TENSOR)))
    assert (k.type, k.default, k.kwarg_only) == (ListType(BaseType("int"), 2), "0", False)
    assert (from_.default, from_.kwarg_only, from_.python_name) == ("True", True, "from_")
    assert (out.alias, out.is_written, self.alias) == (Alias(("a",), write=True), True, None)
    assert self.python_name == "input"
    assert schema.self_argument == self
    assert schema.inputs == (self, indices, k, from_)
    assert schema.out_arguments == schema.written_arguments == (out,)
    assert schema.tensor_arguments == (self, indices)
    assert schema.positional == (self, indices, k)
    assert schema.kwarg_only == (from_, out)


def test_every_part_knows_its_place():
    schema = parse("mul.Tensor(Tensor self, Tensor other) -> Tensor")
    assert schema.location == Location("ops.yaml", 3, 9)
    assert [argument.location.column for argument in schema.arguments] == [27, 40]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("Tensor", "holds_tensors is_tensor"),
        ("Tensor?", "holds_tensors is_tensor is_optional"),
        ("Tensor[]", "holds_tensors is_tensor_list is_list"),
        ("Tensor?[]", "holds_tensors is_tensor_list is_list"),
        ("int[2]?", "is_list is_optional"),
        ("Scalar", ""),
    ],
)
def test_types(text, facts):
    type_ = parse(f"f({text} x) -> Tensor").arguments[0].type
    names = ("holds_tensors", "is_tensor", "is_tensor_list", "is_list", "is_optional")
    assert {name for name in names if getattr(type_, name)} == set(facts.split())
    assert str(type_) == text


@pytest.mark.parametrize(
    ("returns", "names"),
    [
        ("Tensor", ("result",)),
        ("Tensor values", ("values",)),
        ("(Tensor, Tensor)", ("result0", "result1")),
        ("(Tensor values, Tensor indices)", ("values", "indices")),
        ("(Tensor values, Tensor)", ("values", "result1")),
        ("Tensor[]", ("result",)),
        ("()", ()),
    ],
)
def test_result_names(returns, names):
    assert parse(f"f(Tensor self) -> {returns}").result_names == names


@pytest.mark.parametrize(
    ("type_", "good", "bad"),
    [
        ("int", "0 -1 Mean", "1.0 True 'a' None x"),
        ("float", "0 1.0 1e-05", "True 'a' None"),
        ("Scalar", "0 1.0", "True None"),
        ("bool", "True False", "0 true"),
        ("bool?", "True None", "0"),
        ("str", "'a' \"a\"", "a 1 None"),
        ("int[]", "[] [0] [-2,-1]", "0 [1.0] [True]"),
        ("int[2]", "0 [0,1]", "None [a]"),
        ("int[1]?", "None 0 []", "True"),
        ("ScalarType?", "None long", "int 1"),
        ("MemoryFormat", "contiguous_format", "None"),
        ("Tensor?", "None", "0"),
        ("Generator?", "None", "0"),
    ],
)
def test_defaults(type_, good, bad):
    parsed = parse(f"f({type_} x) -> Tensor").arguments[0].type
    assert all(is_default(parsed, text) for text in good.split())
    assert not any(is_default(parsed, text) for text in bad.split())

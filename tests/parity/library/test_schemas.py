"""`torch.library`: the schemas that define ops, and those that are inferred, with all errors."""

# ruff: noqa: UP006, UP007, UP045, B008  (old annotations are part of what is tested)

from collections.abc import Sequence
from typing import List, Optional, Tuple, Union  # noqa: UP035

import pytest
import torch

import mindtorch
from tests.parity.support.library_programs import compare, tried

# -------------------- schemas --------------------

ARGUMENTS = [
    "Tensor x", "Tensor self", "Tensor   x ,int   y = 3", "Tensor? x=None", "Tensor x=None", "Tensor x=3", "Tensor[] x",
    "Tensor?[] x", "Tensor[]? x", "Tensor(a) x", "Tensor(a!) x, Tensor(b!) y", "Tensor(a!)[] x", "Tensor(a|b) x",
    "Tensor(*) x", "Tensor(a -> *) x", "float x=1", "float x=1e-5", "float x=1e10", "float x=0.1", "float x=-2.5",
    "float x=inf", "float x=True", "float x=123456.789", "int x=-1", "int x=a", "int x=", "int x=Mean",
    "int n=1, Tensor x",
    "int?[] x", "int[]? x", "int[] x=[]", "int[2] x=0", "int[2] x=[1,2]", "int[3] x=3", "int[ x", "SymInt x=3",
    "SymInt[] x=[1,2]", "float[] x=[1,2.5]", "bool b=True", "bool b=1", "bool[2] m=[True,False]", "Scalar s=1.5",
    "Scalar x=-1", "str s='a'", 'str? s="q"', "str[] s=['a','b']", "Device d='cpu'", "ScalarType t=float32",
    "ScalarType t=long", "ScalarType? t=None", "Layout l=strided", "MemoryFormat m=contiguous_format",
    "Generator? g=None",
    "Tensor x, *, int y", "*, int x", "Tensor x, *, *, int y", "float x=1., *, Tensor(a!) out", "Tensor x,",
    "Tensor x int y", "Tensor x, , int y", "Tensor", "3 x", "Foo x", "Tensor self, Foo x", "x", "Tensor(a x",
    "Tensor(a!! x", "int[] x=None", "int[]? x=[1]", "int[2]? x=1", "int[] x=[1, ]", "bool[2] x=True", "float[2] x=1",
    "SymInt[2] x=1", "int[] x=[2,2]", "Scalar[] x=[1]", "int?[] x=[None]", "SymFloat x", "Tensor x; int y",
    r"str s='a\nb'", r"str s='a\"b'", "str s=\"it's\"", r"str s='a\\b'", "str s='a\tb'", "str s='\x01'",
    r"str s='\q'", r"str s='\x41'", "str s='a",
]  # fmt: skip
WHOLE = [
    "", "foo", "foo(", "foo(Tensor x)", "foo(Tensor x) -> ", "foo() -> ()", "foo() -> (Tensor)", "foo() -> ((Tensor))",
    "foo() -> Tensor[]", "foo() -> void", "foo() -> (Tensor,)", "foo() -> Tensor x", "foo() -> (Tensor a, Tensor b)",
    "foo() -> (Tensor, int, float[])", "foo(Tensor(a!) x) -> Tensor(a!)", "foo.over(Tensor x)->Tensor",
    "foo.default(Tensor x) -> Tensor", "foo.(Tensor x) -> Tensor", "1foo(Tensor x) -> Tensor",
    "foo(Tensor x) - > Tensor",
    "other::foo(Tensor x) -> Tensor", "foo(Tensor x) -> Tensor;", "foo(Tensor x) -> Tensor, Tensor",
    "foo(Tensor x) -> Tensor more", "foo(Tensor x) -> (Tensor", "foo(Tensor x) -> Tensor # a comment",
    "foo-bar() -> ()",
    "foo bar() -> ()", "foo[Tensor x] -> ()", "foo(\n Tensor x,\n int y=1\n) -> Tensor",
]  # fmt: skip


@pytest.mark.parametrize("schema", [*(f"foo({each}) -> ()" for each in ARGUMENTS), *WHOLE])
def test_schemas(schema):
    def run(T, namespace):
        library = T.library.Library(namespace, "FRAGMENT")
        defined = tried(library.define, schema)
        packet = getattr(getattr(T.ops, namespace), "foo", None)
        return defined, packet and [str(getattr(packet, name)._schema) for name in packet.overloads()]

    compare(run)


# -------------------- infer_schema --------------------


def annotated(T):
    """Functions with the annotations that there are, good and bad."""
    Tensor, Number = T.Tensor, T.types.Number

    def tensors(
        a: Tensor, b: Optional[Tensor], c: List[Tensor], d: Sequence[Optional[Tensor]], e: list[Tensor]
    ) -> Tensor: ...
    def numbers(a: int, b: float, c: bool, d: str, e: Number, f: Optional[int] = None, g: float = 0.5) -> None: ...
    def lists(
        a: List[int], b: Sequence[float], c: Optional[List[bool]], d: list[Number], e: Optional[Sequence[int]]
    ) -> int: ...
    def others(a: T.dtype, b: T.device, c: Optional[T.dtype] = None, d: Optional[T.device] = None) -> float: ...
    def defaults(
        a: int = 3, b: str = "s", c: bool = True, d: T.dtype = T.float32, e: T.device = T.device("cpu")
    ) -> bool: ...
    def keywords(a: Tensor, *, b: int = 1, c: Optional[str] = None) -> Tuple[Tensor, Tensor]: ...
    def unions(a: int | None, b: Union[Tensor, None], c: list[int] | None) -> Tuple[Tensor, int, List[Tensor]]: ...
    def strings(a: "int", b: "float" = 1.0) -> "int": ...
    def one_tuple(a: Tensor) -> Tuple[Tensor]: ...
    def list_of_tensors(a: Tensor) -> list[Tensor]: ...
    def number_back(a: Tensor) -> Number: ...
    def no_annotation(a) -> Tensor: ...
    def no_return(a: Tensor): ...
    def variadic(*a: Tensor) -> Tensor: ...
    def positional(a: Tensor, /) -> Tensor: ...
    def tuples(a: Tuple[int, int]) -> Tensor: ...
    def tuples_of_tensors(a: Tuple[Tensor, ...]) -> Tensor: ...
    def odd(a: Union[int, str]) -> Tensor: ...
    def dictionaries(a: dict) -> Tensor: ...
    def bad_default(a: int = object) -> Tensor: ...  # noqa: RUF013
    def bad_return(a: Tensor) -> str: ...
    def bad_returns(a: Tensor) -> Tuple[Tensor, str]: ...
    def unknown_name(a: "Nothing") -> Tensor: ...  # noqa: F821
    def syntax(a: "1 +") -> Tensor: ...  # noqa: F722

    return [value for name, value in locals().items() if name not in ("T", "Tensor", "Number")]


MUTATES = [(), {"a"}, {"q"}, "unknown", "something", {"b"}]


@pytest.mark.parametrize("mutates", MUTATES, ids=str)
def test_inferred_schemas(mutates):
    def run(T, namespace):
        infer = T.library.infer_schema
        results = [tried(infer, each, mutates_args=mutates) for each in annotated(T)]
        return results, tried(infer, annotated(T)[0], mutates_args=mutates, op_name="foo")

    compare(run)


def tagged(T):
    Tensor = T.Tensor

    def inplace(a: Tensor) -> Tensor: ...
    def inplace_more(a: Tensor, b: Tensor) -> Tensor: ...
    def inplace_list(a: List[Tensor]) -> Tensor: ...
    def nothing() -> Tensor: ...
    def inplace_none(a: Tensor) -> None: ...
    def out(x: Tensor, *, a: Tensor) -> Tensor: ...
    def outs(x: Tensor, *, a: Tensor, b: Tensor) -> Tuple[Tensor, Tensor]: ...
    def outs_short(x: Tensor, *, a: Tensor, b: Tensor) -> Tensor: ...
    def out_list(x: Tensor, *, a: List[Tensor]) -> Tensor: ...

    return [value for name, value in locals().items() if name not in ("T", "Tensor")]


@pytest.mark.parametrize("tag", ["inplace", "out"])
@pytest.mark.parametrize("mutates", [(), {"a"}, ("a", "b"), "unknown"], ids=str)
def test_inferred_schemas_of_tagged_ops(tag, mutates):
    def run(T, namespace):
        infer, tags = T.library.infer_schema, T.Tag.__members__[tag]
        return [tried(infer, each, mutates_args=mutates, tags=tags) for each in tagged(T)]

    compare(run)


TAGGED_SCHEMAS = [
    "f() -> Tensor", "f(Tensor x) -> Tensor", "f(Tensor(a!)[] x) -> Tensor", "f(Tensor(a!) x) -> ()",
    "f(Tensor(a!) x) -> Tensor", "f(Tensor(a!) x) -> Tensor(a)", "f(Tensor(a!) x) -> int",
    "f(Tensor(a!) x) -> Tensor(a!)",
    "f(Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)", "f(*, Tensor(a!) x) -> Tensor(a!)",
    "f(*, Tensor(a!)[] x) -> Tensor(a!)",
    "f(*, Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)", "f(*, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(b!))",
    "f(*, Tensor(a!) x) -> Tensor", "f(*, Tensor(a!) x) -> Tensor(a)",
    "f(*, Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor(a!))",
]  # fmt: skip


@pytest.mark.parametrize("tag", ["inplace", "out"])
@pytest.mark.parametrize("schema", TAGGED_SCHEMAS)
def test_schemas_of_tagged_ops(schema, tag):
    def run(T, namespace):
        library = T.library.Library(namespace, "FRAGMENT")
        return tried(library.define, schema, tags=T.Tag.__members__[tag])

    compare(run)


def test_every_dtype_can_be_a_default():
    names = "complex32 float8_e5m2 float8_e4m3fn float8_e5m2fnuz float8_e4m3fnuz float8_e8m0fnu uint64 half".split()

    def shown(library):
        with library.library._scoped_library("dtype_defaults", "DEF") as lib:
            for name in names:
                lib.define(f"of_{name}(Tensor x, ScalarType? dtype={name}) -> Tensor")
            ops = library.ops.dtype_defaults
            return [str(getattr(ops, f"of_{name}").default._schema) for name in names]

    assert shown(mindtorch) == shown(torch)

"""Schema strings that do not parse or contradict themselves."""

import pytest

from tests.codegen.project import Case, check_case, write_project

FORM = "a schema is written name.overload(Type name, Type name=default, *, Type name) -> Type"
NAME = "it starts with a small letter, behind '_' at most, and is no word of Python itself"
ENTRY = """
- func: {schema}
  family: pointwise
  dispatch: {{CPU: f}}
"""
CASES = (
    Case(
        "no arguments",
        "abs",
        "ops.yaml:1:12: error[E020] expected '(' before the arguments, found the end",
        FORM,
    ),
    Case(
        "capital letter",
        "Gap(Tensor self) -> Tensor",
        "ops.yaml:1:9: error[E028] 'Gap' cannot be the name of an op",
        f"write 'gap': {NAME}",
    ),
    Case(
        "word of Python",
        "class(Tensor self) -> Tensor",
        "ops.yaml:1:9: error[E028] 'class' cannot be the name of an op",
        NAME,
    ),
    Case(
        "word of Python in place",
        "lambda_(Tensor(a!) self) -> Tensor(a!)",
        "ops.yaml:1:9: error[E028] 'lambda_' cannot be the name of an op",
        NAME,
    ),
    Case(
        "no letter",
        "__(Tensor self) -> Tensor",
        "ops.yaml:1:9: error[E028] '__' cannot be the name of an op",
        NAME,
    ),
    Case(
        "letter of another alphabet",
        "\u0434\u0430(Tensor self) -> Tensor",
        "ops.yaml:1:9: error[E020] unexpected character '\u0434' in the schema",
        FORM,
    ),
    Case(
        "no closing bracket",
        "abs(Tensor self -> Tensor",
        "ops.yaml:1:25: error[E020] expected ')' or ',', found '->'",
        FORM,
    ),
    Case(
        "no returns",
        "abs(Tensor self)",
        "ops.yaml:1:25: error[E020] expected '->' before the returns, found the end",
        FORM,
    ),
    Case(
        "no arrow",
        "abs(Tensor self) Tensor",
        "ops.yaml:1:26: error[E020] expected '->' before the returns, found 'Tensor'",
        FORM,
    ),
    Case(
        "no argument name",
        "abs(Tensor) -> Tensor",
        "ops.yaml:1:19: error[E020] expected an argument name, found ')'",
        FORM,
    ),
    Case(
        "trailing comma",
        "abs(Tensor self, ) -> Tensor",
        "ops.yaml:1:26: error[E020] expected a type, found ')'",
        FORM,
    ),
    Case(
        "text behind the end",
        "abs(Tensor self) -> Tensor result more",
        "ops.yaml:1:43: error[E020] expected the end of the schema, found 'more'",
        FORM,
    ),
    Case(
        "odd character",
        "abs(Tensor self; int a) -> Tensor",
        "ops.yaml:1:24: error[E020] unexpected character ';' in the schema",
        FORM,
    ),
    Case(
        "no overload name",
        "abs.(Tensor self) -> Tensor",
        "ops.yaml:1:13: error[E020] expected an overload name behind '.', found '('",
        FORM,
    ),
    Case(
        "unknown type",
        "abs(Tensr self) -> Tensor",
        "ops.yaml:1:13: error[E021] unknown type 'Tensr'",
        "did you mean 'Tensor'?",
    ),
    Case(
        "type of C++",
        "abs(TensorList self) -> Tensor",
        "ops.yaml:1:13: error[E021] unknown type 'TensorList'",
        "write Tensor[]",
    ),
    Case(
        "type of Python",
        "abs(Tensor self, dtype d) -> Tensor",
        "ops.yaml:1:26: error[E021] unknown type 'dtype'",
        "write ScalarType",
    ),
    Case(
        "type in small letters",
        "abs(tensor self) -> Tensor",
        "ops.yaml:1:13: error[E021] unknown type 'tensor'",
        "did you mean 'Tensor'?",
    ),
    Case(
        "type of another language",
        "abs(Tensor self, vector v) -> Tensor",
        "ops.yaml:1:26: error[E021] unknown type 'vector'",
        "for example: bool, str, int, SymInt, float, Scalar, Tensor",
    ),
    Case(
        "unknown return type",
        "abs(Tensor self) -> Tensors",
        "ops.yaml:1:29: error[E021] unknown type 'Tensors'",
        "did you mean 'Tensor'?",
    ),
    Case(
        "text as int",
        "abs(Tensor self, int dim='a') -> Tensor",
        "ops.yaml:1:34: error[E022] the default 'a' does not fit type int",
        "write an integer",
    ),
    Case(
        "None without ?",
        "abs(Tensor self, int dim=None) -> Tensor",
        "ops.yaml:1:34: error[E022] the default None does not fit type int",
        "write an integer",
    ),
    Case(
        "number as bool",
        "abs(Tensor self, bool b=1) -> Tensor",
        "ops.yaml:1:33: error[E022] the default 1 does not fit type bool",
        "write True or False",
    ),
    Case(
        "float as int",
        "abs(Tensor self, int dim=1.5) -> Tensor",
        "ops.yaml:1:34: error[E022] the default 1.5 does not fit type int",
        "write an integer",
    ),
    Case(
        "word as bool",
        "abs(Tensor self, bool b=true) -> Tensor",
        "ops.yaml:1:33: error[E022] the default true does not fit type bool",
        "write True or False",
    ),
    Case(
        "one value for a list of any size",
        "abs(Tensor self, int[] dim=1) -> Tensor",
        "ops.yaml:1:36: error[E022] the default 1 does not fit type int[]",
        "write a list such as [] or [0,1]",
    ),
    Case(
        "list with a wrong element",
        "abs(Tensor self, int[2] dim=[1,a]) -> Tensor",
        "ops.yaml:1:37: error[E022] the default [1,a] does not fit type int[2]",
        "write a list such as [] or [0,1], or one value for all elements",
    ),
    Case(
        "unfinished list",
        "abs(Tensor self, int[2] dim=[1, int b) -> Tensor",
        "ops.yaml:1:46: error[E020] expected ']' behind the default list, found ')'",
        FORM,
    ),
    Case(
        "default of a tensor",
        "abs(Tensor self=1) -> Tensor",
        "ops.yaml:1:25: error[E022] the default 1 does not fit type Tensor",
        "a tensor has no default: make it 'Tensor? name=None', or remove the default",
    ),
    Case(
        "no default",
        "abs(Tensor self, int dim=) -> Tensor",
        "ops.yaml:1:34: error[E020] expected a default, found ')'",
        FORM,
    ),
    Case(
        "argument twice",
        "abs(Tensor self, Tensor self) -> Tensor",
        "ops.yaml:1:33: error[E023] duplicate argument 'self'",
        "rename one of the two",
    ),
    Case(
        "required behind default",
        "abs(Tensor self, int a=1, int b) -> Tensor",
        "ops.yaml:1:39: error[E023] argument 'b' has no default but follows one that has",
        "give it a default, or move it to the front",
    ),
    Case(
        "two stars",
        "abs(Tensor self, *, int a, *, int b) -> Tensor",
        "ops.yaml:1:36: error[E023] a second '*' among the arguments",
        "remove it",
    ),
    Case(
        "star at the end",
        "abs(Tensor self, *) -> Tensor",
        "ops.yaml:1:26: error[E023] no keyword-only argument behind '*'",
        "write '*, Type name'",
    ),
    Case(
        "star without comma",
        "abs(Tensor self, * int b) -> Tensor",
        "ops.yaml:1:26: error[E023] no keyword-only argument behind '*'",
        "write '*, Type name'",
    ),
    Case(
        "spaces",
        "abs(Tensor self,  int a) -> Tensor",
        "ops.yaml:1:26: error[E029] the schema is not spelled in the canonical way",
        "write it as 'abs(Tensor self, int a) -> Tensor'",
    ),
    Case(
        "no space behind comma",
        "abs(Tensor self,int a) -> Tensor",
        "ops.yaml:1:25: error[E029] the schema is not spelled in the canonical way",
        "write it as 'abs(Tensor self, int a) -> Tensor'",
    ),
    Case(
        "space in a list default",
        "abs(Tensor self, int[2] a=[1, 2]) -> Tensor",
        "ops.yaml:1:38: error[E029] the schema is not spelled in the canonical way",
        "write it as 'abs(Tensor self, int[2] a=[1,2]) -> Tensor'",
    ),
    Case(
        "unfinished alias",
        "abs(Tensor(a self) -> Tensor(a)",
        "ops.yaml:1:22: error[E020] expected ')' behind the alias annotation, found 'self'",
        FORM,
    ),
    Case(
        "empty alias",
        "abs(Tensor() self) -> Tensor",
        "ops.yaml:1:20: error[E020] expected an alias name such as 'a', found ')'",
        FORM,
    ),
    Case(
        "number as alias",
        "abs(Tensor(1) self) -> Tensor",
        "ops.yaml:1:20: error[E020] expected an alias name such as 'a', found '1'",
        FORM,
    ),
    Case(
        "bad list size",
        "abs(Tensor self, int[n] a) -> Tensor",
        "ops.yaml:1:30: error[E020] expected ']' behind the list size, found 'n'",
        FORM,
    ),
    Case(
        "returned alias without argument",
        "abs(Tensor self) -> Tensor(a!)",
        "ops.yaml:1:9: error[E024] abs returns an alias 'a!' that no argument has",
        "annotate the argument in the same way",
    ),
    Case(
        "returned alias written, argument read",
        "t(Tensor(a) self) -> Tensor(a!)",
        "ops.yaml:1:9: error[E024] t returns an alias 'a!' that no argument has",
        "annotate the argument in the same way",
    ),
    Case(
        "argument alias without result",
        "t(Tensor(a) self) -> Tensor",
        "ops.yaml:1:21: error[E024] the alias 'a' of 'self' is not returned",
        "remove the annotation, or add it to a result",
    ),
    Case(
        "alias of a number",
        "abs(Tensor self, int(a!) b) -> Tensor",
        "ops.yaml:1:34: error[E024] 'b' is no tensor and cannot be an alias",
    ),
    Case(
        "in-place without alias",
        "zero_(Tensor self) -> Tensor",
        "ops.yaml:1:9: error[E025] zero_ is in-place but writes to no argument 'self'",
        "write 'Tensor(a!) self'",
    ),
    Case(
        "in-place without self",
        "zero_(Tensor(a!) input) -> Tensor(a!)",
        "ops.yaml:1:9: error[E025] zero_ is in-place but writes to no argument 'self'",
        "write 'Tensor(a!) self'",
    ),
    Case(
        "in-place returns a fresh tensor",
        "zero_(Tensor(a!) self) -> Tensor",
        "ops.yaml:1:9: error[E025] zero_ does not return 'self'",
        "end it with '-> Tensor(a!)'",
    ),
    Case(
        "in-place list returns it",
        "_foreach_zero_(Tensor(a!)[] self) -> Tensor(a!)[]",
        "ops.yaml:1:9: error[E025] _foreach_zero_ does not return 'self'",
        "end it with '-> ()'",
    ),
    Case(
        "out not last",
        "abs.out(Tensor self, *, Tensor(a!) out, int b=1) -> Tensor(a!)",
        "ops.yaml:1:53: error[E026] 'b' follows an output of abs.out",
        "the out arguments come last",
    ),
    Case(
        "out not returned",
        "abs.out(Tensor self, *, Tensor(a!) out) -> Tensor",
        "ops.yaml:1:9: error[E026] abs.out does not return its out arguments in order",
        "end it with '-> Tensor(a!)'; if it writes them besides giving results, write them in front of the '*'",
    ),
    Case(
        "outs in another order",
        "two.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> (Tensor(b!), Tensor(a!))",
        "ops.yaml:1:9: error[E026] two.out does not return its out arguments in order",
        "end it with '-> (Tensor(a!), Tensor(b!))'",
    ),
    Case(
        "one out not returned",
        "two.out(Tensor self, *, Tensor(a!) x, Tensor(b!) y) -> Tensor(a!)",
        "ops.yaml:1:9: error[E026] two.out does not return its out arguments in order",
        "end it with '-> (Tensor(a!), Tensor(b!))'",
    ),
    Case(
        "type too deep",
        f"f(Tensor{'?[]' * 300} x) -> Tensor",
        "ops.yaml:1:11: error[E021] such a deeply nested type",
        "such as Tensor?[]?, but no deeper",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_wrong_schema(case, tmp_path):
    write_project(tmp_path, ops=ENTRY.format(schema=case.text), derivatives="[]")
    check_case(case, tmp_path)

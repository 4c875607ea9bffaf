"""``python -m codegen new``: what it says about derivatives and dtypes, and what it knows of that from PyTorch."""

import pytest

from codegen.model import Location
from codegen.new.draft import Request
from codegen.new.plan import make_plan
from codegen.new.summary import report
from codegen.new.torch_dtypes import accepted_dtypes, dtype_word
from codegen.new.torch_facts import TorchDerivative, find_facts
from codegen.read.schema_parser import parse_schema
from codegen.read.yaml_source import Scalar
from tests.codegen.new_project import HYPOT, entry, facts_of, function, plan, write_small_project


@pytest.fixture
def project(tmp_path):
    return write_small_project(tmp_path)


# An op without an entry in derivatives.yaml, with what is known of it, and the reason that the report gives.
NO_DERIVATIVES = {
    "PyTorch has none": ("hypot", facts_of(*HYPOT), {}, "PyTorch has no derivative of it"),
    "composite": ("halve(Tensor self) -> Tensor", None, {"composite": True}, "the ops that it is written in are diff"),
    "no tensors": ("ramp(SymInt n) -> Tensor", None, {"family": "factory"}, "it takes no tensors"),
    "no results": ("tell(Tensor self) -> int", None, {}, "it returns no tensors"),
    "no gradients": (
        "hypot",
        facts_of(*HYPOT, derivatives={HYPOT[0].schema: TorchDerivative((), ())}),
        {},
        "none of its tensors has a gradient in PyTorch",
    ),
    "no differentiable outputs": (
        "hypot",
        facts_of(*HYPOT, derivatives={HYPOT[0].schema: TorchDerivative(("self",), (False,))}),
        {},
        "its outputs have no gradient in PyTorch",
    ),
    "as its relative": (
        "exponential(Tensor self) -> Tensor",
        None,
        {"after": "exp"},
        "exp, the op that is most like it, has none; if this one has, write it",
    ),
}


@pytest.mark.parametrize("name", NO_DERIVATIVES)
def test_the_report_says_why_there_is_no_derivative(name, project):
    text, facts, options, reason = NO_DERIVATIVES[name]
    found = plan(project, text, facts, **options)
    assert entry(found, "derivatives.yaml") == []
    assert f"\nno entry in derivatives.yaml: {reason}" in report(found)


# Ops of which some arguments, or all of them, have no gradient.
NAMES = [
    ("step(Tensor x) -> Tensor", ["  x: non_differentiable"], "float"),
    ("pick(Tensor self, Tensor index) -> Tensor", ["  self: grad", "  index: non_differentiable"], "all"),
    ("divisor(Tensor self, Tensor other) -> Tensor", [], "integral"),
]


@pytest.fixture
def project_of_names(project):
    with (project / "ops.yaml").open("a") as ops, (project / "derivatives.yaml").open("a") as derivatives:
        for schema, formulas, dtypes in NAMES:
            rules = f"  promotion: int_to_float\n  shape: broadcast\n  dtypes: {dtypes}\n  samples: unary\n"
            name = schema.partition("(")[0]
            ops.write(f"\n- func: {schema}\n  family: pointwise\n  dispatch: {{CPU: {name}}}\n{rules}")
            if formulas:
                derivatives.write("\n".join([f"\n- name: {schema}", *formulas, ""]))
    return project


@pytest.mark.parametrize("arguments", [["x"], ["x", "y"], ["index", "self"]])
def test_every_tensor_of_a_new_schema_gets_a_place(arguments, project_of_names):
    """Whatever arguments of that name are elsewhere."""
    found = plan(project_of_names, f"gain({', '.join(f'Tensor {name}' for name in arguments)}) -> Tensor")
    assert {f"  {name}: not_implemented" for name in arguments} <= set(entry(found, "derivatives.yaml"))


def test_a_name_that_mostly_has_no_gradient_is_a_guess_to_check(project_of_names):
    lines = report(plan(project_of_names, "gain(Tensor self, Tensor index) -> Tensor")).splitlines()
    guesses = {line.split(":")[0].strip(): "check it" in line for line in lines if "not_implemented" in line}
    assert guesses == {"self": False, "index": True, "result": False}


def test_an_op_of_integers_gets_no_places(project_of_names):
    found = plan(project_of_names, "divide(Tensor self, Tensor other) -> Tensor", after="divisor")
    assert entry(found, "derivatives.yaml") == []
    assert "no entry in derivatives.yaml: divisor, the op that is most like it, has none" in report(found)


def test_a_composite_op_of_pytorch_with_kernels_is_differentiable(project):
    facts = facts_of(function("hypot(Tensor self, Tensor other) -> Tensor", composite=True))
    assert "  self: not_implemented" in entry(plan(project, "hypot", facts, composite=False), "derivatives.yaml")


def test_the_parts_of_a_composite_op_that_are_missing(project):
    parts = ("_twice_forward", "_twice_backward", "_exp")
    facts = facts_of(
        function("twice(Tensor self) -> Tensor", composite=True),
        *(function(f"{name}(Tensor self) -> Tensor") for name in parts),
    )
    text = report(plan(project, "twice", facts))
    assert "  PyTorch's function calls _twice_forward: add that first, or give this op kernels" in text
    assert "PyTorch's function calls" not in report(plan(project, "twice", facts, composite=False))


# ---- dtypes ----


@pytest.mark.parametrize(
    ("schema", "options", "said"),
    [
        ("hypot(Tensor self, Tensor other) -> Tensor", {}, False),
        ("spread(Tensor self, int dim) -> Tensor", {"family": "reduction"}, True),
        ("spread(Tensor self, int dim) -> Tensor", {"family": "reduction", "composite": True}, False),
    ],
)
def test_the_report_says_when_no_shape_rule_is_known(project, schema, options, said):
    text = report(plan(project, schema, **options))
    assert ("'shape' and 'promotion' for tensors without data (docs/rules.md), or a Meta kernel" in text) == said


@pytest.mark.parametrize(
    ("facts", "names", "answer", "said"),
    [
        (facts_of(*HYPOT), False, None, "'real' for now: PyTorch could not be asked, it refuses every call with"),
        (facts_of(*HYPOT), False, frozenset(("float32",)), ""),
        (None, True, None, "'real' for now: PyTorch could not be asked, it is not installed"),
        (None, False, None, ""),
    ],
    ids=["refused", "answered", "not installed", "no op of PyTorch"],
)
def test_the_report_says_when_dtypes_are_a_guess(project, facts, names, answer, said):
    if names:
        (project / "docs/builder").mkdir(parents=True)
        (project / "docs/builder/pytorch_ops.txt").write_text("hypot hypot(Tensor self, Tensor other) -> Tensor\n")
    request = Request("hypot(Tensor self, Tensor other) -> Tensor")
    text = report(make_plan(project, request, facts, lambda schema: answer))
    assert ("could not be asked" in text) == bool(said)
    assert f"ops.yaml: 'dtypes', {said}" in text or not said


def test_dtypes_are_those_that_pytorch_takes(project):
    asked = []

    def ask(schema):
        asked.append(schema.full_name)
        return frozenset(("float32", "float64"))

    facts = facts_of(*HYPOT)
    assert "  dtypes: wide_float" in entry(make_plan(project, Request("hypot"), facts, ask))
    assert "  dtypes: real" in entry(make_plan(project, Request("hypot"), facts, lambda schema: None))
    make_plan(project, Request("twice(Tensor self) -> Tensor"), facts, ask)
    assert asked == ["hypot"]  # PyTorch knows nothing of the other one


@pytest.mark.parametrize(
    ("accepted", "word", "reason"),
    [
        ("float32 float64", "wide_float", "what PyTorch takes"),
        ("bool uint8 int8 int16 int32 int64", "integral", "what PyTorch takes"),
        ("int8 float32 float64", "wide_float", "check it: PyTorch takes int8, too"),
        ("bfloat16 float32 float64 complex64 complex128", "float_complex", "check it: PyTorch does not take float16"),
    ],
)
def test_the_word_for_dtypes(accepted, word, reason):
    assert dtype_word(frozenset(accepted.split())) == (word, reason)


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ("pdist(Tensor self, float p=2) -> Tensor", {"float32", "float64"}),
        ("complex(Tensor real, Tensor imag) -> Tensor", {"float16", "float32", "float64"}),
        ("no_such_op(Tensor self) -> Tensor", None),
    ],
)
def test_the_installed_pytorch_is_asked(schema, expected):
    if find_facts() is None:
        pytest.skip("PyTorch is not installed")
    assert accepted_dtypes(parse_schema(Scalar(schema, Location("a test", 1, 1)))) == expected

"""``python -m codegen new``: what it adds to the files, where, and what it refuses."""

import importlib.util

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.__main__ import main
from codegen.errors import InvalidInput
from codegen.load import load
from codegen.new.insertion import after_entry, after_heading, appended, at_end
from codegen.new.op_entry import scalar
from codegen.new.relatives import closest, entries, profile_of
from codegen.new.summary import report
from codegen.new.torch_facts import TorchDerivative, find_facts
from tests.codegen.new_project import HYPOT, OPS, SAMPLES, entry, facts_of, function, plan, write_small_project
from tests.codegen.project import clean, write_project
from tests.harness import model


@pytest.fixture
def project(tmp_path):
    return write_small_project(tmp_path)


def refusal(root, text, facts=None, **options):
    """The one diagnostic, its first line and its advice."""
    with pytest.raises(InvalidInput) as error:
        plan(root, text, facts, **options)
    (found,) = error.value.diagnostics
    return str(found).splitlines()[0], found.hint


# ---- the entries ----


def test_op_of_two_tensors(project):
    found = plan(project, "hypot(Tensor self, Tensor other) -> Tensor")
    assert entry(found) == [
        "- func: hypot(Tensor self, Tensor other) -> Tensor",
        "  family: pointwise",
        "  variants: function, method",
        "  autogen: inplace, out",
        "  promotion: int_to_float",
        "  shape: broadcast",
        "  dispatch: {CPU: hypot}",
        "  tags: pointwise",
        "  dtypes: real",
        "  samples: binary",
        "",
    ]
    assert entry(found, "derivatives.yaml") == [
        "- name: hypot(Tensor self, Tensor other) -> Tensor",
        "  self: not_implemented",
        "  other: not_implemented",
        "  result: not_implemented",
        "",
    ]


# A schema, options, lines that must be in the entry of ops.yaml, and those of derivatives.yaml.
ENTRIES = {
    "several outputs": (
        "mode.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        {},
        ["family: reduction", "shape: reduce", "dispatch: {CPU: mode_dim}", "samples: reduce_dim"],
        ["self: not_implemented", "values: not_implemented", "output_differentiability: [True, False]"],
    ),
    "a number more than its relative has": (
        "smooth(Tensor self, Tensor other, float by) -> Tensor",
        {},
        ["autogen: inplace, out", "promotion: int_to_float", "shape: broadcast", "dtypes: real", "samples: smooth"],
        ["self: not_implemented", "other: not_implemented"],
    ),
    "view": (
        "narrow_view(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
        {},
        ["family: view", "shape: view", "view: single"],
        [],
    ),
    "several views": (
        "halves(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
        {"family": "view"},
        ["view: multi", "samples: halves"],
        [],
    ),
    "list": (
        "join(Tensor[] tensors, int dim=0) -> Tensor",
        {"family": "view"},
        ["dispatch: {CPU: join}", "samples: join"],
        [],
    ),
    "factory": (
        "ramp(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None)"
        " -> Tensor",
        {"family": "factory"},
        ["family: factory", "factory: true", "dispatch: {CPU: ramp}"],
        [],
    ),
    "in place only": (
        "shuffle_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)",
        {"family": "random"},
        ["dispatch: {CPU: shuffle}"],
        ["self: not_implemented", "result: not_implemented"],
    ),
    "a function of ACLNN": (
        "celu(Tensor self, Scalar alpha=1.0) -> Tensor",
        {"family": "pointwise"},
        ["dispatch: {CPU: celu, NPU: celu}", "aclnn: aclnnCelu(self, alpha, out)"],
        [],
    ),
    "another function of that name": (
        "celu(Tensor self, Tensor other) -> Tensor",
        {"family": "pointwise"},
        ["dispatch: {CPU: celu}"],
        [],
    ),
    "composite": (
        "halve(Tensor self) -> Tensor",
        {"composite": True},
        ["composite: halve"],
        [],
    ),
    "an expression": (
        "halve(Tensor self) -> Tensor",
        {"composite": True, "decomposition": "exp(self)"},
        ["decomposition: exp(self)"],
        [],
    ),
    "text that YAML would misread": (
        "tell(Tensor self, str text='a: b') -> Tensor",
        {},
        ["- func: \"tell(Tensor self, str text='a: b') -> Tensor\""],
        [],
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_lines(name, project):
    schema, options, op_lines, derivative_lines = ENTRIES[name]
    found = plan(project, schema, **options)
    assert set(op_lines) <= {line.removeprefix("  ") for line in entry(found)}
    assert set(derivative_lines) <= {line.strip() for line in entry(found, "derivatives.yaml")}
    assert found.model.ops.keys() > load(project).ops.keys()


def test_after_decides_about_place_and_guesses(project):
    lines = (
        plan(project, "hypot(Tensor self, Tensor other) -> Tensor", after="max.dim").files.read("ops.yaml").split("\n")
    )
    place = lines.index("- func: hypot(Tensor self, Tensor other) -> Tensor")
    assert lines[place + 1] == "  family: reduction"
    assert lines[place - 2] == "  samples: reduce_dim"


RULES_TO_FIT = """
_SECOND_DTYPES = {"first_index": 1}


def reduce(promotion: str):
    def kernel(input: Any, dim: int, keepdim: bool = False, out: Any = None) -> Any:
        return _with_second(promotion, input.shape, input.dtype, out)

    return kernel


def broadcast(promotion: str): ...
def view(kernel): ...
"""
AMAX = """
- func: amax(Tensor self, int dim, bool keepdim=False) -> Tensor
  family: reduction
  variants: function, method
  autogen: out
  promotion: int_to_float
  shape: reduce
  dispatch: {CPU: amax}
  dtypes: real
  samples: reduce_dim
"""


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        (
            "rms(Tensor self, int dim) -> Tensor",
            ["variants: function, method", "autogen: out", "promotion: int_to_float", "shape: reduce", "dtypes: real"],
            ["'samples: reduce_dim', for they call an op with 2 arguments and keepdim=, and rms takes (input, dim)"],
        ),
        (
            "rms(Tensor self, int[] dims) -> Tensor",
            ["autogen: out", "dtypes: real"],
            [
                "'shape: reduce', for it takes an int 'dim' where rms has 'int[] dims'",
                "'samples: reduce_dim', for they call an op with 2 arguments and keepdim=, and rms takes (input, dims)",
            ],
        ),
    ],
)
def test_what_fits_is_taken_from_the_op_to_go_after(schema, taken, refused, tmp_path):
    """The types differ; what is left out is said."""
    root = write_small_project(tmp_path)
    (root / "ops.yaml").write_text(clean(OPS) + AMAX)
    (root / "mindtorch/backends/meta/rules.py").write_text(RULES_TO_FIT)
    samples = clean(SAMPLES) + "\n\n@samples\ndef reduce_dim(make):\n    yield call(make(2, 3), 0, keepdim=True)\n"
    (root / "tests/samples.py").write_text(samples.replace(" = reduce_dim", ""))
    found = plan(root, schema, after="amax")
    lines = {line.strip() for line in entry(found)}
    assert set(taken) <= lines
    assert ("shape: reduce" in lines) == ("shape: reduce" in taken)
    assert [line for line in report(found).splitlines() if line.startswith("not taken from amax: ")] == [
        f"not taken from amax: {text}" for text in refused
    ]


def test_nothing_is_taken_from_another_kind_of_op(project):
    found = plan(project, "rms(Tensor self, int k) -> Tensor", after="max.dim", composite=True)
    assert "nothing was taken from max.dim, which has kernels: it is another kind of op" in report(found)


def test_overloads_stay_together(project):
    exp, exp_base = "- func: exp(Tensor self)", "- func: exp.base(Tensor self, Scalar base) -> Tensor"
    text = (project / "ops.yaml").read_text()
    overload = f"{exp_base}\n  family: pointwise\n  composite: exp_base\n\n"
    (project / "ops.yaml").write_text(text.replace(exp, overload + exp))
    added = plan(project, "expo(Tensor self, Scalar base) -> Tensor", after="exp.base").files.read("ops.yaml")
    assert added.index(exp_base) < added.index(exp) < added.index("- func: expo(")


SIBLINGS = """
- func: atan2.Scalar(Tensor self, Scalar other, *, Scalar beta=1) -> Tensor
  family: pointwise
  variants: function, method
  composite: atan2_scalar

- func: atan2.Third(Tensor self, Tensor third) -> Tensor
  family: pointwise
  shape: none
  dispatch: {CPU: atan2_third}
  samples: binary
"""


@pytest.mark.parametrize(
    ("text", "after", "facts", "added"),
    [
        (
            "turn(Tensor self, Tensor angle) -> Tensor",
            "atan2",
            None,
            ["turn", "turn.Scalar(Tensor self, Scalar angle, *, Scalar beta=1) -> Tensor",
             "turn.Third(Tensor self, Tensor third) -> Tensor"],
        ),
        (
            "turn.Scalar(Tensor self, Tensor angle) -> Tensor",
            "atan2",
            None,
            ["turn.Scalar", "turn.Third(Tensor self, Tensor third) -> Tensor"],
        ),
        ("turn(Tensor self) -> Tensor", "atan2", None, ["turn"]),
        ("turn(Tensor self, Tensor angle) -> Tensor", None, None, ["turn"]),
        ("hypot(Tensor self, Tensor other) -> Tensor", "atan2", facts_of(*HYPOT), ["hypot"]),
    ],
    ids=["all", "but those that are there", "other types", "a guessed relative", "an op of PyTorch"],
)  # fmt: skip
def test_an_op_gets_the_overloads_of_the_one_that_it_goes_after(project, text, after, facts, added):
    with (project / "ops.yaml").open("a") as file:
        file.write(SIBLINGS)
    found = plan(project, text, facts, after=after)
    first, *others = added
    assert [each.name for each in found.added] == [first, *(name.partition("(")[0] for name in others)]
    assert [str(each.draft.schema) for each in found.added[1:]] == others


def test_an_overload_is_computed_as_its_model(project):
    with (project / "ops.yaml").open("a") as file:
        file.write(SIBLINGS)
    found = plan(project, "turn(Tensor self, Tensor angle) -> Tensor", after="atan2")
    text = found.files.read("ops.yaml")
    assert text.index("- func: turn(") < text.index("- func: turn.Scalar(") < text.index("- func: turn.Third(")
    assert found.model.ops["turn.Scalar"].composite == "turn_scalar"
    assert found.model.ops["turn.Scalar"].samples is None
    assert found.model.ops["turn.Third"].dispatch == {"CPU": "turn_third"}
    assert "def turn_scalar(input, angle, beta)" in found.files.read("mindtorch/composite/pointwise.py")


def test_first_op_of_a_family_goes_below_its_heading(project):
    heading = "# -------------------- random --------------------\n"
    path = project / "ops.yaml"
    path.write_text(path.read_text().replace("# -------------------- view", f"{heading}\n# -------------------- view"))
    text = plan(project, "noise(Tensor self) -> Tensor", family="random").files.read("ops.yaml")
    assert f"{heading}\n- func: noise(Tensor self) -> Tensor\n  family: random\n" in text


# ---- functions that are to be written ----


def test_sample_generator_and_composite_function_say_what_to_write(project):
    found = plan(
        project, "mix(Tensor self, Tensor[] others, float[2] weights, str? how=None) -> Tensor", composite=True
    )
    generator = found.files.read("tests/samples.py").removeprefix(clean(SAMPLES))
    assert generator.startswith("\n\n@samples\ndef mix(make):\n")
    assert "such as call(make(2, 3), [make(2, 3), make(2, 3)], [0.5], '...')" in generator
    (composite,) = [file for file in found.files.changed if file.startswith("mindtorch/composite/")]
    assert "def mix(input, others, weights, how):" in found.files.read(composite)
    assert f"write mix in {composite}: mix in terms of other ops" in found.files.read(composite)


def test_a_name_that_is_taken_is_not_used_for_the_kernel(project):
    assert "  dispatch: {CPU: exp_op}" in entry(plan(project, "_exp(Tensor self) -> Tensor", after="exp"))


# ---- from PyTorch ----


def test_variants_and_tags_are_those_of_pytorch(project):
    derivative = TorchDerivative(("self",), ())
    found = plan(project, "hypot", facts_of(*HYPOT, derivatives={HYPOT[0].schema: derivative}))
    assert {"  variants: function, method", "  autogen: inplace, out", "  tags: core, pointwise"} <= set(entry(found))
    assert "  other: non_differentiable" in entry(found, "derivatives.yaml")


@pytest.mark.parametrize("text", ["hypot", "aten::hypot", "torch.hypot", "torch.ops.aten.hypot.default"])
def test_spellings_of_a_name(project, text):
    assert [added.name for added in plan(project, text, facts_of(*HYPOT)).added] == ["hypot"]


def test_variants_that_do_not_follow_the_rule_are_written_out(project):
    odd = function("hypot.hypot_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
    lines = entry(plan(project, "hypot", facts_of(*HYPOT[:2], odd)))
    assert "  autogen: inplace" in lines
    assert f"  out: {odd.schema}" in lines


def test_overloads_are_added_together_and_one_of_them_alone(project):
    pair = [
        function(f"mode{end} -> Tensor", tags=("reduction",)) for end in ("(Tensor self)", ".dim(Tensor self, int dim)")
    ]
    assert [added.name for added in plan(project, "mode", facts_of(*pair)).added] == ["mode.dim", "mode"]
    assert [added.name for added in plan(project, "mode.dim", facts_of(*pair)).added] == ["mode.dim"]
    assert {op.family for op in plan(project, "mode", facts_of(*pair)).model.groups["mode"]} == {"pointwise"}


def test_overloads_that_are_listed_are_left_alone(project):
    both = [function(f"exp{end} -> Tensor") for end in ("(Tensor self)", ".base(Tensor self, Scalar base)")]
    found = plan(project, "exp", facts_of(*both))
    assert [added.name for added in found.added] == ["exp.base"]
    assert [op.name for op in found.listed] == ["exp"]


def test_composite_ops_and_modules_follow_pytorch(project):
    facts = facts_of(function("linalg_twice(Tensor self) -> Tensor", module="linalg", composite=True))
    lines = entry(plan(project, "linalg.twice", facts))
    assert {"  family: linalg", "  python_module: linalg", "  composite: linalg_twice"} <= set(lines)
    assert "  composite: linalg_twice" not in entry(plan(project, "linalg.twice", facts, composite=False))


def test_facts_of_the_installed_pytorch():
    facts = find_facts()
    if facts is None:
        pytest.skip("PyTorch is not installed")
    (functional,) = [each for each in facts.functions["hypot"] if each.full_name == "hypot"]
    assert set(functional.variants) == {"function", "method"} and functional.tags == ("pointwise",)
    assert not functional.is_composite
    assert facts.derivatives[functional.schema].arguments == ("self", "other")
    assert next(each.is_composite for each in facts.functions["diff"] if each.full_name == "diff")


def test_pytorch_need_not_be_installed(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert find_facts() is None


# ---- the variants that PyTorch has ----

LOGADDEXP = "logaddexp(Tensor self, Tensor other) -> Tensor"
MEDIAN = "median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"
LISTED_NAMES = "# The schemas\nlogaddexp\nlogaddexp.out\nmedian.dim core\nmedian.dim_values\n"


@pytest.mark.parametrize(
    ("schema", "lines", "others"),
    [
        (LOGADDEXP, {"  autogen: out"}, ("divergence", "inplace")),
        (MEDIAN, set(), ("divergence", "autogen")),
        (
            "twice(Tensor self) -> Tensor",
            {"  autogen: inplace, out", "  divergence: PyTorch has no such op"},
            (),
        ),
    ],
)
def test_names_of_pytorch_decide_about_variants(schema, lines, others, project):
    names = project / "docs/builder/pytorch_ops.txt"
    names.parent.mkdir(parents=True)
    names.write_text(LISTED_NAMES)
    found = entry(plan(project, schema))
    assert lines <= set(found)
    assert not [word for word in others if f"  {word}" in "\n".join(found)]


def test_a_schema_of_pytorch_is_as_good_as_its_name(project):
    by_schema, by_name = (entry(plan(project, text, facts_of(*HYPOT))) for text in (HYPOT[0].schema, "hypot"))
    assert by_schema == by_name
    assert "  tags: core, pointwise" in by_schema


def test_a_schema_that_is_not_pytorchs_is_left_alone(project):
    found = entry(plan(project, "hypot(Tensor self, Tensor y) -> Tensor", facts_of(*HYPOT)))
    assert "  tags: pointwise" in found


# ---- what is refused ----

LISTED = "it is listed in ops.yaml, line 16: change it there"
REFUSALS = {
    "no schema": ("f(Tensr self) -> Tensor", {}, "1:3: error[E021] unknown type 'Tensr'", "did you mean 'Tensor'?"),
    "namespace": ("aten::f(Tensr a) -> Tensor", {}, "1:9: error[E021] unknown type 'Tensr'", "did you mean 'Tensor'?"),
    "listed": ("exp(Tensor self) -> Tensor", {}, "1:1: error[E030] a second op 'exp'", LISTED),
    "listed variant": ("exp_(Tensor(a!) self) -> Tensor(a!)", {}, "1:1: error[E030] a second op 'exp_'", LISTED),
    "variant": (
        "select_.int(Tensor(a!) self, int dim, SymInt index) -> Tensor(a!)",
        {},
        "1:1: error[E111] 'select_.int' is a form of 'select.int', which is listed",
        "add 'autogen: inplace' to the entry in ops.yaml, line 38",
    ),
    "no such relative": (
        "f(Tensor self) -> Tensor",
        {"after": "atan"},
        "1:1: error[E112] no op 'atan' that a new one could go after",
        "did you mean 'atan2'?",
    ),
    "relative without its overload": (
        "f(Tensor self) -> Tensor",
        {"after": "max"},
        "1:1: error[E112] no op 'max' that a new one could go after",
        "did you mean 'max.dim'?",
    ),
    "misspelt relative without its overload": (
        "f(Tensor self) -> Tensor",
        {"after": "selec"},
        "1:1: error[E112] no op 'selec' that a new one could go after",
        "did you mean 'select.int'?",
    ),
    "relative with a wrong overload": (
        "f(Tensor self) -> Tensor",
        {"after": "max.dims"},
        "1:1: error[E112] no op 'max.dims' that a new one could go after",
        "did you mean 'max.dim'?",
    ),
    "relative unlike any op": (
        "f(Tensor self) -> Tensor",
        {"after": "xyzzy"},
        "1:1: error[E112] no op 'xyzzy' that a new one could go after",
        "ops.yaml lists them",
    ),
    "capitalised name": (
        "Gap(Tensor self) -> Tensor",
        {},
        "1:1: error[E028] 'Gap' cannot be the name of an op",
        "write 'gap': it starts with a small letter, behind '_' at most, and is no word of Python itself",
    ),
    "no such family": (
        "f(Tensor self) -> Tensor",
        {"family": "pointwize"},
        "1:1: error[E015] unknown family 'pointwize'",
        "did you mean 'pointwise'?",
    ),
    "no PyTorch": (
        "hypot",
        {},
        "1:1: error[E110] cannot look up 'hypot': PyTorch is not installed",
        "give the schema instead: new 'name(Tensor self) -> Tensor'",
    ),
}


def test_an_input_that_is_called_like_the_output(project):
    line, advice = refusal(project, "gap(Tensor self, Tensor out) -> Tensor")
    assert line.endswith(": error[E028] 'out' is what an output of gap.out is called")
    assert advice == "give the input another name, or remove the out= variant"


@pytest.mark.parametrize(
    ("schema", "variants", "function"),
    [
        ("__and__(Tensor self, Tensor other) -> Tensor", "function, method", "and_op"),
        ("gap(Tensor input) -> Tensor", None, "gap"),
        ("gap(Tensor[] self) -> Tensor", None, "gap"),
    ],
)
def test_names_that_python_would_not_take(project, schema, variants, function):
    """No kernel is called like a word of Python, and only a tensor that is called `self` makes a method."""
    lines = entry(plan(project, schema))
    assert [line for line in lines if "variants" in line] == [f"  variants: {variants}"] * (variants is not None)
    assert any(f"CPU: {function}" in line for line in lines)


def test_what_has_no_rule_says_so(project):
    """The key that the author has to look at is there."""
    assert "  shape: none" in entry(plan(project, "gap(Tensor[] tensors, int k) -> (Tensor, Tensor)"))


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name, project):
    text, options, error, advice = REFUSALS[name]
    option = next((f"the option --{name}" for name in options), "the command line")
    assert refusal(project, text, **options) == (f"{option}:{error}", advice)


def test_names_that_pytorch_does_not_have(project):
    facts = facts_of(*HYPOT)
    assert refusal(project, "hypott", facts) == (
        "the command line:1:1: error[E110] PyTorch has no op 'hypott'",
        "did you mean 'hypot'?",
    )
    assert refusal(project, "hypot.out", facts) == (
        "the command line:1:1: error[E110] PyTorch has no op 'hypot.out' to list on its own",
        "it has: hypot",
    )
    assert refusal(project, "hypot", facts_of(HYPOT[2])) == (
        "the command line:1:1: error[E110] PyTorch has 'hypot' only as an out= op",
        "give the schema instead: new 'name(Tensor self) -> Tensor'",
    )


def test_what_the_rules_refuse_is_not_written(project, capsys):
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    schema = "f(Tensor(a) self) -> Tensor"
    assert main(["new", schema], project) == 3
    assert "error[E024] the alias 'a' of 'self' is not returned" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before


# ---- the command ----


def test_command_writes_and_generates(project, capsys):
    assert main(["new", "hypot(Tensor self, Tensor other) -> Tensor"], project) == 0
    printed = capsys.readouterr().out
    assert "family: pointwise                             # as atan2, the op that is most like it: check it" in printed
    assert "\nupdated ops.yaml\nupdated derivatives.yaml\ncreated " in printed
    assert "  mindtorch/backends/cpu/pointwise.py: def hypot(input, other, out=None)\n" in printed
    assert (
        "  derivatives.yaml: the formulas of self, other, result (non_differentiable where there is none)\n" in printed
    )
    assert 'python -m pytest tests/ops -k "hypot"' in printed
    assert "def hypot(" in (project / "generated/ops/pointwise.py").read_text()
    assert main(["check"], project) == 0


def test_command_has_no_notes_on_other_ops(project, capsys):
    kernels = project / "mindtorch/backends/cpu/pointwise.py"
    kernels.parent.mkdir(parents=True)
    kernels.write_text("def atan2(input, other, out=None): ...\n")
    assert main(["new", "hypot(Tensor self, Tensor other) -> Tensor"], project) == 0
    assert "note: " not in capsys.readouterr().out
    assert main(["write"], project) == 0
    assert "note: exp has no CPU kernel 'exp'" in capsys.readouterr().out


def test_decomposition_needs_no_function(project):
    assert main(["new", "halve(Tensor self) -> Tensor", "--decomposition", "exp(self)"], project) == 0
    assert "  decomposition: exp(self)\n" in (project / "ops.yaml").read_text()
    assert not (project / "mindtorch/composite/pointwise.py").exists()
    assert "return ops.exp(input)" in (project / "generated/ops/pointwise.py").read_text()


def test_wrong_decomposition_is_refused(project, capsys):
    before = (project / "ops.yaml").read_text()
    assert main(["new", "halve(Tensor self) -> Tensor", "--decomposition", "exp(sefl)"], project) == 3
    assert "error[E061] unknown name 'sefl'" in capsys.readouterr().err
    assert (project / "ops.yaml").read_text() == before


def test_composite_function_goes_to_a_new_file(project):
    assert main(["new", "halve(Tensor self) -> Tensor", "--composite"], project) == 0
    text = (project / "mindtorch/composite/pointwise.py").read_text()
    assert text.startswith('"""The pointwise ops that are written in other ops."""\n\n\ndef halve(input):\n')


def test_dry_run_writes_nothing_and_prints_a_patch(project, capsys):
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert main(["new", "hypot(Tensor self, Tensor other) -> Tensor", "--dry-run"], project) == 0
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == before
    assert "--- a/ops.yaml\n+++ b/ops.yaml\n" in capsys.readouterr().out


def test_no_generate_writes_the_input_files_only(project):
    assert main(["new", "hypot(Tensor self, Tensor other) -> Tensor", "--no-generate"], project) == 0
    assert "hypot" in load(project).ops
    assert not (project / "generated").exists()


# ---- nothing else changes ----


@settings(max_examples=25, deadline=None)
@given(
    newline=st.sampled_from(["\n", "\r\n"]),
    mark=st.sampled_from(["", "\ufeff"]),
    blank=st.sampled_from(["", "\n"]),
    end=st.sampled_from(["", "\n", "\n\n", "\n# é\n", "\n\n# \u2028# two\n"]),
    name=st.sampled_from(["atan2", "exp", "max.dim", "select.int"]),
)
def test_taking_the_new_lines_out_gives_the_old_file(tmp_path_factory, newline, mark, blank, end, name):
    root = tmp_path_factory.mktemp("project")
    write_project(root, OPS, "[]")
    text = mark + clean(OPS).rstrip().replace("\n\n", f"\n{blank}").replace("\n", newline) + end.replace("\n", newline)
    (root / "ops.yaml").write_bytes(text.encode())
    found = plan(root, "f(Scalar n) -> Scalar", after=name)
    new = found.files.read("ops.yaml")
    start = next(i for i, (a, b) in enumerate(zip(text + "\0", new + "\1")) if a != b)
    assert text == new[:start] + new[start + len(new) - len(text) :]
    assert newline == "\n" or "\n" not in new.replace("\r\n", "")
    assert found.model.ops["f"].dispatch


@pytest.mark.parametrize("text", ["a = 1\n", "a = 1", "a = 1\r\n"])
def test_definitions_are_appended_in_the_style_of_the_file(text):
    end = "\r\n" if "\r" in text else "\n"
    assert appended(text, "\n\ndef f(): ...\n") == f"a = 1{end}{end}{end}def f(): ...{end}"


TWO = "- a: 1\n  b: 2\n\n# next\n- a: 3\n"


@pytest.mark.parametrize(
    ("insertion", "result"),
    [
        (after_entry(TWO, 1, [1, 5], "- new"), "- a: 1\n  b: 2\n\n- new\n\n# next\n- a: 3\n"),
        (after_entry(TWO, 5, [1, 5], "- new"), "- a: 1\n  b: 2\n\n# next\n- a: 3\n\n- new\n"),
        (after_heading(TWO, "next", "- new"), "- a: 1\n  b: 2\n\n# next\n- new\n- a: 3\n"),
        (after_entry("- a: 1\n- a: 2\n", 1, [1, 2], "- new\n  b: 2"), "- a: 1\n- new\n  b: 2\n- a: 2\n"),
        (at_end("", "- new"), "- new\n"),
        (at_end("# only a comment", "- new"), "# only a comment\n\n- new"),
    ],
)
def test_places(insertion, result):
    text = (
        TWO
        if "next" in result
        else {"- a: 1\n- n": "- a: 1\n- a: 2\n", "- new\n": ""}.get(result[:10], "# only a comment")
    )
    assert insertion.into(text) == result


@pytest.mark.parametrize("text", ["f(Tensor self) -> Tensor", "a: b", "- a", "it's 'a': b", '"x": y', "a #b", "é: é"])
def test_scalars_are_read_back(text):
    assert yaml.safe_load(f"key: {scalar(text)}") == {"key": text}


# ---- guesses ----


def test_the_family_of_most_listed_ops_would_be_guessed():
    """Ops are taken out, one at a time, and their families guessed from the others."""
    listed, tried = entries(model()), entries(model())[::9]
    found = {
        op.name: closest(profile_of(op, model()), model(), [each for each in listed if each is not op]) for op in tried
    }
    right = sum(found[op.name].op.family == op.family for op in tried)
    assert right > 0.75 * len(tried)

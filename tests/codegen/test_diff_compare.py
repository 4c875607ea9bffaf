"""The comparison of two states: what counts as a change, renames, order, marks, and the calls that are shown."""

import ast
from dataclasses import replace

import pytest

import mindtorch
from codegen.diff import calls
from codegen.diff.compare import compare
from codegen.diff.marks import mark
from codegen.diff.report import Verdict
from codegen.diff.state import State, state_of
from codegen.load import load
from tests.codegen.diff_project import DERIVATIVES, EXP, EXP_DERIVATIVE, OPS, TODAY, write_case
from tests.codegen.mutations import parse
from tests.codegen.project import load_project
from tests.harness import model

EXP_ENTRY = f"\n{EXP}"


def snapshot(name, *schemas):
    parsed = [parse(text) for text in schemas]
    return State(name, {schema.full_name: schema for schema in parsed})


def codes(report):
    return [f"{change.op} {' '.join(f.rule.code for f in change.findings)}" for change in report.changes]


def between(old, new):
    return compare(snapshot("old", *old), snapshot("new", *new), TODAY)


@pytest.fixture
def judge(tmp_path):
    """A function that compares the project before and after some edits."""

    def judged(*edits):
        base, head = load(write_case(tmp_path / "old")), load(write_case(tmp_path / "new", edits))
        return compare(state_of("old", base), state_of("new", head), TODAY)

    return judged


# -------------------- what is no change --------------------


def test_a_state_does_not_differ_from_itself(judge):
    assert judge().changes == ()
    report = compare(state_of("a", model()), state_of("b", model()), TODAY)
    assert (report.changes, report.unchanged, report.verdict) == ((), len(model().ops), Verdict.text)


def test_moves_and_comments_are_no_change(tmp_path):
    entries = OPS.strip().split("\n\n")
    moved = "# A comment.\n" + "\n\n\n".join(reversed(entries)) + "\n"
    derivatives = "\n\n".join(reversed(DERIVATIVES.strip().split("\n\n"))) + "\n"
    old, new = load_project(tmp_path / "old", OPS, DERIVATIVES), load_project(tmp_path / "new", moved, derivatives)
    assert compare(state_of("old", old), state_of("new", new), TODAY).changes == ()


def test_a_variant_may_be_written_out(judge):
    out = "  out: mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)\n"
    assert judge(("  autogen: inplace, out\n", "  autogen: inplace\n" + out)).changes == ()


def test_a_renamed_argument_does_not_change_formulas(judge):
    report = judge(
        ("select.int(Tensor(a) self, int dim, int index)", "select.int(Tensor(a) self, int dim, int position)"),
        ("multiply(grad, index)\n", "multiply(grad, position)\n"),
    )
    assert codes(report) == ["select.int S018"]


# -------------------- renamed ops --------------------


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (["sum(Tensor self) -> Tensor"], ["sums(Tensor self) -> Tensor"], ["sum S003"]),
        (["sum(Tensor self) -> Tensor"], ["relu(Tensor self) -> Tensor"], ["relu S002", "sum S001"]),
        (["sum(Tensor self) -> Tensor"], ["sums(Tensor self, int dim) -> Tensor"], ["sums S002", "sum S001"]),
        (["sum_(Tensor(a!) self) -> Tensor(a!)"], ["sum(Tensor(a!) self) -> Tensor(a!)"], ["sum S002", "sum_ S001"]),
        (["f.a(Tensor self) -> Tensor"], ["f.quite_another(Tensor self) -> Tensor"], ["f.a S004 P001"]),
        (
            ["add(Tensor self) -> Tensor", "added(Tensor self) -> Tensor"],
            ["adder(Tensor self) -> Tensor", "add_up(Tensor self) -> Tensor"],
            ["add S003", "added S003"],
        ),
    ],
)
def test_renames(old, new, expected):
    assert sorted(codes(between(old, new))) == sorted(expected)


def test_a_renamed_op_is_compared_further(judge):
    report = judge(
        ("select.int(Tensor(a) self", "select_dim.int(Tensor(a) self"),
        ("  self: multiply(grad, index)\n", "  self: multiply(grad, dim)\n"),
        ("  view: single\n", "  view: single\n  tags: view_copy\n"),
    )
    assert codes(report) == ["select.int S003 N001 D012 M003 M004 G004"]
    assert report.changes[0].new_schema.text.startswith("select_dim.int(")


def test_variants_of_a_renamed_op_are_renamed(judge):
    report = judge(("mul.Tensor", "multiply.Tensor"))
    assert codes(report) == ["mul.Tensor S003 N001"]
    message, _ = (finding.message for finding in report.changes[0].findings)
    assert message == "the op is now called `multiply.Tensor`; the same for `mul_.Tensor`, `mul.out`"


# -------------------- reports --------------------


def test_the_worst_comes_first_and_then_the_order_of_the_file(judge):
    report = judge(
        ("float scale=1)", "float scale=1.0)"),
        ("int dim=0)", "int dim=0, *, bool copy=True)"),
        ("int[1] dim", "int[1]? dim"),
        ("Scalar fill_value, *,", "Scalar value, *,"),
        ("tags: core, pointwise", "tags: pointwise"),
        (EXP_ENTRY, ""),
        (f"\n{EXP_DERIVATIVE}", ""),
    )
    assert [(change.op, str(change.verdict)) for change in report.changes] == [
        ("mul.Tensor", "breaking"),
        ("full", "breaking"),
        ("exp", "breaking"),
        ("sum.dim", "forward-only"),
        ("cat", "compatible"),
        ("dropout", "text"),
    ]
    assert report.unchanged == judge().unchanged - 6
    assert [change.family for change in report.changes][:3] == ["pointwise", "factory", "pointwise"]


def test_several_changes_of_one_op_are_several_findings(judge):
    report = judge(
        (
            "sum.dim(Tensor self, int[1] dim, bool keepdim=False, *,",
            "sum.dim(Tensor self, int[1]? axis, bool keepdim=True, *,",
        ),
        ("float? scale=None", "float? scale=None, bool exact=False"),
    )
    assert codes(report) == ["sum.dim S018 S040 S020 S012"]


def test_snapshots_are_judged_by_their_schemas_alone(judge):
    report = between(
        ["sum(Tensor self, int[1] dim) -> Tensor", "fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)"],
        ["sum(Tensor self, int[] dim) -> Tensor", "fill_(Tensor(a!) self, Scalar fill) -> Tensor(a!)"],
    )
    assert [f.caller for change in report.changes for f in change.findings] == [
        "`torch.sum(x, dim=0)` stops working",
        "`x.fill_(value=2)` by keyword stops working",
    ]
    assert [note.partition(" ")[0] for note in report.notes] == ["old", "new"]


def test_derivatives_that_come_from_parts_are_no_loss(judge):
    """A composite op is differentiated through what it is made of."""
    explicit = ("composite: square", "dispatch: {CPU: square}")
    entry = "\n- name: square(Tensor self) -> Tensor\n  self: grad * self\n"
    assert codes(judge(explicit)) == ["square D002 B010"]
    assert codes(judge(explicit, (EXP_DERIVATIVE, EXP_DERIVATIVE + entry))) == ["square B010"]


def test_an_in_place_variant_that_gets_an_entry_of_its_own_is_compared(judge):
    own = """
- func: mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)
  family: pointwise
  variants: method
  dispatch: {CPU: mul_}
"""
    report = judge(
        ("autogen: inplace, out", "autogen: out"), ("__mul__, __imul__", "__mul__"), (EXP_ENTRY, EXP_ENTRY + own)
    )
    (change,) = report.changes
    assert change.op == "mul_.Tensor"
    assert {"D002", "B001", "T003", "P030"} <= {finding.rule.code for finding in change.findings}


# -------------------- marks --------------------


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("int dim", "int dim", ("int dim", "int dim")),
        ("int dim=0", "int axis=0", ("int [dim]=0", "int [axis]=0")),
        ("int[1] a", "int[] a", ("int[[1]] a", "int[] a")),
        ("a, b", "a, c, b", ("a, b", "a, [c, ]b")),
        ("", "x", ("", "[x]")),
        ("float a=0.5", "float a=0.25", ("float a=[0.5]", "float a=[0.25]")),
        ("one two three", "four five six", ("[one two three]", "[four five six]")),
        ("é + ☃", "é - ☃", ("é [+] ☃", "é [-] ☃")),
    ],
)
def test_marks(old, new, expected):
    assert tuple(map(bracketed, mark(old, new))) == expected


def bracketed(marked):
    text, position = "", 0
    for start, end in marked.spans:
        text += f"{marked.text[position:start]}[{marked.text[start:end]}]"
        position = end
    return text + marked.text[position:]


# -------------------- calls --------------------


def ops():
    return list(model().ops.values())


def test_calls_are_python():
    for op in ops():
        for argument in op.schema.inputs:
            ast.parse(calls.keyword_call(op, op.schema, argument))
            ast.parse(calls.positional_call(op, op.schema, argument))
            ast.parse(calls.plain_call(None, op.schema))


def test_calls_name_functions_that_there_are():
    names = {calls.plain_call(op, op.schema).partition("(")[0] for op in ops() if not op.hidden}
    names = {name for name in names if not name.startswith("torch.nn.")}  # some have another name for users
    found = {"torch": mindtorch, "x": mindtorch.ones(2)}
    assert [name for name in names if not resolves(name, found)] == []


def resolves(name, found):
    value, *rest = name.split(".")
    value = found[value]
    for part in rest:
        if not hasattr(value, part):
            return False
        value = getattr(value, part)
    return True


@pytest.mark.parametrize(
    ("schema", "argument", "by_keyword", "by_position"),
    [
        ("f(Tensor self, int dim, int index) -> Tensor", "dim", "torch.f(x, dim=0, index=2)", "torch.f(x, 0, index=2)"),
        ("f(Tensor self, bool a=True) -> Tensor", "a", "torch.f(x, a=False)", "torch.f(x, False)"),
        ("f(Tensor[] a, *, str b='sum') -> Tensor", "b", "torch.f([x, y], b='sum')", "torch.f([x, y], b='sum')"),
        ("f(Tensor? lambda, float p) -> Tensor", "p", "torch.f(lambda_, p=0.5)", "torch.f(lambda_, 0.5)"),
        ("f_(Tensor(a!) self, Scalar v) -> Tensor(a!)", "v", "x.f_(v=2)", "x.f_(2)"),
        ("f(int[] a, *, Device? b, Tensor(z!) out) -> Tensor(z!)", "a", 'torch.f(a=(2, 2), b="cpu", out=out)',
         'torch.f((2, 2), b="cpu", out=out)'),
        ("f(Tensor self, *, Tensor(y!) p, Tensor(z!) q) -> Tensor(y!)", "self", "torch.f(input=x, out=(p, q))",
         "torch.f(x, out=(p, q))"),
    ],
)  # fmt: skip
def test_calls(schema, argument, by_keyword, by_position):
    parsed = parse(schema)
    chosen = parsed.argument(argument)
    assert calls.keyword_call(None, parsed, chosen) == by_keyword
    assert calls.positional_call(None, parsed, chosen) == by_position


def test_methods_are_called_on_the_tensor():
    op = next(op for op in ops() if op.name == "sum.dim_IntList")
    assert calls.plain_call(op, op.schema) == "x.sum(0)"
    function_only = replace(op, variants=("function",))
    assert calls.plain_call(function_only, op.schema) == "torch.sum(x, 0)"

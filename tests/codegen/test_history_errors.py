"""Entries whose `deprecated` or `versions` break a rule."""

import pytest

from tests.codegen.project import Case, check_case, diagnostics, load_project, write_project

TOLD_APART = "old calls have more positional arguments, fewer than are required, or other names"
WRITE_A_CALL = "write a call of the op, its arguments made from those of the old call"


def deprecated(new, old, replacement="f(self)", since="0.2.0", removal="0.4.0"):
    """An op with one deprecated call. The lines of that begin with line 5."""
    lines = [f"- func: {new}", "  family: pointwise", "  dispatch: {CPU: f}", "  deprecated:"]
    lines += [f"    - func: {old}", f"      since: {since}", f"      replacement: {replacement}"]
    return "\n".join(lines + ([f"      removal: {removal}"] if removal else [])) + "\n"


def versions(new, *olds):
    """An op with old versions: (number, schema, upgrade). The lines of the first one begin with line 5."""
    lines = [f"- func: {new}", "  family: pointwise", "  dispatch: {CPU: f}", "  versions:"]
    for number, schema, upgrade in olds:
        lines += [f"    - version: {number}", f"      func: {schema}", f"      upgrade: {upgrade}"]
    return "\n".join(lines) + "\n"


FIRST = (1, "f(Tensor self, int b) -> Tensor", "f(self, b)")

CASES = (
    # The form of the values.
    Case(
        "no list",
        "- func: f(Tensor self) -> Tensor\n  family: pointwise\n  dispatch: {CPU: f}\n  deprecated: g\n",
        "ops.yaml:4:15: error[E014] 'deprecated' must be a list of mappings",
        "write below it, indented: '- func: ...'",
    ),
    Case(
        "an empty list",
        "- func: f(Tensor self) -> Tensor\n  family: pointwise\n  dispatch: {CPU: f}\n  versions: []\n",
        "ops.yaml:4:13: error[E014] 'versions' must be a list of mappings",
        "write below it, indented: '- version: ...'",
    ),
    Case(
        "a list of words",
        "- func: f(Tensor self) -> Tensor\n  family: pointwise\n  dispatch: {CPU: f}\n  deprecated: [g]\n",
        "ops.yaml:4:16: error[E014] 'deprecated' must be a list of mappings",
        "write '- func: ...'",
    ),
    Case(
        "a release that is none",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", since="soon"),
        "ops.yaml:6:14: error[E014] 'since' must be a version such as 0.2.0",
        "it is the version that deprecated the call, or torch where PyTorch did",
    ),
    Case(
        "torch removes nothing",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", removal="torch"),
        "ops.yaml:8:16: error[E014] 'removal' must be a version such as 0.2.0",
        "it is the version that no longer takes the call",
    ),
    Case(
        "a number that is none",
        versions("f(Tensor self) -> Tensor", ("first", "f(Tensor self) -> Tensor", "f(self)")),
        "ops.yaml:5:16: error[E014] 'version' must be a whole number from 1",
        "it is the number of the old version; the first one is 1",
    ),
    Case(
        "an unknown key",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor") + "      reason: x\n",
        "ops.yaml:9:7: error[E012] unknown key 'reason'",
        "the keys are listed at the head of the file",
    ),
    Case(
        "a missing key",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor").replace("      replacement: f(self)\n", ""),
        "ops.yaml:5:7: error[E013] the entry has no 'replacement'",
        "add 'replacement': the new call, an expression over the old arguments",
    ),
    Case(
        "an old schema that is none",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self, in b) -> Tensor"),
        "ops.yaml:5:28: error[E021] unknown type 'in'",
        "did you mean 'int'?",
    ),
    # Releases.
    Case(
        "no removal",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", removal=None),
        "ops.yaml:6:14: error[E090] a deprecated call has no 'removal'",
        "add 'removal': the release that no longer takes the call",
    ),
    Case(
        "removed before it is deprecated",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", since="0.10.0", removal="0.9"),
        "ops.yaml:8:16: error[E090] the removal in 0.9 does not come after 0.10.0",
        "callers need a release that warns them",
    ),
    Case(
        "removed in the release that deprecates",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", since="0.2", removal="0.2.0"),
        "ops.yaml:8:16: error[E090] the removal in 0.2.0 does not come after 0.2",
        "callers need a release that warns them",
    ),
    Case(
        "a date for PyTorch",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", since="torch"),
        "ops.yaml:8:16: error[E090] PyTorch does not say when it removes a call",
        "remove 'removal'",
    ),
    # Old and new calls.
    Case(
        "the same call",
        deprecated("f(Tensor self, int a) -> Tensor", "f(Tensor self, int a) -> Tensor", "f(self, a)"),
        "ops.yaml:5:13: error[E092] a call of f(self, a) cannot be told from one of (self, a)",
        TOLD_APART,
    ),
    Case(
        "arguments in another order",
        deprecated(
            "f(Tensor self, int a, float b) -> Tensor", "f(Tensor self, float b, int a) -> Tensor", "f(self, a, b)"
        ),
        "ops.yaml:5:13: error[E092] a call of f(self, b, a) cannot be told from one of (self, a, b)",
        TOLD_APART,
    ),
    Case(
        "another name and another type",
        deprecated("f(Tensor self, int a) -> Tensor", "f(Tensor self, float b) -> Tensor", "f(self, int(b))"),
        "ops.yaml:5:13: error[E092] a call of f(self, b) cannot be told from one of (self, a)",
        TOLD_APART,
    ),
    Case(
        "more ints where the op takes separate ones",
        deprecated("f(Tensor self, int[] size) -> Tensor", "f(Tensor self, int a, int b) -> Tensor", "f(self, [a, b])"),
        "ops.yaml:5:13: error[E092] a call of f(self, a, b) cannot be told from one of (self, size)",
        TOLD_APART,
    ),
    Case(
        "the name of an op",
        "- func: g(Tensor self) -> Tensor\n  family: pointwise\n  dispatch: {CPU: g}\n"
        + deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor"),
        "ops.yaml:8:13: error[E092] there is an op 'g'",
        "a name is deprecated when no op has it any more",
    ),
    Case(
        "given twice",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor")
        + "    - {func: g(Tensor self) -> Tensor, since: torch, replacement: f(self)}\n",
        "ops.yaml:9:14: error[E096] a second deprecated call of g",
        "it is already listed on line 5",
    ),
    Case(
        "an op that is not called from Python",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor") + "  python: hidden\n",
        "ops.yaml:5:13: error[E040] f has no Python signature, so no call of it can be deprecated",
        "list the call with the op that Python callers reach",
    ),
    # Expressions.
    Case(
        "no Python",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", "f(self"),
        "ops.yaml:7:20: error[E093] the replacement is not an expression: '(' was never closed",
        WRITE_A_CALL,
    ),
    Case(
        "a part of Python that binds names",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", "f([s for s in self][0])"),
        "ops.yaml:7:20: error[E093] the replacement is not an expression: it cannot have a ListComp",
        WRITE_A_CALL,
    ),
    Case(
        "a number that cannot be written",
        deprecated("f(Tensor self, int a) -> Tensor", "f(Tensor self) -> Tensor", f"f(self, 0x{'f' * 5000})"),
        "ops.yaml:7:20: error[E093] the replacement is not an expression: it is too large",
        WRITE_A_CALL,
    ),
    Case(
        "an unknown name",
        deprecated("f(Tensor self, int size) -> Tensor", "f(Tensor self, int shape) -> Tensor", "f(self, shap)"),
        "ops.yaml:7:20: error[E093] unknown name 'shap' in the replacement",
        "did you mean 'shape'?",
    ),
    Case(
        "an unknown function",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", "f(wrap(self))"),
        "ops.yaml:7:20: error[E093] unknown function 'wrap' in the replacement",
        "names are the old arguments, ops and Python builtins",
    ),
    Case(
        "no call of an op",
        deprecated("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", "self"),
        "ops.yaml:7:20: error[E094] the replacement calls no op",
        "write a call of f",
    ),
    Case(
        "an argument that the op has not",
        deprecated("f(Tensor self) -> Tensor", "f(Tensor self, int a) -> Tensor", "f(self, a)"),
        "ops.yaml:7:20: error[E094] the replacement does not give f the arguments that it takes",
        "it is f(Tensor self) -> Tensor",
    ),
    Case(
        "a required argument left out",
        deprecated("f(Tensor self, int a, *, int b) -> Tensor", "f(Tensor self) -> Tensor", "f(self, a=1)"),
        "ops.yaml:7:20: error[E094] the replacement does not give f the arguments that it takes",
        "it is f(Tensor self, int a, *, int b) -> Tensor",
    ),
    Case(
        "self by keyword only",
        deprecated("f(Tensor self) -> Tensor", "f(*, Tensor self, int b) -> Tensor"),
        "ops.yaml:5:25: error[E097] 'self' of an old call is keyword-only",
        "write it in front of the '*'",
    ),
    # Versions.
    Case(
        "does not begin with 1",
        versions("f(Tensor self, int b) -> Tensor", (2, "f(Tensor self) -> Tensor", "f(self, 1)")),
        "ops.yaml:6:13: error[E095] version 2 of f where version 1 is expected",
        "list the old versions in order, from 1, none left out",
    ),
    Case(
        "a number left out",
        versions("f(Tensor self, int b) -> Tensor", FIRST, (3, "f(Tensor self, int b) -> Tensor", "f(self, b)")),
        "ops.yaml:9:13: error[E095] version 3 of f where version 2 is expected",
        "list the old versions in order, from 1, none left out",
    ),
    Case(
        "an upgrade to the wrong version",
        versions(
            "f(Tensor self, int b, int c) -> Tensor",
            (1, "f(Tensor self) -> Tensor", "f(self, 1, 2)"),
            (2, "f(Tensor self, int b) -> Tensor", "f(self, b, 2)"),
        ),
        "ops.yaml:7:16: error[E094] the upgrade does not give f the arguments that it takes",
        "it is f(Tensor self, int b) -> Tensor",
    ),
    Case(
        "the version of another op",
        "- func: g(Tensor self) -> Tensor\n  family: pointwise\n  dispatch: {CPU: g}\n"
        + versions("f(Tensor self) -> Tensor", (1, "g(Tensor self) -> Tensor", "f(self)")),
        "ops.yaml:9:13: error[E096] g has a version 1 of its own",
        "saved programs could mean either of the two",
    ),
    Case(
        "a version of two ops",
        versions("f(Tensor self) -> Tensor", (1, "h(Tensor self) -> Tensor", "f(self)"))
        + versions("g(Tensor self) -> Tensor", (1, "h(Tensor self) -> Tensor", "g(self)")),
        "ops.yaml:13:13: error[E096] a second version 1 of h",
        "it is already listed on line 6",
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_message(case, tmp_path):
    check_case(case, write_project(tmp_path, case.text, "[]"))


@pytest.mark.parametrize(("release", "is_over"), [("0.3.9", False), ("0.4", True), ("0.4.0", True), ("0.10.0", True)])
def test_a_call_whose_time_is_over(tmp_path, release, is_over):
    ops = deprecated("f(Tensor self) -> Tensor", "g(Tensor self, int a) -> Tensor")
    root = write_project(tmp_path, ops, "[]")
    (root / "pyproject.toml").write_text(f'[project]\nname = "mindtorch"\nversion = "{release}"\n')
    found = [(str(each).splitlines()[0], each.hint) for each in diagnostics(root)]
    error = f"ops.yaml:8:16: error[E091] this is {release}, which no longer takes g(self, a)"
    assert found == ([(error, "remove it from 'deprecated' of f")] if is_over else [])


RIGHT = {
    "renamed op": ("f(Tensor self) -> Tensor", "g(Tensor self) -> Tensor", "f(self)"),
    "renamed argument": ("f(Tensor self, int[] a) -> Tensor", "f(Tensor self, int[] b) -> Tensor", "f(self, b)"),
    "positional alpha": (
        "f(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "f(Tensor self, Scalar alpha, Tensor other) -> Tensor",
        "f(self, other, alpha=alpha)",
    ),
    "an argument less": ("f(Tensor self) -> Tensor", "f(Tensor self, bool exact=False) -> Tensor", "f(self)"),
    "an argument more": ("f(Tensor self, int dim) -> Tensor", "f(Tensor self) -> Tensor", "f(self, self.ndim - 1)"),
    "two calls": ("f(Tensor self) -> Tensor", "f(Tensor self, bool b) -> Tensor", "f(f(self)) if b else f(self)"),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_entries(tmp_path, name):
    new, old, replacement = RIGHT[name]
    (form,) = load_project(tmp_path, deprecated(new, old, replacement), "[]").ops["f"].deprecated
    assert (str(form.schema), form.expression.text) == (old, replacement)
    assert (form.since.text, form.removal.text) == ("0.2.0", "0.4.0")


def test_variants_have_the_past_of_their_op(tmp_path):
    ops = deprecated("f(Tensor self, int b) -> Tensor", "f(Tensor self, int c) -> Tensor", "f(self, c)")
    ops += "  autogen: inplace, out\n  versions:\n"
    ops += "    - {version: 1, func: f(Tensor self) -> Tensor, upgrade: 'f(self, 1)'}\n"
    model = load_project(tmp_path, ops.replace("f(Tensor", "f.x(Tensor", 1), "[]")
    variants = [model.ops[name] for name in ("f.x", "f_.x", "f.x_out")]
    assert [op.version for op in variants] == [2, 2, 2]
    assert [[str(form.schema) for form in op.deprecated] for op in variants] == [
        ["f(Tensor self, int c) -> Tensor"],
        ["f_(Tensor(a!) self, int c) -> Tensor(a!)"],
        ["f.x_out(Tensor self, int c, *, Tensor(a!) out) -> Tensor(a!)"],
    ]
    assert [[str(form.schema) for form in op.versions] for op in variants] == [
        ["f(Tensor self) -> Tensor"],
        ["f_(Tensor(a!) self) -> Tensor(a!)"],
        ["f.x_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"],
    ]


def test_an_expression_that_is_more_than_a_call_on_self_is_not_for_variants(tmp_path):
    ops = deprecated("f(Tensor self) -> Tensor", "f(Tensor self, int a) -> Tensor", "f(f(self))")
    model = load_project(tmp_path, f"{ops}  autogen: inplace\n", "[]")
    assert len(model.ops["f"].deprecated) == 1
    assert model.ops["f_"].deprecated == ()

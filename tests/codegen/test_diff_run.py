"""`diff --run`: both states are run on samples, and what comes out is compared. Without it nothing is run."""

import os
import re
import shutil
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from codegen.__main__ import main
from codegen.diff.report import Report
from codegen.diff.rules import RULES
from codegen.diff.run import comparison
from codegen.diff.run.checkouts import CannotRun, generate
from codegen.diff.run.differences import differences
from codegen.diff.run.plan import _task, make_plan
from codegen.diff.run.process import Side
from tests import daily
from tests.codegen.diff_project import write_case
from tests.harness import model

ROOT = Path(__file__).parents[2]

PLAIN = {"dtype": "torch.float32", "shape": [2], "strides": [1], "shares": []}
GRADIENTS = {"gradients": [PLAIN], "kept": {"inputs": 8, "results": 0, "others": 0}}


def call(error=None, **facts):
    """What a worker answers about a call, with something else than usual."""
    given = {each: facts.pop(each) for each in list(facts) if each in PLAIN}
    if error:
        return {"key": "a", "call": "x", "error": error}
    return {"key": "a", "call": "x", "results": [PLAIN | given], **GRADIENTS, **facts}


def found(old, new, values=((1.0, 2.0), (1.0, 2.0)), gradients=((1.0, 2.0), (1.0, 2.0))):
    files = [
        {"a.result.0": np.array(each, "float32"), "a.gradient.0": np.array(gradient)}
        for each, gradient in zip(values, gradients)
    ]
    return [each[0] for each in differences([old], [new], files)]


KEPT = {"inputs": 8, "results": 0, "others": 8}
CASES = {
    "R001": found(call(), call("RuntimeError: no")),
    "R002": found(call("RuntimeError: no"), call()),
    "R003": found(call("RuntimeError: no"), call("RuntimeError: never")),
    "R010": found(call(), call(), ((1.0, 2.0), (1.0, 2.1))),
    "R011": found(call(), call(dtype="torch.float64")),
    "R012": found(call(), call(shape=[1, 2])),
    "R013": found(call(), call(strides=[2])),
    "R014": found(call(), call(shares=[0])),
    "R020": found(call(), call(), gradients=((1.0, 2.0), (1.0, -2.0))),
    "R021": found(call(), call(gradients=[None])),
    "R022": found(call(), call(gradients=[PLAIN | {"strides": [2]}])),
    "R030": found(call(), call(kept=KEPT)),
    "R031": found(call(kept=KEPT), call()),
}


@pytest.mark.parametrize("rule", CASES)
def test_a_difference_is_found(rule):
    assert CASES[rule] == [rule]


def test_what_is_close_or_equal_is_no_difference():
    assert found(call(), call()) == []
    assert found(call(), call(), ((1.0, 2.0), (1.0, 2.000001))) == []
    assert found(call(), call(), ((1.0, np.nan), (1.0, np.nan))) == []
    assert found(call("RuntimeError: no"), call("RuntimeError: no")) == []


def test_differences_of_values_tell_which_gradient_is_right():
    old, new = call(differences=[1e-9]), call(differences=[1.7])
    files = [{"a.gradient.0": np.array(each)} for each in ((1.0, 2.0), (1.0, -2.0))]
    rule, message, *_ = next(iter(differences([old], [new], files)))
    assert (rule, message.endswith("the new one is wrong")) == ("R020", True)
    mended = comparison._mended(next(iter(differences([new], [old], files))))
    assert mended[0] == "R023"


class Clock:
    """A side that takes so long, and so much memory."""

    def __init__(self, name, seconds, peak):
        self.name, self._seconds, self._peak = name, seconds, peak

    def ask(self, do, **task):
        if do == "prepare":
            return {"prepared": ["large"]}
        return {"peak": self._peak} if do == "memory" else {"seconds": next(self._seconds), "number": 3}


def timed(old, new, peaks=(0, 0)):
    """The rules that fall for these times of a call, which repeat."""

    def repeated(values):
        while True:
            yield from values

    results = comparison._Results()
    sides = [Clock("BASE", repeated(old), peaks[0]), Clock("HEAD", repeated(new), peaks[1])]
    comparison._Runner(sides, Path(), results)._measure({"is": "exp", "dtypes": ["float32"]})
    return [each[0] for each in results.found["exp"]]


def test_speed_and_memory_are_reported_if_they_are_found_again():
    assert timed([1.0], [1.5]) == ["R040"]
    assert timed([1.5], [1.0]) == ["R041"]
    assert timed([1.0], [1.1]) == []
    assert timed([1.0], [1.5] * 5 + [1.0] * 10) == []  # once is noise
    assert timed([1.0], [1.0], (1 << 20, 1 << 21)) == ["R042"]
    assert timed([1.0], [1.0], (1 << 21, 1 << 20)) == ["R043"]
    assert timed([1.0], [1.0], (100, 900)) == []


def test_every_rule_of_a_run_is_tested():
    tested = {*CASES, "R023", "R040", "R041", "R042", "R043", "R050"}
    assert {code for code in RULES if code.startswith("R")} == tested


# -------------------- nothing is run without being asked for --------------------


def test_without_run_nothing_of_either_state_is_executed(tmp_path, monkeypatch, capsys):
    """Each file would leave a mark if it were imported, and the comparison reads all of them."""
    mark = tmp_path / "executed"
    code = f"open({str(mark)!r}, 'w')\n\n\ndef emit():\n    return 1\n"
    files = ("codegen/__init__.py", "codegen/__main__.py", "mindtorch/__init__.py", "tests/unit/test_x.py")
    for name in ("old", "new"):
        root = write_case(tmp_path / name)
        for file in files:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).write_text(code.replace("return 1", f"return {name!r}"))
    monkeypatch.setattr("codegen.diff.run.process.subprocess.Popen", None)
    assert main(["--project", str(tmp_path / "new"), "diff", str(tmp_path / "old"), str(tmp_path / "new")]) == 0
    assert "C007 unproven" in capsys.readouterr().out
    assert not mark.exists()


def test_a_snapshot_cannot_be_run(tmp_path, capsys):
    root = write_case(tmp_path / "project")
    (root / "v0.1.0.txt").write_text("exp(Tensor self) -> Tensor\n")
    assert main(["--project", str(root), "diff", str(root / "v0.1.0.txt"), str(root), "--run"]) == 3
    assert "a snapshot has only schemas" in capsys.readouterr().err


def test_a_generator_that_fails_is_named(tmp_path):
    (tmp_path / "codegen").mkdir()
    (tmp_path / "codegen/__init__.py").touch()
    (tmp_path / "codegen/__main__.py").write_text("raise SystemExit('no such key')\n")
    with pytest.raises(CannotRun, match="its generator fails: no such key"):
        generate(tmp_path)


def test_a_state_that_cannot_be_imported_is_a_finding(tmp_path):
    (tmp_path / "mindtorch").mkdir()
    (tmp_path / "mindtorch/__init__.py").write_text("raise ImportError('half of it is missing')\n")
    with Side("HEAD", tmp_path, ROOT / "tests/samples.py") as side, pytest.raises(CannotRun) as raised:
        side.wait_until_ready()
    assert "HEAD cannot be run" in str(raised.value)
    assert "half of it is missing" in str(raised.value)
    report = comparison._with_results(
        Report("a", "b", (), 0),
        make_plan(Report("a", "b", (), 0), model(), model()),
        comparison._Results(),
        "no",
        model(),
    )
    assert [finding.rule.code for change in report.changes for finding in change.findings] == ["R050"]


# -------------------- planted errors --------------------

# By what is planted in the generated wrapper or node of an op, which every call passes through.
VALUES = "exp2 log2 log10 cos tan asin atan sinh tanh cosh".split()
GRADIENTS_OF = "exp log sqrt rsqrt sin asinh erf erfc sigmoid log1p".split()
SLOW = "floor ceil".split()
HARMLESS = (
    "trunc frac neg sign reciprocal expm1 deg2rad rad2deg logaddexp square "
    "abs hypot atan2 maximum minimum fmax relu gelu hardtanh silu"
).split()
SHARE = 3  # of these ops, a run looks at one in so many, others each day
SAVES = "node._mt_saved = (save(input),)"
BEGINS = "    if state.active_modes"


def op_of(name):
    ops = model().ops
    return ops.get(name) or next(op for op in model().groups[name] if op.samples)


def wrapper(op):
    return f"generated/ops/{op.family}.py"


def copied(folder):
    """A copy of the library, of links to its files and to what Python has compiled of them."""
    ignored = shutil.ignore_patterns(".*", "package")
    for name in ("mindtorch", "generated"):
        shutil.copytree(ROOT / name, folder / name, copy_function=os.link, ignore=ignored)
    return folder


def edit(path, op_name, before, after):
    """Replace a text in one function or class of a file, which is a link so far."""
    text = path.read_text()
    start = re.search(rf"^(def|class) {op_name}\(", text, re.MULTILINE).start()
    body = text.index("\n", start)
    end = re.search(r"\n(?=\S)", text[body:])
    stop = body + end.start() if end else len(text)
    assert before in text[start:stop], (op_name, before, text[start:stop])
    path.unlink()
    path.write_text(text[:start] + text[start:stop].replace(before, after) + text[stop:])


def plant(head):
    """Errors of every kind, and harmless changes; the ops that have one, by the rule under which it is to be found."""
    for name in VALUES:
        edit(head / wrapper(op_of(name)), name, f"_{name}_kernels[", "_exp_kernels[")
    for name in GRADIENTS_OF:
        op = op_of(name)
        node = model().derivatives[op.name].node
        edit(head / f"generated/nodes/{op.family}.py", node, "\n        return (", "\n        return (-1 * ")
    others = {*VALUES, *GRADIENTS_OF, *SLOW, *HARMLESS}
    saving = [name for name in savers() if name not in others][:18]
    for name in saving:
        edit(head / wrapper(op_of(name)), name, SAVES, SAVES.replace("input", "input.clone()"))
    for name in SLOW:
        edit(head / wrapper(op_of(name)), name, BEGINS, f"    sum(range(3000))\n{BEGINS}")
    for name in HARMLESS:
        edit(head / wrapper(op_of(name)), name, BEGINS, f"    unused = None  # a refactoring\n{BEGINS}")
    return {"R010": VALUES, "R020": GRADIENTS_OF, "R030": saving, "R040": SLOW}


def savers():
    """Ops with one input, which they keep."""
    for family in ("pointwise", "special", "activation", "arithmetic"):
        for chunk in re.split(r"^def ", (ROOT / f"generated/ops/{family}.py").read_text(), flags=re.MULTILINE)[1:]:
            name = chunk.partition("(")[0]
            op = model().ops.get(name)
            if SAVES in chunk and op is not None and op.samples and op.derived_from is None:
                yield name


def test_planted_errors_are_found_and_harmless_changes_are_not(tmp_path):
    """Wrong values, gradients, more that is kept, and time, of 40 ops, each under its rule; 20 ops only look other."""
    head = copied(tmp_path / "head")
    expected = plant(head)
    assert sum(map(len, expected.values())) == 40 and len(HARMLESS) == 20
    expected = {rule: daily.some(names, SHARE) for rule, names in expected.items()}
    harmless = daily.some(HARMLESS, SHARE)
    names = [op_of(name).name for each in (*expected.values(), harmless) for name in each]
    tasks = [
        _task(op, op, is_few=False, is_formula=name in GRADIENTS_OF) for name in names for op in [model().ops[name]]
    ]
    results = comparison._Results()
    with ExitStack() as stack:
        sides = [
            stack.enter_context(Side(*each, ROOT / "tests/samples.py")) for each in (("BASE", ROOT), ("HEAD", head))
        ]
        for side in sides:
            side.wait_until_ready()
        runner = comparison._Runner(sides, tmp_path, results)
        for task in tasks:
            runner._compute(task)
        for task in tasks:
            if task["is"] in expected["R040"]:
                runner._measure(task)
    assert results.ran == set(names)
    rules = {name: {each[0] for each in found} for name, found in results.found.items()}
    for rule, planted in expected.items():
        missed = [name for name in planted if rule not in rules[op_of(name).name]]
        assert missed == [], rule
    for name in expected["R020"]:
        assert any("the new one is wrong" in each[1] for each in results.found[name]), name
    assert {name: rules[op_of(name).name] for name in harmless if rules[op_of(name).name]} == {}

"""Runs both states and adds to the report what came out differently, and what was proven to be the same."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ...model import Model
from ..allowed import apply
from ..marks import mark
from ..report import Finding, OpChange, Report, Verdict
from ..rules import RULES
from ..state import State
from .checkouts import CannotRun, check_out, copy_folder, differing_inputs, generate
from .differences import Difference, differences
from .plan import Plan, counted, make_plan
from .process import Side

_SLOWER = 1.25  # ratios of times that are worth a finding ...
_REPEATED = 1.2  # ... if they are found again
_MORE_MEMORY, _FEW_BYTES = 1.25, 1 << 15
_ROUNDS = 5
_MOST_ALIKE = 5  # ops with one kind of difference, before they are reported together


@dataclass(slots=True)
class _Results:
    """By op what differs. ``ran``: the ops that were run on both sides. ``calls``: how many calls were compared."""

    found: dict[str, list[Difference]] = field(default_factory=lambda: defaultdict(list))
    ran: set[str] = field(default_factory=set)
    calls: int = 0
    timed: int = 0
    seconds: float = 0.0


def with_run(report: Report, base: State, head: State, root: Path, today: date) -> Report:
    """The report with findings of a run of both states; raises CannotRun if that is not possible."""
    if base.model is None or head.model is None:
        raise CannotRun("a snapshot has only schemas: name a revision or a folder to run")
    plan = make_plan(report, base.model, head.model)
    if not plan.tasks:
        left = f": {counted(plan.left_out)} have no samples" if plan.left_out else ""
        return replace(report, notes=(*report.notes, f"nothing to run: the change reaches no op with samples{left}"))
    with TemporaryDirectory(prefix="mindtorch-run-") as folder:
        results, failure, obstacle = _run(plan, base, head, root, Path(folder))
    if obstacle:
        return replace(report, notes=(*report.notes, f"nothing was run: {obstacle}"))
    found = _with_results(report, plan, results, failure, head.model)
    changes, errors = apply(base, head, found.changes, today)
    return replace(found, changes=tuple(changes), list_errors=(*errors, *map(str, head.review.errors)))


def _run(plan: Plan, base: State, head: State, root: Path, folder: Path) -> tuple[_Results, str, str]:
    started = time.monotonic()
    old = _checkout(base, root, folder / "base")
    new = _checkout(head, root, folder / "head")
    results = _Results()
    try:
        if differing_inputs(old, new):
            generate(new)
        assert base.model is not None
        samples = old / base.model.project.samples
        with ExitStack() as stack:
            sides = [stack.enter_context(Side(name, path, samples)) for name, path in (("BASE", old), ("HEAD", new))]
            if failure := _failure(sides[0]):
                return results, "", failure
            sides[1].wait_until_ready()
            _Runner(sides, folder, results).run(plan)
    except CannotRun as error:
        return results, str(error), ""
    finally:
        results.seconds = time.monotonic() - started
    return results, "", ""


def _failure(side: Side) -> str:
    """Why BASE cannot be run, which is no fault of the change; "" if it can."""
    try:
        side.wait_until_ready()
    except CannotRun as error:
        return str(error)
    return ""


def _checkout(state: State, root: Path, folder: Path) -> Path:
    folder.mkdir()
    if state.folder is not None:
        return copy_folder(state.folder, folder)
    return check_out(root, state.revision, folder)


class _Runner:
    def __init__(self, sides: Sequence[Side], folder: Path, results: _Results) -> None:
        self._sides, self._folder, self._results = sides, folder, results
        self._threads = ThreadPoolExecutor(len(sides))

    def run(self, plan: Plan) -> None:
        by_op = {task["is"]: task for task in plan.tasks}
        for task in plan.tasks:
            self._compute(task)
        for name in plan.timed:
            self._measure(by_op[name])

    def _both(self, tasks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return list(self._threads.map(lambda pair: pair[0].ask(**pair[1]), zip(self._sides, tasks)))

    # -------------------- values --------------------

    def _compute(self, task: Mapping[str, Any]) -> None:
        files = [self._folder / f"{name}.npz" for name in ("base", "head", "again")]
        old, new = self._both([{**task, "do": "compute", "file": str(file)} for file in files[:2]])
        name = task["is"]
        if "failed" in old or "failed" in new:
            if old.get("failed") != new.get("failed"):
                said = [each.get("failed", "results") for each in (old, new)]
                self._results.found[name].append(("R001", "its samples cannot be run", *said))
            return
        self._results.ran.add(name)
        self._results.calls += len(old["calls"])
        found = self._differences(old, new, files[0], files[1])
        if found:
            again = self._sides[0].ask(**{**task, "do": "compute", "file": str(files[2])})
            chance = {each[0] for each in self._differences(old, again, files[0], files[2])}
            found = [each for each in found if each[0] not in chance]  # what differs from call to call says nothing
        self._results.found[name] += found

    def _differences(
        self, old: Mapping[str, Any], new: Mapping[str, Any], old_file: Path, new_file: Path
    ) -> list[Difference]:
        with np.load(old_file, allow_pickle=False) as before, np.load(new_file, allow_pickle=False) as after:
            arrays = [{name: each[name] for name in each.files} for each in (before, after)]
        return list(differences(old["calls"], new["calls"], arrays))

    # -------------------- speed and memory --------------------

    def _measure(self, task: Mapping[str, Any]) -> None:
        dtypes = [each for each in ("float32", *task["dtypes"]) if each in task["dtypes"]][:1]
        prepared = [side.ask(**{**task, "do": "prepare", "dtypes": dtypes}) for side in self._sides]
        if any("failed" in each for each in prepared):
            return
        for which in prepared[0]["prepared"]:
            if which in prepared[1]["prepared"]:
                self._results.timed += 1
                self._speed(task["is"], which)
                self._memory(task["is"], which)

    def _speed(self, op: str, which: str) -> None:
        ratios: list[float] = []
        for least in (_SLOWER, _REPEATED, _REPEATED):  # what is only found once is the noise of the machine
            ratio = self._ratio(which)
            if ratio is None or 1 / least < ratio < least or (ratios and (ratio > 1) != (ratios[0] > 1)):
                return
            ratios.append(ratio)
        ratio = min(ratios) if ratios[0] > 1 else max(ratios)
        message = f"a {which} call takes {ratio:.2f} times the time that it took"
        self._results.found[op].append(("R040" if ratio > 1 else "R041", message, "1", f"{ratio:.2f}"))

    def _ratio(self, which: str) -> float | None:
        """The time on HEAD by that on BASE, measured in turn: the median over rounds, or the shortest if that is 1."""
        number = self._sides[0].ask(do="measure", which=which, rounds=1).get("number")
        if number is None:
            return None
        old, new = self._sides
        times: dict[Side, list[float]] = {old: [], new: []}
        for turn in range(_ROUNDS):
            for side in self._sides if turn % 2 else reversed(self._sides):
                seconds = side.ask(do="measure", which=which, rounds=3, number=number).get("seconds")
                if not seconds:
                    return None
                times[side].append(seconds)
        median = sorted(after / before for before, after in zip(times[old], times[new]))[_ROUNDS // 2]
        shortest = min(times[new]) / min(times[old])
        return min((median, shortest), key=lambda each: abs(each - 1))

    def _memory(self, op: str, which: str) -> None:
        old, new = (side.ask(do="memory", which=which).get("peak") for side in self._sides)
        if old is None or new is None or abs(new - old) < _FEW_BYTES:
            return
        if new > old * _MORE_MEMORY or old > new * _MORE_MEMORY:
            rule, word = ("R042", "more") if new > old else ("R043", "less")
            message = f"a {which} call takes {abs(new - old)} bytes {word} memory at its peak"
            self._results.found[op].append((rule, message, f"{old} bytes", f"{new} bytes"))


# -------------------- what is said --------------------


def _with_results(report: Report, plan: Plan, results: _Results, failure: str, model: Model) -> Report:
    found = {name: [*map(_mended, each)] for name, each in results.found.items() if each}
    together, single = _grouped(_without_variants(found, model))
    changes = [_proven(change, results, found) for change in report.changes]
    changes = _added(changes, single, model)
    changes += together
    if failure:
        finding = Finding(RULES["R050"], "run", failure, remedy=RULES["R050"].remedy)
        changes.append(OpChange("run", "", None, None, (finding,), root="run"))
    notes = [*report.notes, *_notes(plan, results)]
    return replace(report, changes=tuple(sorted(changes, key=lambda each: -each.verdict)), notes=tuple(notes))


def _mended(each: Difference) -> Difference:
    """A gradient that is other, and right where the old one was wrong, is mended."""
    rule, message, old, new = each
    return ("R023", message, old, new) if rule == "R020" and message.endswith("the old one was wrong") else each


def _without_variants(
    found: Mapping[str, Sequence[Difference]], model: Model
) -> dict[str, list[tuple[Difference, list[str]]]]:
    """The differences by op, each with the variants in which it is the same: these are not reported themselves."""
    result: dict[str, list[tuple[Difference, list[str]]]] = {}
    for name, each in found.items():
        root = model.ops[name].derived_from if name in model.ops else None
        known = {difference[0] for difference in found.get(root or "", ())}
        own = [difference for difference in each if difference[0] not in known]
        result[name] = [(difference, _variants(name, difference[0], found, model)) for difference in own]
    return result


def _variants(name: str, rule: str, found: Mapping[str, Sequence[Difference]], model: Model) -> list[str]:
    others = (each for each in found if each in model.ops and model.ops[each].derived_from == name)
    return [each for each in others if any(difference[0] == rule for difference in found[each])]


def _grouped(
    found: Mapping[str, Sequence[tuple[Difference, list[str]]]],
) -> tuple[list[OpChange], dict[str, list[Finding]]]:
    """Entries for what is alike in many ops, and findings by op for the rest."""
    by_rule: dict[str, list[tuple[str, Difference]]] = defaultdict(list)
    for name, each in found.items():
        for difference, variants in each:
            rule, message, *texts = difference
            same = f"; the same for {counted(variants)}" if variants else ""
            by_rule[rule].append((name, (rule, message + same, texts[0], texts[1])))
    together, single = [], defaultdict(list)
    for rule, pairs in sorted(by_rule.items()):
        if len(pairs) <= _MOST_ALIKE:
            for name, difference in pairs:
                single[name].append(_finding(name, difference))
        else:
            names = list(dict.fromkeys(name for name, _ in pairs))
            name, difference = pairs[0]
            message = f"{len(names)} ops: {counted(names)}. For example `{name}`: {difference[1]}"
            finding = _finding("run", (rule, message, *difference[2:]))
            together.append(OpChange("run", "", None, None, (finding,), root="run"))
    return together, single


def _finding(op: str, difference: Difference) -> Finding:
    code, message, old, new = difference
    rule, (before, after) = RULES[code], mark(old, new)
    return Finding(rule, op, message, remedy=rule.remedy, old=before, new=after)


def _proven(change: OpChange, results: _Results, found: Mapping[str, Sequence[Difference]]) -> OpChange:
    """What only a run can tell is compatible, if all ops that it reaches were run and gave the same."""
    findings = tuple(
        replace(each, is_proven=True) if _is_proven(each, results, found) else each for each in change.findings
    )
    return replace(change, findings=findings)


def _is_proven(finding: Finding, results: _Results, found: Mapping[str, Sequence[Difference]]) -> bool:
    names = finding.ops or (finding.op,)
    if finding.rule.verdict is not Verdict.unproven or finding.is_public or finding.rule.topic == "test":
        return False
    return all(name in results.ran and not any(_is_bad(each) for each in found.get(name, ())) for name in names)


def _is_bad(difference: Difference) -> bool:
    return RULES[difference[0]].verdict is Verdict.breaking


def _added(changes: Iterable[OpChange], single: Mapping[str, Sequence[Finding]], model: Model) -> list[OpChange]:
    left = dict(single)
    result = []
    for change in changes:
        more = left.pop(change.op, ())
        result.append(replace(change, findings=(*change.findings, *more)) if more else change)
    for name, findings in left.items():
        op = model.ops.get(name)
        root = op.derived_from if op is not None and op.derived_from else name
        result.append(OpChange(name, op.family if op else "", None, None, tuple(findings), root))
    return result


def _notes(plan: Plan, results: _Results) -> Iterator[str]:
    ran = [task["is"] for task in plan.tasks if task["is"] in results.ran]
    yield (
        f"both states were run on {results.calls} calls of {len(ran)} ops ({counted(ran)}); "
        f"the speed of {results.timed} calls was measured; it took {results.seconds:.0f} s"
    )
    if plan.left_out:
        yield f"not run, for want of samples: {counted(plan.left_out)}"

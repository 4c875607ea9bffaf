"""The command line of the schema diff: formats, colour, files, exit status, snapshots, and how long it takes."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from codegen.__main__ import main
from codegen.diff.formats import FORMATS
from codegen.diff.formats import json as json_format
from codegen.diff.formats import text as text_format
from codegen.diff.report import Finding, OpChange, Report, Rule, Verdict
from tests.codegen import reports
from tests.codegen.diff_cases import CASES, case_report
from tests.codegen.diff_project import OPS, write_case

ROOT = Path(__file__).parents[2]
BREAK = (("sum.dim(Tensor self, int[1] dim", "sum.dim(Tensor self, int[1] axis"),)
FORWARD = (("int[1] dim", "int[1]? dim"),)
ADDED = (("int dim=0)", "int dim=0, *, bool copy=True)"),)


@pytest.fixture
def project(tmp_path):
    """A project with a snapshot of its first release."""
    root = write_case(tmp_path / "project")
    assert main(["snapshot", "0.1.0"], root) == 0
    return root


@pytest.mark.parametrize(
    ("edits", "arguments", "status"),
    [
        ((), [], 0),
        (ADDED, [], 0),
        (FORWARD, [], 2),
        (FORWARD, ["--strict-forward"], 1),
        (BREAK, [], 1),
        (BREAK, ["v0.2.0"], 3),
        (BREAK, ["v0.1.0", "nowhere"], 3),
    ],
)
def test_the_exit_status_is_the_verdict(project, edits, arguments, status, capsys):
    write_case(project, edits)
    capsys.readouterr()
    assert main(["diff", *arguments], project) == status
    shown = capsys.readouterr()
    assert bool(shown.err) == (status == 3)
    assert bool(shown.out) == (status != 3)


def test_the_report_as_text(project, capsys):
    write_case(project, BREAK)
    capsys.readouterr()
    main(["diff"], project)
    assert capsys.readouterr().out == (
        "v0.1.0 -> the working tree\n"
        "\n"
        "breaking sum.dim\n"
        "  - sum.dim(Tensor self, int[1] dim, bool keepdim=False, *, ScalarType? dtype=None, float? scale=None)"
        " -> Tensor\n"
        "                                ^^^\n"
        "  + sum.dim(Tensor self, int[1] axis, bool keepdim=False, *, ScalarType? dtype=None, float? scale=None)"
        " -> Tensor\n"
        "                                ^^^^\n"
        "  S018 breaking: argument `dim` is now called `axis` (ops.yaml:13:37)\n"
        "    callers: `x.sum(dim=0)` by keyword stops working\n"
        "    instead: keep the name, or list the old call under `deprecated`\n"
        "\n"
        "note: v0.1.0 is a snapshot, which has only schemas: derivatives, dtypes, shapes, backends and tags were not "
        "compared\n"
        "\n"
        "breaking: 1 breaking, 0 forward-only, 0 unproven, 0 compatible, 0 text; 14 ops are the same\n"
    )


@pytest.mark.parametrize("name", FORMATS)
def test_a_report_can_be_written_to_a_file(project, tmp_path, name, capsys):
    write_case(project, BREAK)
    capsys.readouterr()
    output = tmp_path / "report"
    assert main(["diff", "--format", name, "--output", str(output)], project) == 1
    assert capsys.readouterr().out == ""
    assert "sum.dim" in output.read_text(encoding="utf-8")


def test_a_file_that_cannot_be_written_is_named(project, tmp_path, capsys):
    assert main(["diff", "--output", str(tmp_path)], project) == 3
    assert f"cannot write {tmp_path}: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "environment", "is_terminal", "is_coloured"),
    [
        ([], {}, True, True),
        ([], {}, False, False),
        ([], {"NO_COLOR": "1"}, True, False),
        (["--color", "always"], {"NO_COLOR": "1"}, False, True),
        (["--color", "never"], {}, True, False),
        (["--format", "json"], {}, True, False),
        (["--format", "json", "--color", "always"], {}, True, False),
    ],
)
def test_colour_is_for_terminals(project, monkeypatch, capsys, arguments, environment, is_terminal, is_coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    write_case(project, BREAK)
    capsys.readouterr()
    main(["diff", *arguments], project)
    assert ("\x1b[" in capsys.readouterr().out) == is_coloured


def test_colour_stands_for_the_carets_below_a_line(tmp_path):
    for case in CASES[:20]:
        report = case_report(case, tmp_path / case.name)
        plain = [line for line in text_format.render(report).splitlines() if set(line) - set(" ^") or not line]
        assert without_colour(text_format.render_for_people(report, True, True)).splitlines() == plain


def without_colour(text):
    return "".join(part.partition("m")[2] if number else part for number, part in enumerate(text.split("\x1b[")))


def many(change, count):
    """As many changes like this one."""
    return tuple(replace(change, op=f"op{number}") for number in range(count))


@pytest.mark.parametrize(
    ("arguments", "shown"), [([], 5), (["--all"], 30), (["--format", "markdown"], 30), (["--format", "json"], 30)]
)
def test_a_long_list_of_added_ops_is_counted(project, arguments, shown, capsys):
    entry = "\n- func: op{}(Tensor self) -> Tensor\n  family: pointwise\n  composite: op\n"
    added = "".join(entry.format(number) for number in range(30))
    write_case(project, ((OPS, OPS + added), *BREAK))
    capsys.readouterr()
    assert main(["diff", *arguments], project) == 1
    text = capsys.readouterr().out
    assert sum(f"op{number}(Tensor self)" in text for number in range(30)) == shown
    line = "... and 25 more that are compatible, 25 of them added ops: --all shows them"
    assert (line in text) == (shown < 30)
    assert "sum.dim" in text


@pytest.mark.parametrize(
    ("verdict", "count", "left_out"),
    [("breaking", 30, 0), ("forward_only", 30, 0), ("compatible", 20, 0), ("compatible", 21, 16), ("text", 21, 16)],
)
def test_only_harmless_changes_are_left_out(verdict, count, left_out):
    rule = Rule("S999", Verdict[verdict], "schema", "a change")
    change = OpChange("op", "", None, None, (Finding(rule, "op", "it changed"),))
    report = Report("a", "b", many(change, count), 0)
    text = text_format.render_for_people(report, False, False)
    assert text.count("it changed") == count - left_out
    assert (f"and {left_out} more that are {verdict}: --all" in text) == bool(left_out)
    assert f"{count} {str(Verdict[verdict])}" in text


# -------------------- snapshots --------------------


def test_a_snapshot_is_not_overwritten_unless_asked_for(project, capsys):
    path = project / "schemas/v0.1.0.txt"
    before = path.read_text()
    write_case(project, BREAK)
    capsys.readouterr()
    assert main(["snapshot", "v0.1.0"], project) == 3
    assert f"{path} exists and differs" in capsys.readouterr().err
    assert path.read_text() == before
    assert main(["snapshot", "0.1.0", "--force"], project) == 0
    assert path.read_text() == before.replace("int[1] dim", "int[1] axis")
    assert main(["snapshot", "0.1.0"], project) == 0
    assert "is up to date" in capsys.readouterr().out


def test_a_snapshot_that_cannot_be_written_is_named(project, capsys):
    for path in (project / "schemas").iterdir():
        path.unlink()
    (project / "schemas").rmdir()
    (project / "schemas").write_text("no folder")
    capsys.readouterr()
    assert main(["snapshot", "0.1.0"], project) == 3
    assert capsys.readouterr().err == f"{project / 'schemas'}: File exists\n"


def test_the_version_is_that_of_the_project(project, capsys):
    assert main(["snapshot"], project) == 3
    assert "is no version: say which" in capsys.readouterr().err
    (project / "pyproject.toml").write_text('[project]\nname = "mindtorch"\nversion = "0.3.1"\n')
    assert main(["snapshot"], project) == 0
    assert (project / "schemas/v0.3.1.txt").is_file()


@pytest.mark.parametrize("version", ["next", "../0.1", "1", "0.1.0-rc1"])
def test_a_version_is_numbers(project, version, capsys):
    assert main(["snapshot", version], project) == 3
    assert f"'{version.removeprefix('v')}' is no version" in capsys.readouterr().err


def test_the_released_snapshots_are_valid(capsys):
    for path in (ROOT / "schemas").glob("v*.txt"):
        assert main(["diff", str(path), str(path)], ROOT) == 0
        lines = path.read_text(encoding="utf-8").splitlines()
        assert lines == sorted(set(lines))


# -------------------- JSON --------------------


def check(value, schema, place="report"):
    """Whether a value is what a JSON Schema says, for the parts of JSON Schema that ours uses."""
    assert schema.keys() <= KNOWN, place
    if "anyOf" in schema:
        schema = schema["anyOf"][value is None]
    if "enum" in schema or "const" in schema:
        assert value in schema.get("enum", [schema.get("const")]), place
        return
    assert type(value) is TYPES[schema["type"]], place
    if schema["type"] == "object" and "properties" in schema:
        assert value.keys() == schema["properties"].keys() == set(schema["required"]), place
        for key, part in schema["properties"].items():
            check(value[key], part, f"{place}.{key}")
    if schema["type"] == "array":
        assert schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)), place
        for item in value:
            check(item, schema["items"], f"{place}[]")


TYPES = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
KNOWN = set(
    "$schema title type properties required items anyOf enum const pattern format minimum minItems maxItems".split()
)


def test_json_is_what_its_schema_says(tmp_path):
    schema = json.loads((ROOT / "schemas/diff.schema.json").read_text(encoding="utf-8"))
    found = [case_report(case, tmp_path / case.name) for case in CASES]
    for report in (*found, reports.ordinary(), reports.wicked(), reports.forward_only(), reports.harmless()):
        document = json.loads(json_format.render(report))
        check(document, schema)
        assert document["verdict"] == str(report.verdict)
        assert sum(document["counts"].values()) == len(report.changes)


def test_json_has_every_field_of_the_report():
    report = reports.ordinary()
    document = json.loads(json_format.render(report))
    assert set(report.__slots__) <= document.keys()
    change, shown = report.changes[0], document["changes"][0]
    assert set(change.__slots__) <= shown.keys()
    assert set(change.findings[0].__slots__) <= shown["findings"][0].keys() | {"op"}
    assert [str(verdict) for verdict in sorted(Verdict, reverse=True)] == list(document["counts"])


# -------------------- the whole repository --------------------


def test_the_diff_of_the_repository_is_quick():
    """Two loads, a revision out of git, and the comparison: 3 s of processor time when idle."""
    revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True)
    base = ["HEAD"] if revision.returncode == 0 else []
    before = os.times()
    done = subprocess.run([sys.executable, "-m", "codegen", "diff", *base], cwd=ROOT, capture_output=True, text=True)
    after = os.times()
    assert done.returncode in (0, 1, 2), done.stderr
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    assert spent < 6

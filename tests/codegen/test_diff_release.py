"""Release notes, version numbers, explanations of rules, and how strictly they are taken."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest

from codegen.__main__ import main
from codegen.diff.formats import FORMATS
from codegen.diff.promotions import EXAMPLES, RESULTS, other_results
from codegen.diff.release import is_enough, next_version, step
from codegen.diff.report import Finding, OpChange, Report
from codegen.diff.rules import RULES
from codegen.load import UNFINISHED, load
from mindtorch._core import promotion
from tests.codegen import reports
from tests.codegen.diff_project import write_case

RENAMED = ("dropout(Tensor input", "dropout(Tensor x")
DERIVED = ("  input: non_differentiable", "  x: non_differentiable")


def report_of(*codes, severities=None):
    findings = tuple(Finding(RULES[code], "exp", f"it is {code}") for code in codes)
    return Report("v0.1.0", "HEAD", (OpChange("exp", "", None, None, findings),), 1, severities=severities or {})


@pytest.fixture
def states(tmp_path):
    """Two folders, of which the second renames an argument."""
    old, new = write_case(tmp_path / "old"), write_case(tmp_path / "new", (RENAMED, DERIVED))
    for root in (old, new):
        text = (root / "ops.yaml").read_text()
        (root / "ops.yaml").write_text(text.replace("  dispatch:", "  samples: none\n  dispatch:"))
        (root / "ops.yaml").write_text(
            (root / "ops.yaml").read_text().replace("  composite:", "  samples: none\n  composite:")
        )
    return old, new


# -------------------- version numbers --------------------


@pytest.mark.parametrize(
    ("codes", "before", "expected"),
    [
        (("S018",), "1.2.3", "2.0.0"),
        (("S002",), "1.2.3", "1.3.0"),
        (("S020",), "1.2.3", "1.3.0"),
        (("D012",), "1.2.3", "1.2.4"),
        (("S018", "S002"), "0.2.0", "0.3.0"),
        (("S002",), "0.2.0", "0.2.1"),
        ((), "0.2", "0.2.1"),
    ],
)
def test_the_version_that_changes_ask_for(codes, before, expected):
    assert next_version(before, report_of(*codes)) == expected


def test_versions_are_compared_as_numbers():
    assert is_enough("0.10.0", "0.9.1") and is_enough("1.0", "1.0.0") and not is_enough("0.2.9", "0.3.0")
    assert step(report_of("F003")) == "major"


def test_snapshot_refuses_a_version_that_is_too_small(states, monkeypatch, capsys):
    old, new = states
    monkeypatch.setattr("codegen.commands.snapshot.load", lambda root: load(root, but_for=UNFINISHED))
    assert main(["--project", str(old), "snapshot", "0.1.0"]) == 0
    (new / "schemas").mkdir()
    (new / "schemas/v0.1.0.txt").write_text((old / "schemas/v0.1.0.txt").read_text())
    assert main(["--project", str(new), "snapshot", "0.1.1"]) == 3
    assert "what changed since 0.1.0 asks for 0.2.0 or more, not 0.1.1" in capsys.readouterr().err
    assert main(["--project", str(new), "snapshot", "0.2.0"]) == 0


# -------------------- release notes --------------------


def test_release_notes_begin_with_breaks_and_name_callers(states, tmp_path, capsys):
    old, new = states
    package = tmp_path / "package"
    package.mkdir()
    (package / "model.py").write_text("import torch\n\ny = torch.nn.functional.dropout(input=x)\nz = dropout(x, 0.5)\n")
    (package / "broken.py").write_text("def (")
    command = ["--project", str(new), "changelog", f"{old}..{new}", "--callers", str(package)]
    assert main(command) == 0
    notes = capsys.readouterr().out
    assert notes.index("## Breaking changes") == notes.index("## ")
    assert "- **dropout**: argument `input` is now called `x` (S018)." in notes
    assert "by keyword stops working." in notes and "To keep it working: keep the name" in notes
    assert "model.py:3: `y = torch.nn.functional.dropout(input=x)` (S018 of dropout)" in notes
    assert "model.py:4" not in notes
    assert "ask for a major version" in notes


def test_what_changelog_cannot_read(states, capsys):
    assert main(["--project", str(states[0]), "changelog", "nowhere.."]) == 3
    assert "cannot read 'nowhere'" in capsys.readouterr().err


# -------------------- rules --------------------


def test_explain_and_list_rules(states, capsys):
    root = ["--project", str(states[0]), "diff"]
    for code in RULES:
        assert main([*root, "--explain", code.lower()]) == 0
        said = capsys.readouterr().out
        assert said.startswith(f"{code} {RULES[code].verdict}: {RULES[code].title}") and RULES[code].remedy in said
    assert main([*root, "--list-rules"]) == 0
    listed = capsys.readouterr().out
    assert [code for code in RULES if f"  {code} " not in listed] == []
    assert main([*root, "--explain", "S999"]) == 3
    assert "there is no rule 'S999'" in capsys.readouterr().err


def test_review_yaml_says_how_strictly_a_rule_is_taken(states, capsys):
    old, new = states
    command = ["--project", str(new), "diff", str(old), str(new)]
    assert main(command) == 1
    (new / "schemas").mkdir(exist_ok=True)
    (new / "schemas/review.yaml").write_text("- rule: S018\n  severity: warn\n  reason: announced long ago\n")
    assert main(command) == 0
    (old / "schemas").mkdir(exist_ok=True)
    (old / "schemas/review.yaml").write_text("- rule: S002\n  severity: fail\n  reason: no new ops\n")
    assert main(command) == 1  # the list of BASE counts
    (old / "schemas/review.yaml").unlink()
    (new / "schemas/review.yaml").write_text("- rule: S999\n  severity: warn\n  reason: why\n")
    assert main(command) == 1
    assert "unknown rule 'S999'" in capsys.readouterr().out
    (new / "schemas/review.yaml").write_text("- rule: S018\n  severity: shout\n  reason: why\n")
    assert main(command) == 1
    assert "shout" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("codes", "severities", "expected"),
    [
        (("S002",), {}, 0),
        (("S002",), {"S002": "fail"}, 1),
        (("D012",), {}, 0),
        (("D012",), {"D012": "fail"}, 1),
        (("S020",), {}, 2),
        (("S020",), {"S020": "note"}, 0),
        (("S018",), {"S018": "warn"}, 0),
        (("S018", "S040"), {"S018": "warn"}, 1),
    ],
)
def test_the_exit_status_follows_the_severities(codes, severities, expected):
    assert report_of(*codes, severities=severities).exit_code() == expected


# -------------------- formats --------------------


def test_sarif_has_a_result_with_a_place_for_each_finding():
    report = reports.ordinary()
    document = json.loads(FORMATS["sarif"](report))
    (run,) = document["runs"]
    findings = [finding for change in report.changes for finding in change.findings]
    assert document["version"] == "2.1.0"
    assert len(run["results"]) == len(findings) + len(report.list_errors)
    placed = [each for each in run["results"] if "locations" in each]
    assert len(placed) == sum(finding.location is not None for finding in findings)
    assert sum("suppressions" in each for each in run["results"]) == sum(f.allowance is not None for f in findings)


def test_junit_can_be_read_whatever_is_in_it():
    for report in (reports.ordinary(), reports.wicked(), reports.harmless()):
        suite = ElementTree.fromstring(FORMATS["junit"](report).encode())
        assert (
            int(suite.get("tests")) == len(suite.findall("testcase")) == len(report.changes) + len(report.list_errors)
        )
        assert int(suite.get("failures")) == len(suite.findall("testcase/failure"))
        assert bool(suite.findall("testcase/failure")) is (report.exit_code() == 1)


def test_rules_and_places_are_links_where_that_is_known():
    finding = next(f for change in reports.ordinary().changes for f in change.findings if f.location)
    change = OpChange("exp", "", None, None, (finding,))
    for form in ("markdown", "html"):
        linked = FORMATS[form](Report("a", "b", (change,), 0, link="https://example.org/blob/main"))
        assert f"https://example.org/blob/main/docs/compatibility.md#{finding.rule.code.lower()}" in linked
        assert f"https://example.org/blob/main/{finding.location.file}#L{finding.location.line}" in linked
        assert "example.org" not in FORMATS[form](Report("a", "b", (change,), 0))


# -------------------- dtypes --------------------


def test_what_promotion_words_mean_is_what_the_library_does():
    assert RESULTS.keys() == promotion.RULES.keys()
    for word, results in RESULTS.items():
        for name, expected in results.items():
            operands = [np.ones(2, name)]
            operands = operands * 2 if word in ("where", "div_mode") else operands
            assert promotion.RULES[word](*operands) == np.dtype(expected), (word, name)
    said = "results of bool and int64 tensors are float32, they were"
    assert said not in other_results("default", "default") and other_results("default", "int_to_float").startswith(
        "results of bool"
    )
    assert set(EXAMPLES) == set(RESULTS["default"])

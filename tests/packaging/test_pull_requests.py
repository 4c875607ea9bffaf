"""A scratch repository with pull requests: what the schema diff says of each, in every format and in the workflow."""

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date
from functools import cache
from itertools import cycle
from pathlib import Path

import pytest
import yaml

from codegen.diff.compare import compare
from codegen.diff.formats import FORMATS
from codegen.diff.states import read_state
from tests.packaging.branches import ALLOWED, BRANCHES, BROKEN, DERIVATIVES, OPS, Branch, Edit, change
from tests.packaging.commands import copy_of_tree
from tests.packaging.frozen import write_frozen

ROOT = Path(__file__).resolve().parents[2]
GIT = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]


def git(repository: Path, *arguments: str) -> str:
    environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(
        [*GIT, *arguments], cwd=repository, text=True, capture_output=True, check=True, env=environment
    ).stdout


def codegen(repository: Path, *arguments: str, code: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "codegen", *arguments]
    done = subprocess.run(command, cwd=repository, text=True, capture_output=True, encoding="utf-8")
    assert done.returncode == code, f"{arguments}\n{done.stdout}\n{done.stderr}"
    assert "Traceback" not in done.stderr
    return done


def apply(repository: Path, edit: Edit) -> None:
    file, function = edit
    path = repository / file
    path.write_text(function(path.read_text(encoding="utf-8") if path.exists() else ""), encoding="utf-8")


def commit(repository: Path, branch: Branch) -> None:
    git(repository, "checkout", "--quiet", "-b", branch.name, "main")
    for edit in branch.edits:
        apply(repository, edit)
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "-m", branch.name)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A release on the branch `main`, the pull requests, and a dirty work tree that must stay as it is."""
    repository = tmp_path_factory.mktemp("repository")
    copy_of_tree(repository, ["codegen"])
    write_frozen(repository)
    codegen(repository, "snapshot", code=0)
    (repository / ".gitignore").write_text("__pycache__/\n")
    git(repository, "init", "--quiet", "--initial-branch=main")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "-m", "a release")
    git(repository, "tag", "v0.1.0")
    for branch in [*BRANCHES, BROKEN]:
        commit(repository, branch)
    git(repository, "checkout", "--quiet", "main")
    apply(repository, change(OPS, "# The operators", "# Not committed: the operators"))
    (repository / "notes").write_text("not tracked")
    git(repository, "add", "notes")
    apply(repository, change(DERIVATIVES, "# Gradient formulas", "# Not committed: gradient formulas"))
    return repository


def state(repository: Path) -> list[str]:
    """What git knows of the work tree, the index, HEAD and the branches."""
    commands = (["status", "--porcelain"], ["diff"], ["diff", "--cached"], ["for-each-ref"], ["worktree", "list"],
                ["stash", "list"], ["symbolic-ref", "HEAD"])  # fmt: skip
    return [git(repository, *command) for command in commands]


@pytest.fixture(scope="module")
def report(repository):
    """A function that compares a branch with main, once."""
    main = read_state(repository, "main")

    @cache
    def report(name):
        return compare(main, read_state(repository, name), date.today())

    return report


@pytest.fixture(scope="module")
def output(report):
    """A function that gives the comparison of a branch in a format."""
    return lambda branch, form: FORMATS[form](report(branch.name))


def found(report):
    return {(change["op"], finding["rule"]) for change in report["changes"] for finding in change["findings"]}


each_branch = pytest.mark.parametrize("branch", BRANCHES, ids=[branch.name for branch in BRANCHES])


@each_branch
def test_the_verdict(output, branch):
    report = json.loads(output(branch, "json"))
    assert report["verdict"] == branch.verdict
    assert found(report) >= set(branch.found)


@pytest.mark.parametrize(("branch", "form"), [*zip(BRANCHES, cycle(FORMATS))], ids=[branch.name for branch in BRANCHES])
def test_the_command(repository, output, branch, form):
    """Its exit code is the verdict's, it prints the report, and it leaves work tree, index and branches alone."""
    before = state(repository)
    done = codegen(repository, "diff", "main", branch.name, "--format", form, code=branch.code)
    assert (done.stdout, done.stderr) == (output(branch, form), "")
    assert state(repository) == before


@each_branch
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_says_it(output, branch, form):
    text = output(branch, form)
    for word in (*branch.says, *(op for op, _ in branch.found), *(rule for _, rule in branch.found)):
        assert word in text


HEADLINES = {"breaking": "❌", "forward-only": "⚠️", "unproven": "🔍", "compatible": "✅", "text": "✅"}


@each_branch
def test_the_comment(output, branch):
    comment = output(branch, "markdown")
    marker, _, headline, *_ = comment.splitlines()
    assert marker == "<!-- mindtorch schema diff -->"
    assert headline.startswith(f"## {HEADLINES[branch.verdict]} ")
    assert f"`main` → `{branch.name}`" in comment
    assert len(re.findall(r"^\| \S+ [\w-]+ \| `", comment, re.MULTILINE)) == len(
        json.loads(output(branch, "json"))["changes"]
    )


LEVELS = {
    "breaking": {"error"},
    "forward-only": {"warning"},
    "unproven": {"warning"},
    "compatible": {"notice"},
    "text": {"notice"},
}


@each_branch
def test_the_annotations(output, branch):
    """They are of the level of the verdict or lower, and point at the files that the branch has."""
    lines = output(branch, "github").splitlines()
    levels = [re.match("::(error|warning|notice) ", line).group(1) for line in lines]
    expected = {"warning"} if branch.name == "allow-a-break" else LEVELS[branch.verdict]
    assert expected <= set(levels) or branch.name == "change-a-comment"
    assert branch.verdict == "breaking" or "error" not in levels
    assert {file for line in lines for file in re.findall(r"file=([^,:]+)", line)} <= {OPS, DERIVATIVES, ALLOWED}


def test_annotations_are_at_the_changed_lines(repository, output):
    for branch in (BRANCHES[0], BRANCHES[1]):
        (line,) = {int(number) for number in re.findall(r"file=ops.yaml,line=(\d+)", output(branch, "github"))}
        text = git(repository, "show", f"{branch.name}:{OPS}").splitlines()[line - 1]
        assert text.startswith("- func: ") and branch.says[-1] in text


def test_the_page_needs_no_browser_to_be_read(output):
    page = output(BRANCHES[0], "html")
    assert "<del>dims</del>" in page and "<ins>axes</ins>" in page


def test_a_broken_file_is_an_error_with_a_place(repository):
    before = state(repository)
    done = codegen(repository, "diff", "main", BROKEN.name, "--format", "json", code=3)
    assert done.stdout == ""
    assert BROKEN.name in done.stderr and re.search(r"ops\.yaml:\d+:\d+: ", done.stderr)
    assert state(repository) == before


def test_forward_only_changes_can_be_refused(repository):
    codegen(repository, "diff", "main", "accept-more", "--strict-forward", code=1)


def test_a_revision_that_does_not_exist_is_an_error(repository):
    assert "no-such-branch" in codegen(repository, "diff", "no-such-branch", code=3).stderr


@pytest.mark.parametrize(("options", "base"), [([], "HEAD"), (["--release"], "v0.1.0")])
def test_what_the_work_tree_is_compared_with(repository, options, base):
    """What is not committed differs from the last commit, and from the release, in comments only."""
    report = json.loads(codegen(repository, "diff", *options, "--format", "json", code=0).stdout)
    assert (report["base"], report["verdict"], report["changes"]) == (base, "text", [])


# -------------------- the workflow --------------------

WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/schema-diff.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step["run"] for step in WORKFLOW["jobs"]["diff"]["steps"] if "run" in step}


@pytest.fixture(scope="module")
def runner(repository, tmp_path_factory):
    """A function that runs the workflow's steps on a branch, merged as the host merges it, until one fails."""

    def run(branch):
        folder = tmp_path_factory.mktemp(branch.name)
        checkout = folder / "checkout"
        git(folder, "clone", "--quiet", "--branch", "main", str(repository), str(checkout))
        git(checkout, "checkout", "--quiet", "--detach")
        git(checkout, "merge", "--quiet", "--no-ff", "-m", "merged", f"origin/{branch.name}")
        variables = {"GITHUB_STEP_SUMMARY": str(folder / "summary"), "GITHUB_OUTPUT": str(folder / "output")}
        variables |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        done = {}
        for name in ("Compare with the target", "Compare with the last release", "Refuse breaking changes"):
            done[name] = step(STEPS[name], checkout, variables)
            written = folder / "output"
            variables |= {"STATUS": written.read_text().strip().partition("=")[2] if written.exists() else ""}
        return done, checkout / "report", folder / "summary"

    return run


def step(script, checkout, variables):
    """A step as the host runs it: bash stops at the first command that fails."""
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(command, cwd=checkout, env=os.environ | variables, text=True, capture_output=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="the steps are for bash")
@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("change-a-default", (0, 1, 1)),
        ("accept-more", (0, 0, 0)),
        ("break-the-file", (0, 1, 1)),
    ],
)
def test_the_workflow(runner, name, codes):
    branch = next(each for each in [*BRANCHES, BROKEN] if each.name == name)
    done, report, summary = runner(branch)
    assert tuple(each.returncode for each in done.values()) == codes, [each.stderr for each in done.values()]
    comment = (report / "diff.markdown").read_text(encoding="utf-8")
    assert comment.startswith("<!-- mindtorch schema diff -->\n\n## ")
    assert summary.read_text(encoding="utf-8") == comment
    annotations = re.findall("^::(error|warning|notice) ", done["Compare with the target"].stdout, re.MULTILINE)
    assert bool(annotations) is (branch.code != 3)
    assert {path.name for path in report.iterdir()} == (
        {"diff.markdown"} if branch.code == 3 else {"diff.markdown", "diff.html", "diff.json"}
    )

"""The workflows of the code host and the commit hooks: their structure, and what of them can run here."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from codegen.diff.formats import markdown
from tests.codegen import reports

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
SCRIPT = ROOT / ".github" / "scripts" / "comment.py"
HOOKS = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"][0]["hooks"]


def workflow(name):
    """A workflow; YAML 1.1 reads its key `on` as true."""
    read = yaml.safe_load(WORKFLOWS[name].read_text(encoding="utf-8"))
    return {"on" if key is True else key: value for key, value in read.items()}


def steps(name):
    return [step for job in workflow(name)["jobs"].values() for step in job["steps"]]


# -------------------- structure --------------------


def test_the_workflows_are_these():
    assert WORKFLOWS.keys() == {"ci", "schema-diff", "schema-diff-comment"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_has_names_limits_and_commands_that_the_shell_can_read(name):
    assert workflow(name).keys() >= {"name", "on", "permissions", "concurrency", "jobs"}
    assert all(job.keys() >= {"name", "runs-on", "timeout-minutes"} for job in workflow(name)["jobs"].values())
    for step in steps(name):
        assert ("uses" in step) != ("run" in step)
        checked = subprocess.run(["bash", "-n"], input=step.get("run", ""), text=True, capture_output=True)
        assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.parametrize("name", WORKFLOWS)
def test_actions_are_pinned_to_commits(name):
    used = re.findall(r"uses: (.*)", WORKFLOWS[name].read_text(encoding="utf-8"))
    assert used
    for action in used:
        assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_text_of_a_pull_request_gets_into_a_command(name):
    """What a workflow knows of the pull request reaches the shell as a variable, never as part of its program."""
    assert [step["run"] for step in steps(name) if "${{" in step.get("run", "")] == []


@pytest.mark.parametrize("name", WORKFLOWS)
def test_checkouts_leave_no_password_behind(name):
    checkouts = [step for step in steps(name) if step.get("uses", "").startswith("actions/checkout@")]
    assert checkouts and all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_what_runs_foreign_code_can_only_read():
    for name in ("ci", "schema-diff"):
        assert workflow(name)["permissions"] == {"contents": "read"}
        assert "pull_request_target" not in workflow(name)["on"]
        assert all("permissions" not in job for job in workflow(name)["jobs"].values())


def test_what_may_comment_runs_no_foreign_code():
    comment = workflow("schema-diff-comment")
    assert comment["permissions"] == {}
    (job,) = comment["jobs"].values()
    assert job["permissions"] == {"actions": "read", "contents": "read", "pull-requests": "write"}
    assert comment["on"] == {"workflow_run": {"workflows": [workflow("schema-diff")["name"]], "types": ["completed"]}}
    (checkout,) = [step for step in job["steps"] if "uses" in step]
    assert "ref" not in checkout["with"], "the default branch is checked out"
    commands = [step["run"].split()[:3] for step in job["steps"] if "run" in step]
    assert commands == [["gh", "run", "download"], ["python3", ".github/scripts/comment.py", "report/diff.markdown"]]


def test_the_report_is_uploaded_under_the_name_that_is_downloaded():
    (upload,) = [step for step in steps("schema-diff") if "upload-artifact" in step.get("uses", "")]
    assert any(f"--name {upload['with']['name']} " in step.get("run", "") for step in steps("schema-diff-comment"))


def test_every_supported_python_is_tested():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (job,) = workflow("ci")["jobs"].values()
    assert job["strategy"]["matrix"]["python"] == re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)
    assert [step["run"] for step in job["steps"] if "run" in step] == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_every_processor_that_is_tested_is_one_that_make_knows():
    (job,) = workflow("ci")["jobs"].values()
    processors = [each["processor"] for each in job["strategy"]["matrix"]["include"]]
    assert processors
    for name, code in [*((each, 0) for each in processors), ("other", 2)]:
        done = subprocess.run(["make", "--dry-run", "help", f"PROCESSOR={name}"], cwd=ROOT, capture_output=True)
        assert done.returncode == code


@pytest.mark.parametrize(("argument", "code"), [("--help", 0), ("-h", 0), ("test", 2)])
def test_what_ci_runs_says_so_instead_of_running_when_it_is_asked(argument, code):
    done = subprocess.run([ROOT / ".ci" / "run", argument], text=True, capture_output=True, timeout=10)
    assert done.returncode == code
    said = done.stdout if code == 0 else done.stderr
    assert "check test test-npu test-debug test-jit docs parity test-distributed wheel" in said


# -------------------- the comment --------------------

# Answers as GitHub would: pull requests from `pulls`, comments from `comments` in two pages; keeps what is asked of it.
GH = f"""#!{sys.executable}
import json, os, sys
from pathlib import Path
host = Path(os.environ["HOST"])
state = json.loads(host.read_text())
command, path, *options = sys.argv[1:]
assert command == "api"
sent = json.load(sys.stdin) if "--input" in options else None
state["calls"].append([options[options.index("--method") + 1] if "--method" in options else "GET", path, options, sent])
host.write_text(json.dumps(state))
answer = state["pulls"] if path.endswith("/pulls") else [[], state["comments"]] if "--slurp" in options else {{}}
print(json.dumps(answer))
"""
PULL = {"number": 7, "head": {"sha": "abc"}}
OURS = {"id": 40, "user": {"login": "github-actions[bot]"}, "body": f"{markdown.MARKER}\nold"}
FORGED = {"id": 41, "user": {"login": "stranger"}, "body": f"{markdown.MARKER}\nforged"}
OTHER = {"id": 42, "user": {"login": "github-actions[bot]"}, "body": "something else"}


@pytest.fixture
def comment(tmp_path):
    """A function that runs the script and gives its exit code, its output, and what it asked GitHub to write."""

    def run(text, comments=(), pulls=(PULL,), head="you:a; rm -rf `$HOME`"):
        host, report = tmp_path / "host.json", tmp_path / "diff.markdown"
        host.write_text(json.dumps({"pulls": pulls, "comments": comments, "calls": []}))
        report.write_text(text, encoding="utf-8")
        (tmp_path / "gh").write_text(GH)
        (tmp_path / "gh").chmod(0o755)
        path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
        environment = os.environ | {"GH_REPO": "us/it", "HEAD": head, "COMMIT": "abc", "HOST": str(host), "PATH": path}
        command = [sys.executable, SCRIPT, report]
        done = subprocess.run(command, text=True, capture_output=True, env=environment)
        calls = json.loads(host.read_text())["calls"]
        assert all(f"head={head}" in options for _, path, options, _ in calls if path == "repos/us/it/pulls")
        written = [(method, path, sent["body"]) for method, path, _, sent in calls if sent]
        return done.returncode, done.stdout + done.stderr, written

    return run


BREAKING, NOTHING = markdown.render(reports.ordinary()), markdown.render(reports.nothing())


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for gh is a script")
class TestComment:
    def test_the_first_is_posted(self, comment):
        code, output, written = comment(BREAKING, [FORGED, OTHER])
        assert (code, output) == (0, "commented on #7\n")
        assert written == [("POST", "repos/us/it/issues/7/comments", BREAKING)]

    @pytest.mark.parametrize("text", [BREAKING, NOTHING], ids=["breaking", "nothing"])
    def test_the_next_update_it(self, comment, text):
        code, output, written = comment(text, [FORGED, OTHER, OURS])
        assert (code, output) == (0, "updated the comment on #7\n")
        assert written == [("PATCH", "repos/us/it/issues/comments/40", text)]

    def test_nothing_is_said_about_nothing(self, comment):
        assert comment(NOTHING) == (0, "nothing to say on #7\n", [])

    @pytest.mark.parametrize("pulls", [(), ({"number": 7, "head": {"sha": "newer"}},)], ids=["closed", "newer commit"])
    def test_only_open_pull_requests_get_one(self, comment, pulls):
        code, output, written = comment(BREAKING, pulls=pulls)
        assert (code, written) == (0, [])
        assert output.startswith("no open pull request from you:")

    def test_nothing_is_mentioned(self, comment):
        _, _, ((_, _, text),) = comment(f"{markdown.MARKER}\n\n## `@octocat` @octocat a @ b")
        assert text.splitlines()[2] == "## `@\u200boctocat` @\u200boctocat a @ b"

    @pytest.mark.parametrize("text", ["hello", "", markdown.MARKER + "x" * 70_000], ids=["other", "empty", "long"])
    def test_what_is_no_schema_diff_is_refused(self, comment, text):
        code, output, written = comment(text)
        assert (code, written) == (1, [])
        assert "is no schema diff" in output and "Traceback" not in output


# -------------------- hooks --------------------


def triggers(hook):
    """The files of the repository that make a hook run."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True).stdout.splitlines()
    kinds = tuple({"python": ".py", "pyi": ".pyi"}[kind] for kind in hook.get("types_or", ()))
    return [name for name in names if re.search(hook.get("files", ""), name) and name.endswith(kinds or "")]


def hand_written():
    """What the Makefile formats."""
    return re.search(r"^HAND_WRITTEN := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE).group(1)


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout")
class TestHooks:
    @pytest.mark.parametrize("hook", HOOKS, ids=[hook["id"] for hook in HOOKS])
    def test_a_hook_runs(self, hook, tmp_path):
        """In a copy of what it looks at; it passes on what is committed."""
        names = triggers(hook)[:3] if hook.get("pass_filenames", True) else []
        command = [sys.executable if word == "python" else word for word in hook["entry"].split()]
        done = subprocess.run([*command, *names], cwd=self.copy(names, tmp_path), text=True, capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr

    @staticmethod
    def copy(names, folder):
        """The files that a hook may change are copied; one that takes none changes none."""
        if not names:
            return ROOT
        for name in [*names, "pyproject.toml"]:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        return folder

    def test_generated_files_trigger_only_what_is_about_them(self):
        found = {hook["id"]: {name.split("/")[0] for name in triggers(hook)} for hook in HOOKS}
        assert {"ops.yaml", "derivatives.yaml", "codegen", "generated", "mindtorch"} <= found["codegen"]
        assert found["black"] >= set(hand_written().split()) and "generated" not in found["black"]
        assert "tests" in found["ruff"]

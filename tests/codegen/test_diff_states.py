"""The states that can be compared: revisions, folders, snapshots, the working tree; and what is said of wrong ones."""

import json
import os
import subprocess

import pytest

from codegen.__main__ import main
from codegen.diff.compare import compare
from codegen.diff.snapshots import last_release
from codegen.diff.states import (
    UnreadableState,
    base_of_change,
    last_release_state,
    read_state,
    start_of_change,
    working_tree,
)
from tests.codegen.diff_project import OPS, TODAY, write_case

RENAME = (("sum.dim(Tensor self, int[1] dim", "sum.dim(Tensor self, int[1] axis"),)
IDENTITY = {f"GIT_{who}_{what}": "someone" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
CONFIGURATION = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def git(root, *arguments):
    environment = os.environ | IDENTITY | CONFIGURATION
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, env=environment)


@pytest.fixture
def repository(tmp_path):
    """A repository in a folder of which the project is a part: main has it, the branch `axis` a renamed argument."""
    root = write_case(tmp_path / "outer" / "project")
    (root / "pyproject.toml").write_text('[project]\nname = "mindtorch"\nversion = "0.1.0"\n')
    git(tmp_path / "outer", "init", "-q", "-b", "main")
    git(tmp_path / "outer", "add", "-A")
    git(tmp_path / "outer", "commit", "-qm", "first")
    git(root, "checkout", "-qb", "axis")
    write_case(root, RENAME)
    git(root, "commit", "-qam", "second")
    git(root, "checkout", "-q", "main")
    return root


def changed(base, head):
    """The ops that differ between two states."""
    return [change.op for change in compare(base, head, TODAY).changes]


def snapshot(root, version="0.1.0"):
    assert main(["snapshot", version], root) == 0
    return root / f"schemas/v{version}.txt"


def test_a_revision_is_read_as_it_was(repository):
    base, head = read_state(repository, "main"), read_state(repository, "axis")
    assert (base.name, head.name) == ("main", "axis")
    assert changed(base, head) == ["sum.dim"]
    assert changed(base, working_tree(repository)) == []
    assert changed(head, working_tree(repository)) == ["sum.dim"]


@pytest.mark.parametrize(
    ("branch", "edits", "ops", "name"),
    [
        ("main", RENAME, ["sum.dim"], "HEAD"),
        ("main", (), [], "HEAD"),
        ("axis", RENAME, ["sum.dim"], "{}, where this branch leaves main"),
    ],
)
def test_without_a_base_it_is_what_the_change_began_with(repository, branch, edits, ops, name):
    """On main that is the last commit, on another branch where it begins: what main got meanwhile is left out."""
    (repository / "others").write_text("of another program")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "meanwhile")
    git(repository, "checkout", "-q", branch)
    first = subprocess.run(["git", "rev-parse", "main~1"], cwd=repository, capture_output=True, text=True).stdout
    write_case(repository, edits)
    base = start_of_change(repository)
    assert (base.name, base.is_release) == (name.format(first[:10]), False)
    assert changed(base, working_tree(repository)) == ops


def test_a_branch_is_the_place_where_this_one_leaves_it(repository, capsys):
    """What was done on the other branch since then is no part of the change; two names are compared as they are."""
    git(repository, "checkout", "-q", "-b", "change")
    write_case(repository, (("- func: square(Tensor self)", "- func: squared(Tensor self)"),))
    git(repository, "commit", "-qam", "third")
    git(repository, "checkout", "-q", "axis")
    git(repository, "tag", "renamed")
    git(repository, "checkout", "-q", "change")
    base = base_of_change(repository, "axis")
    assert base.name.endswith(", where this branch leaves axis")
    assert changed(base, working_tree(repository)) == ["square"]
    assert (base_of_change(repository, "renamed").name, base_of_change(repository, "change").name) == (
        "renamed",
        "HEAD",
    )
    for arguments, ops in ((["axis"], ["square"]), (["axis", "HEAD"], ["square", "sum.dim"])):
        main(["diff", *arguments, "--format", "json"], repository)
        assert sorted(change["op"] for change in json.loads(capsys.readouterr().out)["changes"]) == ops


def test_the_branch_of_the_remote_is_asked_first(repository, tmp_path):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(tmp_path / "outer"), str(clone))
    git(clone, "checkout", "-q", "axis")
    assert start_of_change(clone / "project").name.endswith("where this branch leaves origin/main")


def test_without_a_base_and_without_a_repository_it_is_the_last_release(tmp_path):
    root = write_case(tmp_path / "project")
    snapshot(root)
    assert start_of_change(root).name == "v0.1.0"


def test_the_last_release_is_asked_for(repository, capsys):
    snapshot(repository)
    capsys.readouterr()
    assert main(["diff", "--release"], repository) == 0
    assert capsys.readouterr().out.startswith("v0.1.0 -> the working tree")
    assert main(["diff"], repository) == 0
    assert capsys.readouterr().out.startswith("HEAD -> the working tree")
    assert main(["diff", "main", "--release"], repository) == 3
    assert "leave it out, or BASE" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["axis~1", "HEAD", "refs/heads/main", "v9"])
def test_whatever_git_understands_is_a_revision(repository, name):
    git(repository, "tag", "v9", "main")
    assert changed(read_state(repository, name), working_tree(repository)) == []


def test_reading_a_revision_changes_nothing(repository):
    (repository / "ops.yaml").write_text("# work in progress\n")
    (repository / "new.txt").write_text("new")
    git(repository, "add", "new.txt")
    before = everything(repository.parent)
    read_state(repository, "axis")
    assert everything(repository.parent) == before


def everything(folder):
    """Every file below, those of git included, with its content and time."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in paths}


def test_files_of_any_name_do_not_confuse_git(repository):
    folder = repository / "mindtorch/odd names"
    folder.mkdir()
    (folder / "é \n ☃.py").write_text("x = 1\n")
    (repository / "link.py").symlink_to("/etc/passwd")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "odd")
    assert changed(read_state(repository, "HEAD"), working_tree(repository)) == []


def test_a_folder_is_a_state(repository, tmp_path):
    other = write_case(tmp_path / "other", RENAME)
    assert changed(read_state(repository, str(other)), working_tree(repository)) == ["sum.dim"]


def test_a_snapshot_is_a_state_without_formulas(repository):
    path = snapshot(repository)
    lines = path.read_text().splitlines()
    assert lines == sorted(lines)
    assert "mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)" in lines
    write_case(repository, (*RENAME, ("  self: grad * other\n", "  self: grad + other\n")))
    for name in (str(path), "v0.1.0", "0.1.0"):
        report = compare(read_state(repository, name), working_tree(repository), TODAY)
        assert [change.op for change in report.changes] == ["sum.dim"]
        assert report.notes[0].startswith(f"{name} is a snapshot, which has only schemas: derivatives,")


def test_the_last_release_is_the_highest_version(repository):
    for version in ("0.9.0", "0.10.0", "0.2"):
        snapshot(repository, version)
    (repository / "schemas/vnext.txt").write_text("")
    assert last_release(repository / "schemas") == "0.10.0"
    assert last_release_state(repository).name == "v0.10.0"
    assert last_release_state(repository).model is None


def test_the_tag_of_a_release_says_more_than_its_snapshot(repository):
    snapshot(repository)
    git(repository, "tag", "v0.1.0", "axis")
    release = last_release_state(repository)
    assert release.model is not None and release.is_release
    assert changed(release, working_tree(repository)) == ["sum.dim"]
    assert not read_state(repository, "main").is_release


def test_the_allow_list_is_that_of_the_state(repository):
    path = repository / "schemas/allowed.yaml"
    path.parent.mkdir()
    path.write_text("- {op: sum.dim, rule: S018, reason: announced, expires: 2026-12-31}\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "allowed")
    path.unlink()
    assert len(read_state(repository, "HEAD").allow_list.entries) == 1
    assert working_tree(repository).allow_list.entries == ()


def message(read, *arguments):
    with pytest.raises(UnreadableState) as caught:
        read(*arguments)
    return str(caught.value)


def test_what_cannot_be_read_is_named(repository, tmp_path):
    nothing = "it is no git revision here, no folder with ops.yaml, and no snapshot of a release"
    for name in ("nowhere", "--all", "HEAD:ops.yaml", "v0.3.0", str(tmp_path), "long" * 2000):
        assert message(read_state, repository, name) == f"cannot read '{name}': {nothing}"
    assert message(read_state, repository, "") == "the name of a state is empty"
    assert "there is no snapshot of a release in" in message(last_release_state, repository)


def test_a_file_with_the_name_of_a_branch_does_not_hide_it(repository, monkeypatch):
    (repository / "axis").write_text("no snapshot")
    monkeypatch.chdir(repository)
    assert changed(read_state(repository, "axis"), working_tree(repository)) == ["sum.dim"]


def test_why_git_has_no_revision_is_said(repository, tmp_path):
    git(tmp_path, "clone", "-q", "--depth", "1", "--branch", "axis", (tmp_path / "outer").as_uri(), "clone")
    assert "(the clone is shallow: git fetch --unshallow gets the rest)" in message(
        read_state, tmp_path / "clone/project", "HEAD~1"
    )
    assert "(fatal: not a git repository" in message(read_state, write_case(tmp_path / "other"), "main")


def test_not_every_error_is_printed(repository):
    (repository / "ops.yaml").write_text(OPS.lstrip() + "- fnuc: f\n" * 1000)
    found = message(working_tree, repository)
    assert found.startswith("in the working tree: ops.yaml:") and found.endswith("\n\n... and 1800 more")


def test_a_kernel_that_does_not_fit_yet_is_no_obstacle(repository):
    base = working_tree(repository)
    kernels = repository / "mindtorch/backends/cpu/reduction.py"
    kernels.write_text("def sum_dim(input, dim, keepdim, dtype, scale): ...\n")
    write_case(repository, RENAME)
    assert main([], repository) == 3
    assert changed(base, working_tree(repository)) == ["sum.dim"]


def test_errors_say_in_which_state_they_are(repository):
    (repository / "ops.yaml").write_text(OPS.lstrip().replace("family: view", "famliy: view"))
    git(repository, "commit", "-qam", "wrong")
    (repository / "ops.yaml").write_text(OPS.lstrip().replace("int[1] dim", "itn[1] dim"))
    assert message(read_state, repository, "HEAD").startswith(
        "in HEAD: ops.yaml:30:3: error[E012] unknown key 'famliy'"
    )
    assert message(working_tree, repository).startswith("in the working tree: ops.yaml:13:")
    (repository / "derivatives.yaml").unlink()
    git(repository, "commit", "-qam", "missing")
    assert "in HEAD: " in message(read_state, repository, "HEAD")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("mul(Tensor self) -> Tensor\nsum(Tensr self) -> Tensor\n", ":2:5: error[E021] unknown type 'Tensr'"),
        ("mul(Tensor self) -> Tensor\nmul(Tensor a) -> Tensor\n", ":2:1: error[E030] duplicate op 'mul'"),
        ("", ":1:1: error[E005] "),
        ("\n", ":1:1: error[E020] "),
    ],
)
def test_a_wrong_snapshot_is_located(repository, text, error):
    path = repository / "v1.txt"
    path.write_text(text)
    found = message(read_state, repository, str(path))
    assert found.startswith(f"in {path}: {path}") and error in found


def test_without_git_there_are_folders_and_snapshots(repository, monkeypatch):
    snapshot(repository)
    monkeypatch.setenv("PATH", "")
    assert "it is no git revision here (git cannot be run: " in message(read_state, repository, "main")
    assert changed(last_release_state(repository), working_tree(repository)) == []

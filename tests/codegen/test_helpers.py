"""Where the helpers of formulas may lie: in a file or in a folder, of mindtorch and of another package."""

import pytest

from codegen.diff.compare import compare
from codegen.diff.state import state_of
from codegen.errors import Problems
from codegen.load import load
from codegen.project import Project
from codegen.sources.hand_written import read_hand_written
from tests.codegen.diff_project import TODAY
from tests.codegen.project import DERIVATIVES, OPS, clean, diagnostics, load_project, write_project

FORMULAS = "mindtorch/autograd/formulas"
SHARED = "def _twice(grad):\n    return grad * {}\n\n\ndef negated(grad):\n    return -grad\n"
MULTIPLY = "def multiply(grad, factor):\n    return _twice(grad) * factor\n"


def write(root, **files):
    """A project whose folder of helpers has these files, and no file of that name."""
    folder = write_project(root, OPS, DERIVATIVES) / FORMULAS
    folder.with_suffix(".py").unlink()
    folder.mkdir()
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return root


def helpers(project):
    found = read_hand_written(project, Problems()).helpers
    return {name: (helper.module, helper.file) for name, helper in found.items()}


def test_every_file_of_a_folder_has_helpers(tmp_path):
    common = "ONE = 1\n\n\ndef negated(grad): ...\n"
    root = write(tmp_path, __init__='"""Helpers."""\n', common=common, loss="from .common import ONE\n\nTWO = ONE\n")
    assert helpers(Project(root)) == {
        "ONE": ("mindtorch.autograd.formulas.common", f"{FORMULAS}/common.py"),
        "negated": ("mindtorch.autograd.formulas.common", f"{FORMULAS}/common.py"),
        "TWO": ("mindtorch.autograd.formulas.loss", f"{FORMULAS}/loss.py"),
    }


def test_the_package_itself_is_a_file_of_the_folder(tmp_path):
    root = write(tmp_path, __init__="ONE = 1\n")
    assert helpers(Project(root)) == {"ONE": ("mindtorch.autograd.formulas", f"{FORMULAS}/__init__.py")}


@pytest.mark.parametrize("setting", ["src/wavelets/formulas.py", "src/wavelets/formulas"])
@pytest.mark.parametrize("file", ["src/wavelets/formulas.py", "src/wavelets/formulas/haar.py"])
def test_helpers_of_another_package(tmp_path, setting, file):
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text("def spread(grad): ...\n")
    project = Project(tmp_path, "wavelets", sources="src", formulas=setting, extends=tmp_path / "library")
    module = file.removeprefix("src/").removesuffix(".py").replace("/", ".")
    assert helpers(project) == {"spread": (module, file)}


def test_a_package_hides_helpers_of_the_library(tmp_path):
    library = write(tmp_path / "library", common="def conj(value): ...\n")
    (tmp_path / "formulas.py").write_text("def conj(value): ...\n")
    project = Project(tmp_path, "wavelets", formulas="formulas.py", extends=library)
    assert helpers(project) == {"conj": ("formulas", "formulas.py")}


def test_a_helper_has_one_place(tmp_path):
    write(tmp_path, common="ONE = 1\n\n\ndef negated(grad): ...\n", loss="def negated(grad, weight): ...\n")
    (found,) = diagnostics(tmp_path)
    assert str(found).splitlines()[0] == f"{FORMULAS}/loss.py:1:1: error[E081] a second helper 'negated'"
    assert found.hint == f"it is in {FORMULAS}/common.py, too: rename one, or remove it"


def said(old, new):
    report = compare(state_of("old", old), state_of("new", new), TODAY)
    return [f"{change.op}: {finding.message}" for change in report.changes for finding in change.findings]


@pytest.mark.parametrize(
    ("factor", "expected"),
    [(2, []), (3, ["mul.Tensor: `_twice` has changed, which a formula uses"])],
    ids=("moved", "moved and changed"),
)
def test_a_file_that_becomes_a_folder(tmp_path, factor, expected):
    derivatives = DERIVATIVES.replace("grad * other", "multiply(grad, other)")
    one_file = {"mindtorch__autograd__formulas": f"{SHARED.format(2)}\n\n{MULTIPLY}"}
    old = load_project(tmp_path / "old", OPS, derivatives, **one_file)
    pair = f"from mindtorch.autograd.formulas.common import _twice\n\n\n{MULTIPLY}"
    root = write(tmp_path / "new", common=SHARED.format(factor), pointwise=pair)
    (root / "derivatives.yaml").write_text(clean(derivatives))
    assert said(old, load(root)) == expected

"""CONTRIBUTING.md's "Add an operator", followed to the letter in a copy of the tree."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = "codegen generated mindtorch schemas tests docs ops.yaml derivatives.yaml pyproject.toml".split()
FILES = ("ops.yaml", "derivatives.yaml", "mindtorch/backends/cpu/pointwise.py")

PROGRAM = """
import math
import mindtorch as torch
from mindtorch.autograd import forward_ad

x = torch.tensor([1.0, 3.0], requires_grad=True)
y = torch.exp2(x)
assert y.tolist() == [2.0, 8.0]
assert type(y.grad_fn).__name__ == "Exp2Backward0"
(gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
assert torch.allclose(gradient, y * math.log(2))
(second,) = torch.autograd.grad(gradient.sum(), x)
assert torch.allclose(second, y * math.log(2) ** 2)
with forward_ad.dual_level():
    tangent = forward_ad.unpack_dual(torch.exp2(forward_ad.make_dual(x.detach(), torch.ones(2)))).tangent
assert torch.allclose(tangent, y * math.log(2))

plain = x.detach().clone()
assert plain.exp2_() is plain and plain.tolist() == [2.0, 8.0]
out = torch.empty(2)
assert torch.exp2(x.detach(), out=out) is out and out.tolist() == [2.0, 8.0]
assert torch.exp2(torch.tensor([3])).dtype is torch.float32
assert torch.exp2(torch.ones(2, 3, device="meta")).shape == (2, 3)
print("works")
"""


def block(text: str, file: str) -> str:
    """The code block of CONTRIBUTING.md that follows the first mention of a file."""
    return re.search(rf"\*\* In `{re.escape(file)}`.*?```\w+\n(.*?)```", text, re.DOTALL).group(1)


def without_the_op(text):
    """A file of the tree without exp2: its entry, or its kernel."""
    text = re.sub(r"^- (func|name): exp2\(.*?(?=^- |^# |\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^(exp2 = |def exp2\().*?(?=^\S|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)


def edit(path, change):
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def schemas(tree):
    return set((tree / "generated" / "schemas.py").read_text(encoding="utf-8").splitlines())


def run(*command, cwd):
    done = subprocess.run([sys.executable, *command], cwd=cwd, text=True, capture_output=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """A copy of the tree that has no exp2, even if the tree has it by now."""
    before = tmp_path_factory.mktemp("before")
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, before / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, before / name)
    for file in FILES:
        edit(before / file, without_the_op)
    run("-m", "codegen", cwd=before)
    return before


@pytest.fixture(scope="module")
def copy(before, tmp_path_factory):
    """The tree after the steps of the page."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(before, copy, dirs_exist_ok=True)
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for file in FILES:
        edit(copy / file, lambda text, file=file: f"{text.rstrip()}\n\n{block(page, file)}")
    run("-m", "codegen", cwd=copy)
    return copy


def test_the_op_works(copy):
    assert run("-W", "error", "-c", PROGRAM, cwd=copy).strip() == "works"


def test_it_is_documented(copy):
    pages = (copy / "docs" / "ops").glob("*.md")
    assert any("exp2" in page.read_text(encoding="utf-8") for page in pages)


def test_its_tests_appear_and_pass(copy):
    output = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/ops", "-k", "exp2", cwd=copy)
    assert re.search(r"^[1-9]\d* passed", output, re.MULTILINE), output


def test_generated_files_are_current(copy):
    run("-m", "codegen", "check", cwd=copy)


def test_a_reviewer_sees_one_op_with_its_variants(before, copy):
    added = schemas(copy) - schemas(before)
    assert schemas(before) <= schemas(copy)
    assert len(added) == 3 and all("exp2" in line for line in added)


def test_the_op_can_be_taken_out_again():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for file in FILES:
        text = without_the_op((ROOT / file).read_text(encoding="utf-8")).rstrip()
        assert without_the_op(f"{text}\n\n{block(page, file)}").rstrip() == text


def test_without_a_kernel_it_says_which_is_missing(copy, tmp_path):
    shutil.copytree(copy, tmp_path / "copy", dirs_exist_ok=True)
    edit(tmp_path / "copy" / FILES[2], without_the_op)
    run("-m", "codegen", cwd=tmp_path / "copy")
    call = "import mindtorch as torch; torch.exp2(torch.ones(1))"
    done = subprocess.run([sys.executable, "-c", call], cwd=tmp_path / "copy", text=True, capture_output=True)
    assert "NotImplementedError" in done.stderr
    assert FILES[2] in done.stderr

"""CONTRIBUTING.md's "Add an operator in fifteen minutes", followed to the letter in a copy of the tree.

The page decides what is run and compared: a ``sh`` block is run, a plain block after it is in its output, and a block
of YAML or Python is what the file that was named last contains, or what is to be written there.
"""

import re
import shlex
import shutil
import sys
from dataclasses import dataclass

import pytest

from tests.packaging.commands import ROOT, attempt, copy_of_tree, run

NEEDED = ".gitignore codegen generated mindtorch schemas tests docs ops.yaml derivatives.yaml pyproject.toml".split()
KERNELS = "mindtorch/backends/cpu/pointwise/pointwise.py"
FILES = ("ops.yaml", "derivatives.yaml", KERNELS)

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


@dataclass(frozen=True)
class Block:
    """A block of the page, and the file that the text above it named last."""

    language: str
    text: str
    file: str


def blocks():
    """The blocks of the section, in their order."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition("\n## Add an operator in fifteen minutes\n")[2].partition("\n## ")[0]
    parts = re.split(r"^```(\w*)\n(.*?)^```\n", section, flags=re.MULTILINE | re.DOTALL)
    for above, language, text in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
        named = re.findall(r"[Ii]n `([\w/]+\.\w+)`", above)
        yield Block(language, text, named[-1] if named else "")


def without_the_op(text):
    """A file of the tree without exp2: its entry, or its kernel."""
    text = re.sub(r"^- (func|name): exp2\(.*?(?=^- |^# |\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"^(exp2 = |def exp2\().*?(?=^\S|\Z)", "", text, flags=re.DOTALL | re.MULTILINE)


def edit(path, change):
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")


def schemas(tree):
    return set((tree / "generated" / "schemas.py").read_text(encoding="utf-8").splitlines())


def python(*command, cwd):
    return run(sys.executable, *command, cwd=cwd)


def git(tree, *command):
    run("git", "-c", "user.name=Contributor", "-c", "user.email=someone@example.org", *command, cwd=tree)


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """A repository with a copy of the tree that has no exp2, even if the tree has it by now."""
    before = tmp_path_factory.mktemp("before")
    copy_of_tree(before, NEEDED)
    for file in FILES:
        edit(before / file, without_the_op)
    python("-m", "codegen", cwd=before)
    git(before, "init", "--quiet")
    git(before, "add", "--all")
    git(before, "commit", "--quiet", "--message", "Before")
    return before


# ---- following the page ----


def follow(tree):
    """Do what the page says, and check what it says will happen."""
    output = ""
    for block in blocks():
        if block.language == "sh":
            output = "".join(outcome(line, tree) for line in block.text.splitlines())
        elif block.language == "":
            check_output(block.text, output)
        else:
            write(block, tree / block.file)


def outcome(line, tree):
    """What a command prints, whether it finds something missing or not."""
    command = [sys.executable if word == "python" else word for word in shlex.split(line)]
    done = attempt(*command, cwd=tree)
    missing = "is not complete:" in done.stdout
    assert done.returncode == (1 if missing else 0), f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def check_output(expected, output):
    """Every line is there, but for what '...' stands for: line numbers, and what is not of interest."""
    for line in expected.splitlines():
        words = map(re.escape, line.split("..."))
        assert re.search(rf"^{'.*'.join(words)}$", output, re.MULTILINE), f"{line!r} is not printed:\n{output}"


def write(block, path):
    """Fill in an entry that is there, or append what is not."""
    text = path.read_text(encoding="utf-8")
    if block.text in text:
        return
    assert block.file in ("derivatives.yaml", KERNELS), f"{block.file} does not contain\n{block.text}"
    first = block.text.partition("\n")[0]
    old = re.search(rf"^{re.escape(first)}\n(  .*\n)*", text, re.MULTILINE)
    assert bool(old) == (block.language == "yaml")
    new = text.replace(old.group(), block.text) if old else f"{text.rstrip()}\n{block.text}"
    path.write_text(new, encoding="utf-8")


@pytest.fixture(scope="module")
def copy(before, tmp_path_factory):
    """The tree after the steps of the page."""
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(before, copy, dirs_exist_ok=True)
    follow(copy)
    return copy


# ---- what comes of it ----


def test_the_page_goes_all_the_way():
    found = list(blocks())
    commands = [line for block in found if block.language == "sh" for line in block.text.splitlines()]
    assert commands[0].startswith("python -m codegen new ") and commands[-1] == "python -m codegen diff HEAD"
    assert [block.file for block in found if block.language in ("yaml", "python")][:3] == [
        "ops.yaml",
        KERNELS,
        FILES[1],
    ]


def test_the_op_works(copy):
    assert python("-W", "error", "-c", PROGRAM, cwd=copy).strip() == "works"


def test_it_is_documented(copy):
    pages = (copy / "docs" / "ops").glob("*.md")
    assert any("exp2" in page.read_text(encoding="utf-8") for page in pages)


def test_its_tests_appear_and_pass(copy):
    output = python("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/ops", "-k", "exp2", cwd=copy)
    assert int(re.search(r"^(\d+) passed", output, re.MULTILINE).group(1)) > 5, output


def test_generated_files_are_current(copy):
    python("-m", "codegen", "check", cwd=copy)


def test_a_reviewer_sees_one_op_with_its_variants(before, copy):
    added = schemas(copy) - schemas(before)
    assert schemas(before) <= schemas(copy)
    assert len(added) == 3 and all("exp2" in line for line in added)


def test_nothing_else_in_the_files_changes(before, copy):
    for file in FILES:
        texts = [(tree / file).read_text(encoding="utf-8") for tree in (before, copy)]
        assert without_the_op(texts[1]).rstrip() == texts[0].rstrip()


def test_without_a_kernel_it_says_which_is_missing(copy, tmp_path):
    shutil.copytree(copy, tmp_path / "copy", dirs_exist_ok=True)
    edit(tmp_path / "copy" / KERNELS, without_the_op)
    python("-m", "codegen", cwd=tmp_path / "copy")
    call = "import mindtorch as torch; torch.exp2(torch.ones(1))"
    done = attempt(sys.executable, "-c", call, cwd=tmp_path / "copy")
    assert "NotImplementedError" in done.stderr
    assert f"{KERNELS.rpartition('/')[0]}/" in done.stderr

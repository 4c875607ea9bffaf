"""The section of docs/npu.md on a kernel, step by step, in a copy of the tree whose NPU does not have it."""

import re
import shlex
import sys

import pytest

from tests.npu.fixtures import available
from tests.packaging.commands import ROOT, copy_of_tree, run

pytestmark = pytest.mark.site  # a manual is followed where manuals are built

NEEDED = ".gitignore codegen generated mindtorch schemas tests docs ops.yaml derivatives.yaml pyproject.toml".split()
MODULE = "mindtorch/backends/npu/special.py"
STUBS = "generated/stubs/npu/special.py"


def blocks():
    """Language and text of each block of the section."""
    page = (ROOT / "docs" / "npu.md").read_text(encoding="utf-8")
    section = page.partition("\n## Write a kernel\n")[2].partition("\n## ")[0]
    return re.findall(r"^```(\w+)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)


def edit(path, *changes):
    text = path.read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text, f"{path} has no {before!r}"
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """The tree as if the NPU had no kernel for the op. (Its generated files are made anew by the first step.)"""
    folder = tmp_path_factory.mktemp("tree")
    copy_of_tree(folder, NEEDED)
    edit(folder / "ops.yaml", ("{CPU: entr, NPU: entr}", "{CPU: entr}"))
    edit(folder / MODULE, ("from mindtorch.backends.npu.choosing import entr as entr\n", ""))
    return folder


def obey(commands, tree):
    """Runs the commands as they are printed; variables may stand in front of them."""
    for line in commands.splitlines():
        words = [sys.executable if word == "python" else word for word in shlex.split(line)]
        count = words.index(sys.executable)
        variables = dict(word.split("=", 1) for word in words[:count])
        yield run(*words[count:], cwd=tree, PYTHONPATH=str(tree), **variables)


def way(tree):
    """How the op runs, as `stats` says."""
    lines = run(sys.executable, "-m", "codegen", "stats", cwd=tree).splitlines()
    return next(line.partition(" (")[0].strip() for line in lines if re.search(r": .*\bspecial_entr\b", line))


def test_the_section(tree):
    available()
    (_, entry), (_, generate), (_, stub), (_, kernel), (_, test) = blocks()
    edit(tree / "ops.yaml", ("  dispatch: {CPU: entr}\n", entry))
    list(obey(generate, tree))
    assert stub in (tree / STUBS).read_text(encoding="utf-8")
    path = tree / MODULE
    head, _, rest = path.read_text(encoding="utf-8").partition("\n\n")
    path.write_text(f"{head}\n\n{kernel}\n\n{rest}", encoding="utf-8")
    generated, tested = obey(test, tree)
    assert way(tree) == "by hand" and "generated/npu_kernels.py" in generated
    assert not (tree / STUBS).exists() or stub not in (tree / STUBS).read_text(encoding="utf-8")
    assert re.search(r"^1 passed", tested, re.MULTILINE)
    program = "from tests.npu import simulator; simulator.start(); import mindtorch as torch; "
    program += "print(torch.special.entr(torch.tensor([1.0, 0.0, -1.0, 2.0], device='npu')).tolist())"
    shown = run(sys.executable, "-W", "error", "-c", program, cwd=tree, PYTHONPATH=str(tree))
    assert shown == "[-0.0, 0.0, -inf, -1.3862943649291992]\n"

"""An op changes, in a copy of the tree: old calls and saved programs keep working."""

import sys

from tests.packaging.commands import copy_of_tree, run

NEEDED = "codegen generated mindtorch schemas docs ops.yaml derivatives.yaml pyproject.toml".split()
BEFORE = """
import mindtorch as torch
from mindtorch.program import record

program = record(lambda x: torch.tile(x, dims=(2,)) + x.tile(1), torch.ones(1))
program.save("old.program")
"""
AFTER = """
import warnings
import mindtorch as torch
from mindtorch.program import load, record

program = load("old.program")
assert program(torch.ones(1)).tolist() == [2, 2]
print(program)
print(record(lambda x: x.tile(2), torch.ones(1)))

x = torch.tensor([1, 2])
with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    assert torch.tile(x, reps=(2,)).tolist() == x.tile(2).tolist() == x.tile((2,)).tolist() == [1, 2, 1, 2]
    assert not found
    for _ in range(3):
        assert x.tile(dims=(2,)).tolist() == [1, 2, 1, 2]
        assert torch.repeated(x, 2).tolist() == [1, 2, 1, 2]
for warning in found:
    print(warning.category.__name__, warning.lineno, warning.message)
"""
DEFINITION = "  decomposition: self.repeat((1,) * max(self.ndim - len(dims), 0) + tuple(dims))\n"
ENTRIES = """\
  deprecated:
    - func: tile(Tensor self, SymInt[] dims) -> Tensor
      since: 0.2.0
      removal: 0.4.0
      replacement: tile(self, dims)
    - func: repeated(Tensor self, int times) -> Tensor
      since: 0.2.0
      removal: 0.5.0
      replacement: tile(self, (times,))
  versions:
    - version: 1
      func: tile(Tensor self, SymInt[] dims) -> Tensor
      upgrade: tile(self, dims)
  divergence: NumPy's name of the argument
"""
PRINTED = """\
program(%0):
    %1 = tile version 1(input=%0, dims=(2,))
    %2 = tile version 1(input=%0, dims=(1,))
    %3 = add.Tensor(input=%1, other=%2)
    return %3
program(%0):
    %1 = tile(input=%0, reps=(2,))
    return %1
FutureWarning 17 `x.tile(dims=...)` is deprecated since mindtorch 0.2.0 and will be removed in 0.4.0; \
use `x.tile(reps=...)` instead.
FutureWarning 18 `torch.repeated(x, times)` is deprecated since mindtorch 0.2.0 and will be removed in 0.5.0; \
use `torch.tile(x, (times,))` instead.
"""


def copied(folder):
    copy_of_tree(folder, NEEDED)
    return folder


def edit(path, *changes):
    text = path.read_text(encoding="utf-8")
    for before, after in changes:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")


def test_an_argument_is_renamed(tmp_path):
    tree = copied(tmp_path)
    run(sys.executable, "-c", BEFORE, cwd=tree)
    edit(tree / "ops.yaml", ("tile(Tensor self, SymInt[] dims)", "tile(Tensor self, SymInt[] reps)"))
    edit(tree / "ops.yaml", (DEFINITION, DEFINITION.replace("dims", "reps") + ENTRIES))
    run(sys.executable, "-m", "codegen", cwd=tree)
    assert run(sys.executable, "-c", AFTER, cwd=tree) == PRINTED

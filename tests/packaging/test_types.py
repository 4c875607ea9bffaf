"""What type checkers say about programs that use mindtorch: nothing, unless they are wrong."""

import ast
import importlib
import shutil
import sys
from operator import attrgetter
from pathlib import Path
from types import ModuleType

import pytest

import mindtorch
from tests.checkers import EVERYDAY, everyday, remarks, tutorials_and_examples
from tests.packaging.commands import ROOT, new_environment, run
from tests.packaging.conftest import NOT_SOURCES

# An error in each line that is marked, and in no other.
WRONG = """
import mindtorch
import mindtorch as torch
import mindtorch.nn as nn
import mindtorch.nn.functional as F
from mindtorch import fft, linalg, optim
from mindtorch.nn import Linera  # error
from mindtorch.utils import data

x = torch.zeros(2, 3)
layer = nn.Linear(3, 4)
torch.softmx(x, 1)  # error
x.softmx(1)  # error
x.backwards()  # error
x.shap  # error
nn.Linaer(3, 4)  # error
F.rellu(x)  # error
F.softmx(x)  # error
linalg.invert(x)  # error
fft.ftt(x)  # error
optim.Adma([x])  # error
data.DataLoadr(x)  # error
torch.float23  # error
torch.utils.dat  # error
torch.cuda.is_availble()  # error
torch.autograd.gard(x, x)  # error
torch.func.vmpa  # error
mindtorch.ones(2).summ()  # error
x.sum(dimension=1)  # error
x.sum("rows")  # error
x.reshape("3")  # error
x.unsqueeze()  # error
x.size("rows")  # error
x + "one"  # error
torch.cat(x, dims=0)  # error
torch.zeros("two")  # error
torch.ones(2, dtype="float32")  # error
torch.softmax(x)  # error
torch.threshold(x, 0.0, 1.0, out=x)
torch.threshold(x, 0.0, 1.0, inplace=True)  # error
torch.group_norm(x, 3, cudnn_enabled=False)
F.group_norm(x, 3, cudnn_enabled=False)  # error
F.cross_entropy(x)  # error
F.relu(x, place=True)  # error
nn.Linear(3)  # error
nn.Linear("three", 4)  # error
nn.Sequential(3)  # error
optim.SGD(layer.parameters(), rate=0.1)  # error
optim.Adam(3)  # error
layer.named_parmeters()  # error
torch.tensor()  # error
torch.manual_seed()  # error
x.requires_grad_("yes")  # error
len(x.item())  # error
x.shape.ndimension  # error


class Logged(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))
"""


AREAS = (
    "autograd", "cuda", "distributions", "fft", "func", "linalg", "nn", "nn.functional", "nn.init", "nn.utils", "optim",
    "optim.lr_scheduler", "special", "utils.data",
)  # fmt: skip


def every_name():
    """A program with all public names, and all attributes of tensors, modules and optimizers."""
    lines = ["import mindtorch as torch", *(f"import mindtorch.{area}" for area in AREAS)]
    names = [name for name in dir(mindtorch) if not isinstance(getattr(mindtorch, name), ModuleType)]
    lines += [f"torch.{name}" for name in {*names, *mindtorch._LAZY_MODULES} if is_public(name)]
    for area in AREAS:
        module = importlib.import_module(f"mindtorch.{area}")
        own = getattr(module, "__all__", None) or defined_in(module)
        lines += [f"torch.{area}.{name}" for name in own]
    for cls in ("Tensor", "nn.Module", "optim.Optimizer"):
        found = attrgetter(cls)(mindtorch)
        lines += [
            "",
            f"def look_at_{found.__name__}(it: torch.{cls}) -> None:",
            *(f"    it.{name}" for name in dir(found) if is_public(name)),
        ]
    return "\n".join(lines) + "\n"


def is_public(name):
    return not name.startswith("_") and name not in ("Any", "TYPE_CHECKING", "import_module")


def defined_in(module):
    """The public functions and classes that a file defines, or imports to show them."""
    for statement in ast.parse(Path(module.__file__).read_text()).body:
        names = [statement.name] if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) else []
        if isinstance(statement, ast.ImportFrom):
            names = [alias.name for alias in statement.names if alias.name == alias.asname]
        yield from filter(is_public, names)


def wrong_lines(program):
    return [number for number, line in enumerate(program.splitlines(), 1) if line.endswith("# error")]


@pytest.mark.parametrize("checker", ["pyright", "mypy"])
def test_the_wrong_lines_of_programs_are_found_and_no_others(checker, tmp_path):
    programs = {**everyday(), **tutorials_and_examples(), "names.py": every_name(), "wrong.py": WRONG}
    errors = [remark for remark in remarks(checker, tmp_path, programs) if not remark.is_type]
    assert [remark for remark in errors if remark.file != "wrong.py"] == []
    assert sorted({remark.line for remark in errors}) == wrong_lines(WRONG)


def test_everyday_programs_run():
    program = "import runpy, sys; [runpy.run_path(path) for path in sys.argv[1:]]"
    run(sys.executable, "-W", "ignore", "-c", program, *EVERYDAY, cwd=ROOT)


@pytest.mark.wheel
@pytest.mark.parametrize("way", ["wheel", "editable"])
def test_checkers_see_what_pip_has_installed(way, wheel, tmp_path):
    """An installation for editing is a plain line in a file of paths: no checker follows an import hook."""
    if way == "editable":
        shutil.copytree(ROOT, tmp_path / "copy", ignore=NOT_SOURCES)
    source = ["-e", tmp_path / "copy"] if way == "editable" else [wheel]
    python = new_environment(tmp_path / "env") / "python"
    run(python, "-m", "pip", "install", "--disable-pip-version-check", "-q", "--no-deps", *source, cwd=tmp_path)
    for checker in ("pyright", "mypy"):
        errors = [remark for remark in remarks(checker, tmp_path, {"wrong.py": WRONG}, python) if not remark.is_type]
        assert sorted({remark.line for remark in errors}) == wrong_lines(WRONG), checker

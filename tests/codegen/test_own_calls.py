"""Calls of ops in the library's own code: those of an op, or with an argument, that is gone are found."""

import pytest

from codegen.__main__ import main
from codegen.errors import Problems
from codegen.load import load
from codegen.sources.own_calls import check_own_calls
from tests.codegen.project import clean, write_project

OPS = """
- func: mul.Tensor(Tensor self, Tensor other) -> Tensor
  family: pointwise
  autogen: inplace, out
  dispatch: {CPU: mul}

- func: sum(Tensor self) -> Tensor
  family: reduction
  dispatch: {CPU: sum}

- func: sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor
  family: reduction
  dispatch: {CPU: sum_dim}

- func: ones(SymInt[] size, *, ScalarType? dtype=None) -> Tensor
  family: factory
  factory: true
  dispatch: {CPU: ones}

- func: movedim(Tensor self, int source, int destination) -> Tensor
  family: view
  composite: movedim
  deprecated:
    - func: moveaxis(Tensor self, int source, int destination) -> Tensor
      since: torch
      replacement: movedim(self, source, destination)
"""
IMPORT = "from mindtorch.dispatch import ops\n"
RUN = "from mindtorch.backends.batched.batch import run\n"
REMEDY = "follow the change of ops.yaml, or keep the old form there: under 'deprecated'"


def found_in(root, code, file="mindtorch__nn__modules__linear"):
    model = load(write_project(root, OPS, "[]", **{file: code}))
    problems = Problems()
    check_own_calls(model, problems)
    return problems.diagnostics


@pytest.mark.parametrize(
    "code",
    [
        IMPORT + "ops.mul(x, y, out=z)\nops.mul_(x, y)\nops.mul_out(x, y, out=z)\n",
        IMPORT + "ops.sum(x)\nops.sum(x, 0, keepdim=True)\nops.sum_dim_IntList(x, None)\nops.sum(*x)\n",
        IMPORT + "ops.ones(2, 3, dtype=d, requires_grad=True)\nops.ones((2,), **options)\n",
        IMPORT + "ops.moveaxis(x, 1, 2, anything=3)\nprint(ops.__dict__)\n",
        RUN + 'run("sum.dim_IntList", x, 0)\nrun(name, x)\n',
        "ops = given\nops.another(x)\n",
        'def run(name): ...\nrun("tests")\n',
        IMPORT + "ops.gone(\n",
    ],
)
def test_calls_that_fit(tmp_path, code):
    assert found_in(tmp_path, code) == ()


@pytest.mark.parametrize(
    ("code", "error", "hint"),
    [
        (IMPORT + "y = ops.erase(x)\n", "2:5: error[E047] this uses ops.erase, which ops.yaml does not have", REMEDY),
        (IMPORT + "summed = ops.summ\n", "2:10: error[E047] this uses ops.summ, which ops.yaml does not have",
         "did you mean 'sum'?"),
        (IMPORT + "y = ops.sum(x, dims=0)\n",
         "2:5: error[E047] this call does not fit ops.yaml: sum() has no argument 'dims'", "did you mean 'dim'?"),
        (IMPORT + "y = ops.mul(x, y, z)\n",
         "2:5: error[E047] this call does not fit ops.yaml: wrong arguments for mul(): 3 positional",
         "it is mul(input, other, *, out=...)"),
        (RUN + 'run("sum.dim", x, 0)\n',
         "2:1: error[E047] this calls the kernel of 'sum.dim', which ops.yaml does not have",
         "did you mean 'sum.dim_IntList'?"),
    ],
)  # fmt: skip
def test_calls_that_do_not_fit(tmp_path, code, error, hint):
    (found,) = found_in(tmp_path, code)
    assert str(found).splitlines()[0] == f"mindtorch/nn/modules/linear.py:{error}"
    assert found.hint == hint


def test_check_refuses_what_a_run_that_writes_only_notes(tmp_path, capsys):
    """The functions have to be there before what calls them can be mended and run."""
    root = write_project(tmp_path, OPS, "[]", mindtorch__optim__sgd=clean(IMPORT + "ops.erase(x)\n"))
    assert main([], root) == 0
    note = "note: mindtorch/optim/sgd.py:2:1: this uses ops.erase, which ops.yaml does not have: " + REMEDY
    assert note in capsys.readouterr().out.splitlines()
    assert main(["check"], root) == 3
    assert "mindtorch/optim/sgd.py:2:1: error[E047]" in capsys.readouterr().err


def test_other_packages_have_no_such_namespace(tmp_path):
    write_project(tmp_path, OPS.partition("\n- func: movedim")[0], "[]", mindtorch__x=IMPORT + "ops.erase(x)\n")
    (tmp_path / "pyproject.toml").write_text('[tool.mindtorch-codegen]\npackage = "mindtorch_more"\n')
    model = load(tmp_path, but_for=("E036",))
    problems = Problems()
    check_own_calls(model, problems)
    assert not problems

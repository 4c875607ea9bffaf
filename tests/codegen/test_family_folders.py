"""A family is a file or a folder, of kernels, composite functions or helpers: a function is in any file of it."""

import re

import pytest

from codegen.emit import docs, ops, registry, stubs
from codegen.load import load
from codegen.project import Project
from codegen.statistics import notes
from tests.codegen.project import clean, diagnostics, load_project, write_project
from tests.codegen.test_helpers import said

OPS = """
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
  family: pointwise
  dispatch: {CPU: add}

- func: exp(Tensor self) -> Tensor
  family: pointwise
  dispatch: {CPU: exp}

- func: square(Tensor self) -> Tensor
  family: pointwise
  autogen: out
  composite: square
"""
CPU, COMPOSITE = "mindtorch/backends/cpu/pointwise", "mindtorch/composite/pointwise"
SUMS = (
    "from mindtorch.backends.cpu.common.loops import loop\n\n\ndef add(input, other):\n    return loop(input, other)\n"
)
LOOPS = "def loop(*operands):\n    return operands\n"
EXP = "\n\ndef exp(input):\n    return add(input, input)\n"
POWERS = f"from {CPU.replace('/', '.')}.sums import add\n{EXP}"
SQUARES = """_loops = kernels_in("mindtorch.backends.cpu.common.loops")


def square(input):
    return _loops.loop(input * input)
"""
FORMS = "def square_out(input, out):\n    return out\n"


def folders(**changed):
    files = {
        "mindtorch__backends__cpu__common__loops": LOOPS,
        "mindtorch__backends__cpu__pointwise__sums": SUMS,
        "mindtorch__backends__cpu__pointwise__powers": POWERS,
        "mindtorch__composite__pointwise__squares": SQUARES,
        "mindtorch__composite__pointwise__forms": FORMS,
    }
    return files | changed


def test_functions_are_found_in_any_file_of_the_folder(tmp_path):
    model = load_project(tmp_path, OPS, "[]", **folders())
    assert {name: kernel.file for name, kernel in model.kernels["CPU", "pointwise"].items()} == {
        "add": f"{CPU}/sums.py",
        "exp": f"{CPU}/powers.py",
    }
    assert {name: function.file for name, function in model.composites["pointwise"].items()} == {
        "square": f"{COMPOSITE}/squares.py",
        "square_out": f"{COMPOSITE}/forms.py",
    }
    assert not list(notes(model))


def test_generated_code_imports_each_file(tmp_path):
    model = load_project(tmp_path, OPS, "[]", **folders())
    kernels = registry.emit(model)["generated/registry/pointwise.py"]
    assert 'cpu_sums = kernels_in("mindtorch.backends.cpu.pointwise.sums")' in kernels
    assert '"add.Tensor": cpu_sums.add,' in kernels and '"exp": cpu_powers.exp,' in kernels
    functions = ops.emit(model)["generated/ops/pointwise.py"]
    for file in ("forms", "squares"):
        assert re.search(rf"^from mindtorch.composite.pointwise import .*{file} as composite_{file}", functions, re.M)
    assert "return composite_squares.square(input)" in functions
    assert "return composite_forms.square_out(input, out=out)" in functions
    assert f"composite: `{COMPOSITE}/squares.py: square`" in docs.emit(model)["docs/ops/pointwise.md"]


def test_two_functions_of_one_name(tmp_path):
    again = {
        "mindtorch__backends__cpu__pointwise__twice": SUMS,
        "mindtorch__composite__pointwise__twice": f"\n\n{SQUARES}",
    }
    write_project(tmp_path, OPS, "[]", **folders(**again))
    found = [(each.code, str(each.location), each.message, each.hint) for each in diagnostics(tmp_path)]
    hint = "rename one of them, or remove it"
    assert found == [
        ("E081", "ops.yaml:3:19", f"two functions are called 'add': {CPU}/sums.py:4:1 and {CPU}/twice.py:4:1", hint),
        (
            "E081",
            "ops.yaml:12:14",
            f"two functions are called 'square': {COMPOSITE}/squares.py:4:1 and {COMPOSITE}/twice.py:4:1",
            hint,
        ),
    ]


def test_a_function_that_is_in_no_file_of_the_folder(tmp_path):
    unwritten = folders(mindtorch__backends__cpu__pointwise__powers="", mindtorch__composite__pointwise__squares="")
    (found,) = diagnostics(write_project(tmp_path, OPS, "[]", **unwritten))
    assert (str(found.location), found.message) == ("ops.yaml:12:14", "unknown composite function 'square'")
    assert found.hint == f"did you mean 'square_out'? otherwise define it in {COMPOSITE}/"
    written = write_project(tmp_path, OPS, "[]", **folders(mindtorch__backends__cpu__pointwise__powers=""))
    model = load(written)
    assert list(notes(model)) == [f"note: exp has no CPU kernel 'exp' in {CPU}/; wrote a stub"]
    assert f'"exp(input)", "{CPU}/"' in stubs.emit(model)["generated/stubs/cpu/pointwise.py"]


def test_where_a_family_is(tmp_path):
    project = Project(write_project(tmp_path, OPS, "[]", **folders()))
    assert project.kernel_place("CPU", "pointwise") == f"{CPU}/"
    assert project.kernel_place("CPU", "view") == "mindtorch/backends/cpu/view.py"
    assert project.composite_place("pointwise") == f"{COMPOSITE}/"
    assert project.formula_place("pointwise") == "mindtorch/autograd/formulas.py"
    (tmp_path / "mindtorch/autograd/formulas.py").unlink()
    (tmp_path / "mindtorch/autograd/formulas/pointwise").mkdir(parents=True)
    assert project.formula_place("pointwise") == "mindtorch/autograd/formulas/pointwise/"
    assert project.formula_place("view") == "mindtorch/autograd/formulas/view.py"


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        (
            {"mindtorch__backends__cpu__pointwise__sums": SUMS.replace("(input, other)\n", "(other, input)\n")},
            ["add(): `add` has changed, which CPU kernels of 2 ops use: `add.Tensor`, `exp`"],
        ),
        (
            {"mindtorch__composite__pointwise__squares": SQUARES.replace("*", "+")},
            ["square: the composite function `square` has changed"],
        ),
        (
            {"mindtorch__composite__pointwise__squares": SQUARES.replace(".loops", ".sums")},
            ["square: `_loops` has changed, which the composite function uses"],
        ),
    ],
    ids=("moved", "changed kernel", "changed composite function", "another module"),
)
def test_files_that_become_folders(tmp_path, changed, expected):
    one_file = {
        "mindtorch__backends__cpu__loops": LOOPS,
        "mindtorch__backends__cpu__pointwise": SUMS.replace(".common", "") + EXP,
        "mindtorch__composite__pointwise": f"{SQUARES.replace('.common', '')}\n\n{FORMS}",
    }
    old = load_project(tmp_path / "old", OPS, "[]", **one_file)
    new = load_project(tmp_path / "new", OPS, "[]", **folders(**changed))
    assert said(old, new) == expected


def test_a_helper_is_found_in_the_folder_of_a_family(tmp_path):
    derivatives = "- name: exp(Tensor self) -> Tensor\n  self: twice(grad)\n"
    root = write_project(tmp_path, clean(OPS), derivatives, **folders())
    (root / "mindtorch/autograd/formulas.py").unlink()
    folder = root / "mindtorch/autograd/formulas/pointwise"
    folder.mkdir(parents=True)
    (folder / "powers.py").write_text("def twice(grad):\n    return grad + grad\n")
    model = load(root)
    assert model.helpers["twice"] == "mindtorch.autograd.formulas.pointwise.powers"
    assert model.helper_files["twice"] == "mindtorch/autograd/formulas/pointwise/powers.py"

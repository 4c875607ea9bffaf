"""examples/wavelets, a package with ops of its own: in the checkout, and installed from wheels."""

import os
import re
import shutil
import sys

import pytest

from codegen.__main__ import main
from codegen.keys import DERIVATIVE_KEYS, LIBRARY_KEYS, OP_KEYS
from codegen.load import load
from codegen.project_file import SETTINGS
from tests.packaging.commands import ROOT, attempt, new_environment, run

SAMPLE = ROOT / "examples" / "wavelets"
NOT_SOURCES = shutil.ignore_patterns("__pycache__", "*.egg-info", ".*_cache", "build")
CODEGEN = (sys.executable, "-m", "codegen")

# What a user of the package does: values, gradients, the dispatcher, a backend of the package.
PROGRAM = """
import mindtorch as torch
import wavelets

signal = torch.tensor([1.0, 1.0, 2.0, 0.0], requires_grad=True)
approximation, detail = wavelets.haar(signal)
(approximation**2).sum().backward()
assert torch.allclose(signal.grad, torch.tensor([2.0, 2.0, 2.0, 2.0])), signal.grad
assert type(approximation.grad_fn).__name__ == "HaarBackward0"
assert wavelets.soft_threshold_(detail.detach().clone(), 0.5).tolist()[0] == 0
assert torch.allclose(wavelets.denoise(signal, 10.0), torch.ones(4))
assert torch.ops.wavelets.energy(signal).item() == 6
assert wavelets.haar(torch.ones(6, 2, device="meta"), 0).detail.shape == (3, 2)
assert wavelets.soft_threshold(signal.detach().to("wave"), 0.5).cpu().tolist() == [0.5, 0.5, 1.5, 0.0]
assert not hasattr(torch.Tensor, "haar")
print("works")
"""


@pytest.fixture
def sample(tmp_path):
    """A copy of the package."""
    return shutil.copytree(SAMPLE, tmp_path / "wavelets", ignore=NOT_SOURCES)


def in_checkout(*command, cwd, run=run):
    return run(*command, cwd=cwd, PYTHONPATH=os.pathsep.join([str(ROOT), str(cwd / "src")]))


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


# -------------------- in the checkout --------------------


def test_committed_files_are_current(sample):
    assert "up to date" in in_checkout(*CODEGEN, "check", cwd=sample)


def test_files_come_out_the_same_when_they_are_made_anew(sample):
    shutil.rmtree(sample / "src" / "wavelets" / "_generated")
    in_checkout(*CODEGEN, cwd=sample)
    for path in (SAMPLE / "src" / "wavelets" / "_generated").rglob("*.py"):
        assert (sample / path.relative_to(SAMPLE)).read_text() == path.read_text()


def test_the_package_works(sample):
    assert in_checkout(sys.executable, "-W", "error", "-c", PROGRAM, cwd=sample).strip() == "works"


def test_its_tests_pass(sample):
    assert " passed" in in_checkout(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=sample)


def test_its_statistics_are_counted(sample):
    shown = in_checkout(*CODEGEN, "stats", cwd=sample)
    assert "6 ops in 3 families" in shown
    assert "NPU: 1 of 1 kernels" in shown and "WAVE: 3 of 3 kernels" in shown


def test_the_generator_imports_neither_library(sample):
    code = (
        "import sys; from codegen.__main__ import main; main(['check']);"
        "assert not {'mindtorch', 'wavelets'} & sys.modules.keys()"
    )
    in_checkout(sys.executable, "-c", code, cwd=sample)


def test_a_missing_kernel_says_what_to_write_and_where(sample):
    edit(sample / "src" / "wavelets" / "cpu" / "reduction.py", "def energy", "def power")
    shown = in_checkout(*CODEGEN, cwd=sample)
    assert "note: energy has no CPU kernel 'energy' in src/wavelets/cpu/reduction.py; wrote a stub" in shown
    call = "import mindtorch, wavelets; wavelets.energy(mindtorch.ones(2))"
    failed = in_checkout(sys.executable, "-c", call, cwd=sample, run=attempt)
    file = "src/wavelets/cpu/reduction.py"
    message = f"wavelets::energy has no CPU kernel: define `def energy(input, dim, keepdim, out=None)` in {file}"
    assert f"NotImplementedError: {message}" in failed.stderr


MISTAKES = [
    ("ops.yaml", "  autogen: inplace, out\n", "  variants: method\n", "ops.yaml:9:3: error[E106] 'variants' is for"),
    ("ops.yaml", "family: reduction", "family: linalg", "error[E015] unknown value 'linalg' of 'family'"),
    ("ops.yaml", "{CPU: energy}", "{GPU: energy}", "error[E015] unknown backend 'GPU'"),
    ("derivatives.yaml", "inverse_haar(*", "inverse_har(*", "error[E061] unknown function 'inverse_har'"),
    ("derivatives.yaml", "slice_backward(", "slice_backwards(", "help: did you mean 'slice_backward'?"),
    ("derivatives.yaml", "beyond(self, threshold)", "beyond(self)", "help: it is beyond(tensor, threshold)"),
    ("derivatives.yaml", "haar(grad, dim)", "har(grad, dim)", "help: did you mean 'haar'?"),
    ("src/wavelets/cpu/reduction.py", "dim, keepdim, out", "dim, out", "error[E038] the function 'energy' takes"),
    ("src/wavelets/composite/shrinkage.py", "def denoise", "def smooth", "help: define it in src/wavelets/composite/"),
]


@pytest.mark.parametrize(("file", "old", "new", "shown"), MISTAKES)
def test_mistakes_are_reported_as_for_the_library(sample, capsys, file, old, new, shown):
    edit(sample / file, old, new)
    assert main(["--project", str(sample), "check"]) == 3
    assert shown in capsys.readouterr().err


def test_a_new_package_passes_its_tests(tmp_path):
    in_checkout(*CODEGEN, "init", "splines", cwd=tmp_path)
    assert "up to date" in in_checkout(*CODEGEN, "check", cwd=tmp_path)
    assert " passed" in in_checkout(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path)


def test_the_files_of_a_new_package_explain_their_keys(tmp_path, capsys):
    assert main(["--project", str(tmp_path), "init", "splines"]) == 0
    for file, keys in (("ops.yaml", OP_KEYS), ("derivatives.yaml", DERIVATIVE_KEYS)):
        head = (tmp_path / file).read_text().partition("\n\n")[0]
        listed = set(re.findall(r"^#   (\w+)", head, re.MULTILINE))
        assert {key.name for key in keys if key.name not in LIBRARY_KEYS} <= listed
        assert not listed & set(LIBRARY_KEYS)


def test_init_overwrites_nothing(tmp_path, capsys):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "splines"\n')
    (tmp_path / "ops.yaml").write_text((SAMPLE / "ops.yaml").read_text().partition("- func")[0] + "[]\n")
    (tmp_path / "derivatives.yaml").write_text("[]\n")
    assert main(["--project", str(tmp_path), "init", "splines"]) == 0
    settings = (tmp_path / "pyproject.toml").read_text()
    assert settings.startswith('[project]\nname = "splines"\n\n[tool.mindtorch-codegen]\n')
    assert (tmp_path / "derivatives.yaml").read_text() == "[]\n"
    assert main(["--project", str(tmp_path), "init", "splines"]) == 3
    assert "this folder is a project already" in capsys.readouterr().err


def test_init_finds_a_package_that_is_beside_the_settings(tmp_path, capsys):
    (tmp_path / "splines").mkdir()
    (tmp_path / "splines" / "__init__.py").write_text(
        "from splines._generated import registry as registry\nfrom splines._generated.functions import *\n"
    )
    assert main(["--project", str(tmp_path), "init", "splines"]) == 0
    assert "kept splines/__init__.py, which was there" in capsys.readouterr().out
    assert not (tmp_path / "src").exists() and (tmp_path / "splines/_generated/functions.py").exists()
    settings = (tmp_path / "pyproject.toml").read_text()
    assert 'CPU = "splines/cpu"' in settings and 'where = ["."]' in settings
    pytest_here = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert " passed" in run(*pytest_here, cwd=tmp_path, PYTHONPATH=os.pathsep.join([str(ROOT), str(tmp_path)]))


# A package whose ops are made of those of another one, in a kernel, a formula and a composite function.
SECOND = {
    "ops.yaml": """\
- func: sixth(Tensor self) -> Tensor
  family: pointwise
  promotion: default
  shape: broadcast
  dispatch: {CPU: sixth}
  dtypes: wide_float
  samples: unary

- func: ninth(Tensor self) -> Tensor
  family: pointwise
  composite: ninth
  dtypes: wide_float
  samples: unary
""",
    "derivatives.yaml": """\
- name: sixth(Tensor self) -> Tensor
  self: grad * 6 * third_power(self) * self**2
  result: auto_element_wise
""",
    "src/knots/formulas.py": "import splines\n\n\ndef third_power(x):\n    return splines.cube(x)\n",
    "src/knots/composite/__init__.py": "",
    "src/knots/composite/pointwise.py": """\
import splines


def ninth(input):
    return splines.cube(splines.cube(input))
""",
    "src/knots/cpu/pointwise.py": """\
from mindtorch.backends.writing import deliver


def sixth(input, out=None):
    return deliver(input**6, out)
""",
}


def test_a_package_can_use_the_ops_of_another(tmp_path):
    first, second = tmp_path / "first", tmp_path / "second one"
    for folder, name in ((first, "splines"), (second, "knots")):
        folder.mkdir()
        in_checkout(*CODEGEN, "init", name, cwd=folder)
    for path, text in SECOND.items():
        (second / path).parent.mkdir(exist_ok=True)
        (second / path).write_text(text)
    in_checkout(*CODEGEN, cwd=second)
    path = os.pathsep.join([str(ROOT), str(second / "src"), str(first / "src")])
    pytest_here = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert " passed" in run(*pytest_here, cwd=second, PYTHONPATH=path)


def test_two_packages_with_one_namespace_are_refused(tmp_path):
    for name in ("splines", "knots"):
        folder = tmp_path / name
        folder.mkdir()
        in_checkout(*CODEGEN, "init", name, cwd=folder)
    settings = tmp_path / "knots" / "pyproject.toml"
    edit(settings, 'package = "knots"\n', 'package = "knots"\nnamespace = "splines"\n')
    in_checkout(*CODEGEN, cwd=tmp_path / "knots")
    path = os.pathsep.join([str(ROOT), *(str(tmp_path / name / "src") for name in ("splines", "knots"))])
    failed = attempt(sys.executable, "-O", "-c", "import splines, knots", cwd=tmp_path, PYTHONPATH=path)
    assert (
        "two packages have an op 'splines::cube': it is registered by splines._generated.ops.pointwise" in failed.stderr
    )


def test_new_says_what_to_write_and_the_tests_fail_until_it_is_written(sample):
    op = "ripple(Tensor self, Tensor other, *, Scalar factor=1) -> Tensor"
    shown = in_checkout(*CODEGEN, "new", op, "--family", "shrinkage", cwd=sample)
    assert "src/wavelets/cpu/shrinkage.py: def ripple(input, other, factor)" in shown
    assert "in: python -m pytest tests -k" in shown
    entry = (sample / "ops.yaml").read_text().partition(f"- func: {op}\n")[2].partition("\n\n")[0]
    assert entry.splitlines()[1] == "  dispatch: {CPU: ripple, WAVE: ripple}"
    assert "variants" not in entry
    pytest_of_op = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-k", "ripple")
    failed = in_checkout(*pytest_of_op, cwd=sample, run=attempt)
    assert failed.returncode == 1
    assert "yield calls of ripple in tests/samples.py, such as call(make(2, 3), make(2, 3))" in failed.stdout


def test_diff_shows_what_callers_of_the_package_see(sample, capsys):
    assert main(["--project", str(sample), "snapshot", "0.1.0"]) == 0
    assert "haar(Tensor self, int dim=-1) -> " in (sample / "schemas" / "v0.1.0.txt").read_text()
    for file in ("ops.yaml", "derivatives.yaml"):
        edit(sample / file, "haar(Tensor self, int dim=-1)", "haar(Tensor self, int axis=-1)")
    edit(sample / "derivatives.yaml", "(grads), dim)", "(grads), axis)")
    edit(sample / "derivatives.yaml", "haar(self_t, dim)", "haar(self_t, axis)")
    for backend in ("cpu", "meta"):
        edit(sample / "src" / "wavelets" / backend / "transform.py", "def haar(input, dim", "def haar(input, axis")
    capsys.readouterr()
    assert main(["--project", str(sample), "diff", str(SAMPLE)]) == 1
    assert "`wavelets.haar(x, dim=0)`" in capsys.readouterr().out
    assert main(["--project", str(sample), "diff"]) == 1
    assert capsys.readouterr().out.startswith("v0.1.0 -> the working tree\n\nbreaking haar\n")


# -------------------- pages --------------------


def test_the_program_of_the_readme_prints_what_it_says(sample):
    (program,) = re.findall(r"```python\n(.*?)```", (SAMPLE / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    shown = in_checkout(sys.executable, "-W", "error", "-c", program, cwd=sample)
    assert shown.splitlines() == re.findall(r"  # (.*)", program)


def test_links_of_the_readme_lead_somewhere():
    targets = re.findall(r"\]\(([^)]+)\)", (SAMPLE / "README.md").read_text(encoding="utf-8"))
    assert targets
    assert [target for target in targets if not (SAMPLE / target).exists()] == []


def test_the_readme_shows_every_op():
    rows = re.findall(r"^\| (`.*?) \|", (SAMPLE / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    shown = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert {op.schema.base for op in load(SAMPLE).ops.values()} <= shown


def test_every_setting_is_documented():
    page = (ROOT / "docs" / "out_of_tree.md").read_text(encoding="utf-8")
    table = page.partition("| Key |")[2].partition("\n\n")[0]
    keys = {key for row in table.splitlines()[2:] for key in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert keys == SETTINGS.keys()


def test_the_page_quotes_the_sample():
    page = (ROOT / "docs" / "out_of_tree.md").read_text(encoding="utf-8")
    imports, _, tests = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert all(line in (SAMPLE / "src/wavelets/__init__.py").read_text() for line in imports.splitlines())
    assert (SAMPLE / "tests/test_ops.py").read_text().endswith(tests)


# -------------------- installed --------------------


@pytest.mark.wheel
def test_installed_from_wheels(wheel, sample, tmp_path):
    programs = new_environment(tmp_path / "env")
    pip = (programs / "python", "-m", "pip", "--disable-pip-version-check", "-q")
    run(*pip, "install", wheel, cwd=tmp_path)
    for command in ((programs / "mindtorch-codegen",), (programs / "python", "-m", "mindtorch_codegen")):
        failed = attempt(*command, "check", cwd=sample)
        assert failed.returncode == 1
        assert failed.stderr.startswith("the generator needs black, jinja2")
        assert failed.stderr.endswith("yaml: pip install black jinja2 pyyaml\n")
    run(*pip, "install", f"{wheel}[codegen]", "pytest", "setuptools>=77", cwd=tmp_path)
    run(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path / "dist", sample, cwd=tmp_path)
    (own_wheel,) = (tmp_path / "dist").glob("wavelets-*.whl")
    run(*pip, "install", "--no-deps", own_wheel, cwd=tmp_path)
    assert "up to date" in run(programs / "mindtorch-codegen", "check", cwd=sample)
    shutil.rmtree(sample / "src")
    assert run(programs / "python", "-I", "-W", "error", "-c", PROGRAM, cwd=tmp_path).strip() == "works"
    tests = run(programs / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=sample)
    assert " passed" in tests

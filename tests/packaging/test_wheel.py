"""The wheel, built through the sdist and installed in a fresh environment, works without the checkout."""

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOT_SOURCES = shutil.ignore_patterns(".git", ".venv*", "build", "dist", "site", "*.egg-info", "__pycache__", ".*_cache")
BIN = "Scripts" if os.name == "nt" else "bin"

# What a user does first: values, gradients, a module, an optimizer; and where all of it was imported from.
PROGRAM = """
import sys
import mindtorch, mindtorch._generated
for module in (mindtorch, mindtorch._generated):
    assert module.__file__.startswith(sys.prefix), module.__file__
assert "codegen" not in sys.modules
x = mindtorch.tensor([1.0, 2.0], requires_grad=True)
(x * x).sum().backward()
assert x.grad.tolist() == [2.0, 4.0]
model = mindtorch.nn.Linear(2, 1)
optimizer = mindtorch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for _ in range(20):
    optimizer.zero_grad()
    loss = mindtorch.nn.functional.mse_loss(model(x.detach()), mindtorch.ones(1))
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
assert losses[-1] < losses[0] / 10 or losses[0] < 1e-6, losses
print("works")
"""

pytestmark = pytest.mark.wheel


def run(*command, cwd):
    """The command's output; its text is in the failure when it fails."""
    done = subprocess.run([str(part) for part in command], cwd=cwd, text=True, capture_output=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel built from the sdist of a copy of the tree; the copy is gone when the wheel is used."""
    copy = tmp_path_factory.mktemp("sources") / "copy"
    shutil.copytree(ROOT, copy, ignore=NOT_SOURCES)
    dist = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--outdir", dist, copy, cwd=dist)
    shutil.rmtree(copy)
    assert len(list(dist.glob("*.tar.gz"))) == 1
    (built,) = dist.glob("*.whl")
    return built


def python_files(folder):
    return {path.relative_to(ROOT / folder).as_posix(): path.read_text() for path in (ROOT / folder).rglob("*.py")}


def test_wheel_holds_the_library_and_nothing_else(wheel):
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"mindtorch"}
    assert any(name.endswith("LICENSE") for name in names)
    wanted = {f"mindtorch/{name}": text for name, text in python_files("mindtorch").items()}
    wanted |= {f"mindtorch/_generated/{name}": text for name, text in python_files("generated").items()}
    installed = {name: archive.read(name).decode() for name in names if name.endswith(".py")}
    assert installed.keys() == wanted.keys()
    assert [name for name in wanted if installed[name] != wanted[name]] == []


def test_wheel_works_without_the_checkout(wheel, tmp_path):
    venv.create(tmp_path / "env", with_pip=True)
    python = tmp_path / "env" / BIN / "python"
    run(python, "-m", "pip", "install", "--disable-pip-version-check", "-q", wheel, cwd=tmp_path)
    assert run(python, "-I", "-W", "error", "-c", PROGRAM, cwd=tmp_path).strip() == "works"

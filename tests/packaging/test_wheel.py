"""The wheel, built through the sdist and installed in a fresh environment, works without the checkout."""

import zipfile

import pytest

from tests.packaging.commands import ROOT, new_environment, run

# What a user does first: values, gradients, a module, an optimizer; and where all of it was imported from.
PROGRAM = """
import sys
import mindtorch, mindtorch._generated
for module in (mindtorch, mindtorch._generated):
    assert module.__file__.startswith(sys.prefix), module.__file__
assert not {"codegen", "mindtorch_codegen"} & sys.modules.keys()
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


def python_files(folder):
    return {path.relative_to(ROOT / folder).as_posix(): path.read_text() for path in (ROOT / folder).rglob("*.py")}


def test_wheel_holds_the_library_the_generator_and_nothing_else(wheel):
    archive = zipfile.ZipFile(wheel)
    names = archive.namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"mindtorch", "mindtorch_codegen"}
    assert any(name.endswith("LICENSE") for name in names)
    library = python_files("mindtorch").items()
    wanted = {f"mindtorch/{name}": text for name, text in library if not name.startswith("npu/package/tests/")}
    wanted |= {f"mindtorch/_generated/{name}": text for name, text in python_files("generated").items()}
    wanted |= {f"mindtorch_codegen/{name}": text for name, text in python_files("codegen").items()}
    installed = {name: archive.read(name).decode() for name in names if name.endswith(".py")}
    assert installed.keys() == wanted.keys()
    assert [name for name in wanted if installed[name] != wanted[name]] == []
    stubs = {path.relative_to(ROOT).as_posix() for path in (ROOT / "mindtorch/_generated").rglob("*.pyi")}
    assert len(stubs) > 5 and stubs | {"mindtorch/py.typed"} <= set(names)
    templates = {f"mindtorch_codegen/templates/{path.name}" for path in (ROOT / "codegen" / "templates").iterdir()}
    assert templates | {"mindtorch_codegen/aclnn_signatures.tsv"} <= set(names)


def test_wheel_works_without_the_checkout(wheel, tmp_path):
    python = new_environment(tmp_path / "env") / "python"
    run(python, "-m", "pip", "install", "--disable-pip-version-check", "-q", wheel, cwd=tmp_path)
    assert run(python, "-I", "-W", "error", "-c", PROGRAM, cwd=tmp_path).strip() == "works"

"""What can be reached after `import torch` alone is reached after `import mindtorch as torch`, too."""

import subprocess
import sys

from tests.harness import ROOT

PROGRAM = """
import pkgutil
import mindtorch
import torch

def reached(root, name):
    for part in name.split("."):
        root = getattr(root, part, None)
    return root is not None

for package in (mindtorch, mindtorch.utils, mindtorch.nn, mindtorch.nn.utils, mindtorch.autograd, mindtorch.optim):
    prefix = package.__name__.partition(".")[2]
    for module in pkgutil.iter_modules(package.__path__, f"{prefix}." if prefix else ""):
        if not module.name.rpartition(".")[2].startswith("_") and reached(torch, module.name):
            print(module.name, reached(mindtorch, module.name))
"""


def test_submodules_are_reached_without_an_import_of_their_own():
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    assert "utils.dlpack True" in lines
    assert [line for line in lines if line.endswith("False")] == []

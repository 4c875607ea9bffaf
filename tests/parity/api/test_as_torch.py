"""mindtorch in the place of PyTorch: plain pickles that each reads of the other, and the table of PyTorch's names."""

import subprocess
import sys

import pytest
import torch

from tests.parity.api import surface

# Under both libraries, each in a process of its own.
MAKE = """
import sys, pickle, torch
from torch import nn
things = {
    "model": nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Dropout(0.5)),
    "tensors": [torch.arange(6.0).reshape(2, 3), torch.ones(2, dtype=torch.bool), torch.tensor(3, dtype=torch.int16)],
    "parameter": nn.Parameter(torch.full((2,), 2.0)),
    "constants": (torch.float16, torch.strided, torch.device("cpu"), torch.Size([2, 3]), torch.channels_last),
    "classes": (nn.Linear, nn.CrossEntropyLoss, torch.optim.Adam, torch.Tensor, torch.utils.data.Subset),
    "function": nn.functional.silu,
    "optimizer": torch.optim.SGD([nn.Parameter(torch.ones(2))], lr=0.5, momentum=0.9),
    "dataset": torch.utils.data.TensorDataset(torch.arange(4)),
    "distribution": torch.distributions.Normal(torch.zeros(2), torch.ones(2)),
}
with open(sys.argv[1], "wb") as file:
    pickle.dump({name: pickle.dumps(thing) for name, thing in things.items()}, file)
"""
SHOW = """
import sys, pickle, torch
with open(sys.argv[1], "rb") as file:
    for name, text in pickle.load(file).items():
        found = pickle.loads(text)
        print(name, getattr(found, "tensors", getattr(found, "__name__", found)))
        if isinstance(found, torch.nn.Module):
            print(found(torch.ones(2, 2)).shape)
"""


def run(library, code, path):
    prefix = ["-m", "mindtorch"] if library == "mindtorch" else []
    done = subprocess.run([sys.executable, *prefix, "-c", code, path], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("writer", ["torch", "mindtorch"])
def test_plain_pickles(writer, tmp_path):
    run(writer, MAKE, tmp_path / "things.pkl")
    shown = {library: run(library, SHOW, tmp_path / "things.pkl") for library in ("torch", "mindtorch")}
    assert shown["mindtorch"].splitlines() == shown["torch"].splitlines()


def test_it_is_refused_when_torch_is_imported():
    program = "import torch, mindtorch; mindtorch.install_as_torch()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert f"ImportError: PyTorch is imported already, from {torch.__file__}: mindtorch can only" in done.stderr


def test_the_table_is_that_of_the_wheel():
    """Written in a process of its own: it imports whatever there is of torch."""
    program = "from tests.parity.api import surface; print('\\n'.join(surface.lines_of(surface.kept())))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout.splitlines() == surface.TABLE.read_text().splitlines()

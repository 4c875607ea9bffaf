"""`python -OO`, which drops docstrings and assertions: programs do the same, and are refused with the same texts."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent

PROGRAM = """
import io
import mindtorch as torch

def refused(call):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).splitlines()[0])

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.LazyLinear(2))
x, target = torch.randn(4, 1, 5, 5), torch.tensor([0, 1, 1, 0])
model(x)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(model(x), target)
    loss.backward()
    optimizer.step()
    print(loss.item())
print(loss.grad_fn.name(), (x.sum() * loss).grad_fn._saved_self)
print(torch.func.vmap(torch.func.grad(lambda x: (x * x.sin()).sum()))(x[:, 0, 0]))
file = io.BytesIO()
torch.save(model.state_dict(), file)
file.seek(0)
print(sorted(torch.load(file)))
print(x.to_sparse().coalesce().values().sum(), torch.fx.symbolic_trace(torch.nn.Linear(2, 2)).code)
class Loud(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        print(function.__name__, args[1:], kwargs)
        return function(*args, **(kwargs or {}))
with Loud():
    torch.add(torch.ones(2), 1, alpha=2)
print(torch.einsum("ij,jk->ik", torch.ones(2, 2), torch.ones(2, 2)))
refused(lambda: torch.add(x, "a"))
refused(lambda: torch.ones(2).view(3))
refused(lambda: torch.zeros(2, dtype=torch.bool) - torch.zeros(2, dtype=torch.bool))
refused(lambda: x.sum("a"))
refused(lambda: torch.matmul(x, torch.ones(7)))
"""


def output_of(*options):
    command = [sys.executable, *options, "-c", PROGRAM]
    own = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run(command, capture_output=True, text=True, timeout=300, env=own, cwd=ROOT)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_program_does_the_same_without_docstrings_and_assertions():
    assert output_of("-OO") == output_of()

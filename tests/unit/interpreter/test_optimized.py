"""`python -OO`, which leaves out docstrings and asserts, runs programs unchanged."""

import subprocess
import sys

from tests.harness import ROOT

PROGRAM = """
import mindtorch as torch
from mindtorch.utils.graph import draw

x = torch.arange(12.0).reshape(3, 4).requires_grad_()
loss = ((x * x + 1).sum(0).clamp(min=0.5) / 7).var(0, correction=2).expand(2, 3).select(0, 1).sum()
loss.backward(retain_graph=True)
print(x.grad)
print(torch.vmap(torch.func.grad(lambda row: (row.sin() * row.norm()).sum()))(x.detach()))
node = loss.grad_fn
while node is not None:
    print(node.name(), [(name, getattr(node, name, None)) for name in dir(node) if name.startswith("_saved_")])
    node = node.next_functions[0][0] if node.next_functions else None
print([line for line in draw(x * x)._repr_svg_().splitlines() if "mul.Tensor(" in line])
for call in [
    lambda: x.sum("a", dim=2),
    lambda: torch.add(x, other="b"),
    lambda: x.view(5, "c"),
    lambda: torch.conv2d(x, x, stride=1.5),
    lambda: torch.ops.aten.mul.Tensor(x),
    lambda: [loss.backward() for _ in range(2)],
]:
    try:
        print("no error", call())
    except (TypeError, RuntimeError) as error:
        print(type(error).__name__, error)
"""


def printed(*options):
    command = [sys.executable, *options, "-c", PROGRAM]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return done.stdout


def test_a_program_prints_the_same():
    plain = printed()
    assert "_saved_self_sym_sizes" in plain and "mul.Tensor(Tensor self" in plain and "no error" not in plain
    assert printed("-OO") == plain

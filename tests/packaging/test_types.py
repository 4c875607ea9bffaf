"""What a type checker says about programs that use mindtorch."""

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[2]

PROGRAM = """
import mindtorch as torch
from mindtorch import Tensor, fft, linalg, special

x = torch.zeros(2, 3)
reveal_type(x)
reveal_type(x.sum(dim=1))
reveal_type(torch.cat([x, x], dim=0))
reveal_type(x.max(1).values)
reveal_type(x.reshape(3, 2).exp().mean())
reveal_type(x * 2 + x)
reveal_type(2 - x)
reveal_type(x == x)
reveal_type(linalg.inv(x, out=None))
reveal_type(special.psi(special.entr(x)))
reveal_type(fft.fft(x, norm="ortho"))
reveal_type(x.unbind(0))
x.backward()
x.sum(dimension=1)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The library as a wheel lays it out, which is the only layout that type checkers understand."""
    root = tmp_path_factory.mktemp("installed")
    package = root / "mindtorch"
    package.mkdir()
    for path in (ROOT / "mindtorch").iterdir():
        if path.name != "_generated":
            (package / path.name).symlink_to(path)
    (package / "_generated").symlink_to(ROOT / "generated")
    return root


def test_the_types_of_functions_methods_and_operators(installed, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(dedent(PROGRAM))
    run = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "--config-file=", str(program)],
        env={"MYPYPATH": str(installed), "PATH": ""},
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    lines = [line.partition(": ")[2] for line in run.stdout.splitlines()]
    tensor = 'note: Revealed type is "mindtorch.tensor.Tensor"'
    assert lines[:11] == [tensor] * 11
    assert lines[11] == 'note: Revealed type is "tuple[mindtorch.tensor.Tensor, ...]"'
    assert lines[12].startswith('error: Unexpected keyword argument "dimension" for overloaded function "sum"')

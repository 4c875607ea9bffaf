"""A module of hand-written kernels that cannot be imported: only calls of its ops fail, and the error says why."""

import importlib
import os
import subprocess
import sys
from inspect import unwrap

import numpy as np
import pytest

from mindtorch.dispatch import registry

# By module of the CPU backend, a call of one of its kernels.
CALLS = {
    "pointwise.pointwise": "torch.exp(x)",
    "reduction.cumulative": "torch.cumsum(x, 0)",
    "view.view": "x.view(2, 1)",
    "indexing.indexing": "torch.index_select(x, 0, i)",
    "linalg.products": "torch.dot(x, x)",
    "dropout.dropout": "torch.native_dropout(x, 0.5, True)",
    "loss.loss": "torch.nn.functional.mse_loss(x, x)",
    "random.random": "x.uniform_()",
    "factory.factory": "torch.eye(2)",
    "fft.fft": "torch.fft.fft(x)",
    "special.bessel": "torch.special.bessel_j0(x)",
    "sparse.sparse": "x.to_sparse()",
}
WRONG = {
    "no_such_name": "NameError: name 'no_such_name' is not defined",
    "import nothing_of_this_name": "ModuleNotFoundError: No module named 'nothing_of_this_name'",
    "this is no Python": "SyntaxError: invalid syntax",
    "{}['key']": "KeyError: 'key'",
}

# Each broken module is tried in a child of a process that has imported what is slow to import.
PROGRAM = f"""
import importlib.abc, importlib.util, os, sys
import numpy, scipy.linalg, scipy.special

CALLS = {CALLS!r}

class Broken(importlib.abc.MetaPathFinder):
    def __init__(self, module):
        self.module = module

    def find_spec(self, name, path, target=None):
        if name == self.module:
            return importlib.util.spec_from_file_location(name, sys.argv[1])

def outcome(call, names):
    try:
        eval(call, names)
    except Exception as error:
        return f"{{type(error).__name__}}: {{error}}"
    return "ran"

def try_all(module):
    import mindtorch as torch
    names = {{"torch": torch, "x": torch.from_numpy(numpy.ones(2)), "i": torch.from_numpy(numpy.zeros(2, int))}}
    for other, call in CALLS.items():
        print(module, other, outcome(call, names), sep="|", flush=True)

for module in CALLS:
    child = os.fork()
    if not child:
        sys.meta_path.insert(0, Broken("mindtorch.backends.cpu." + module))
        try:
            try_all(module)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
"""
NEEDS = {  # modules that import from the second one
    ("dropout.dropout", "random.random"), ("linalg.products", "view.view"), ("indexing.indexing", "view.view"),
}  # fmt: skip


def _run(program: str, *arguments: str) -> str:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MINDTORCH_")}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True, env=plain
    ).stdout


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels") / "half_written.py"


@pytest.fixture(scope="module")
def outcomes(file):
    """What each call says when each of the modules is broken."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    file.write_text("import math\n\nno_such_name\n", encoding="utf-8")
    lines = [line.split("|") for line in _run(PROGRAM, str(file)).splitlines()]
    return {(broken, called): text for broken, called, text in lines}


@pytest.mark.parametrize("module", CALLS)
def test_only_its_ops_fail(module, outcomes, file):
    text = outcomes[module, module]
    assert text.startswith("ImportError: the CPU kernel of ")
    assert f"cannot be imported: {WRONG['no_such_name']} ({file}:3). " in text
    assert f". mindtorch.backends.cpu.{module} has the kernels of " in text
    others = {called: text for (broken, called), text in outcomes.items() if broken == module and called != module}
    assert {called for called, text in others.items() if text != "ran" and (called, module) not in NEEDS} == set()


@pytest.mark.parametrize("line", WRONG)
def test_the_error_has_file_line_and_cause(line, tmp_path, monkeypatch, request):
    """Whatever is wrong with a module, also one that came right in the meantime."""
    monkeypatch.syspath_prepend(tmp_path)
    file = tmp_path / "half_written_kernels.py"
    file.write_text(f"\n{line}\n", encoding="utf-8")
    kernels = registry.kernels_in("half_written_kernels")
    table = registry.KernelTable("exp")
    table[np.ndarray] = kernels.exp
    monkeypatch.setitem(registry._tables, "exp", table)
    request.addfinalizer(lambda: sys.modules.pop(file.stem, None))
    for _ in range(2):
        with pytest.raises(ImportError) as failed:
            table[np.ndarray](np.ones(2))
        expected = f"the CPU kernel of 'exp' cannot be imported: {WRONG[line]} ({file}:2). "
        assert str(failed.value) == f"{expected}half_written_kernels has the kernels of exp"
    file.write_text("from numpy import exp\n", encoding="utf-8")
    importlib.invalidate_caches()
    assert table[np.ndarray](np.zeros(2)).tolist() == [1, 1]
    assert unwrap(table[np.ndarray]) is np.exp  # guarded beside a device's backend, and checked in debug mode


def test_tests_of_other_ops_can_be_collected(file):
    file.write_text("no_such_name\n", encoding="utf-8")
    program = PROGRAM.partition("def outcome")[0] + COLLECTION
    assert "test_values.py::" in _run(program, str(file))


COLLECTION = """
import pytest
sys.meta_path.insert(0, Broken("mindtorch.backends.cpu.special.special"))
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", "tests/ops/test_values.py", "-k", "exp2"]))
"""

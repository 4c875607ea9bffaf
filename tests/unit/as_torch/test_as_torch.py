"""`import torch` means mindtorch: what programs and packages do with the module tree, in processes of their own."""

import json
import os
import subprocess
import sys
import textwrap

import pytest

ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONWARNINGS")}


def run(*arguments, folder=None, status=0, environment=ENVIRONMENT):
    """What a command prints, errors included."""
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def run_code(code, **options):
    return run("-m", "mindtorch", "-c", textwrap.dedent(code), **options)


IMPORTS = {
    "root": "import torch; found = torch",
    "submodule": "import torch.nn.functional as found",
    "from": "from torch.nn import functional as found",
    "lazy": "import torch; found = torch.distributions",
    "import_module": "found = __import__('importlib').import_module('torch.optim.lr_scheduler')",
    "loaded before": "import mindtorch.optim.swa_utils; import torch.optim.swa_utils as found",
    "in sys.modules": "import torch, sys; torch.fft; found = sys.modules['torch.fft']",
}
IS_ONE = """
import sys
name = found.__spec__.name.partition(".")[2]
own, other = (".".join(filter(None, [root, name])) for root in ("mindtorch", "torch"))
assert sys.modules[own] is sys.modules[other] is found, (own, other)
"""

# Each is run, all in one process, and has to print nothing.
PROGRAMS = {
    **{f"one module: {way}": code + IS_ONE for way, code in IMPORTS.items()},
    "one module: the whole tree": """
import pkgutil, sys, torch
for each in pkgutil.walk_packages(torch.nn.__path__, "torch.nn."):
    assert __import__(each.name, fromlist=["x"]) is sys.modules["mindtorch" + each.name[5:]], each.name
""",
    "nothing runs twice": """
import torch, torch.nn as first
from mindtorch import nn as second
import torch.nn.modules.linear, mindtorch.nn.modules.linear
assert first is second and torch.nn.modules.linear.Linear is first.Linear
assert isinstance(first.Linear(1, 1), second.Module)
""",
    "find_spec": """
from importlib import util
import torch
assert util.find_spec("torch").name == "torch" and util.find_spec("torch.nope") is None
assert util.find_spec("torch.utils.data") and util.find_spec("torch.utils.dlpack").origin == torch.utils.dlpack.__file__
""",
    "metadata": """
from importlib import metadata
import numpy, torch
assert metadata.version("torch") == torch.__version__ == "2.13.0" and metadata.distribution("torch").name == "torch"
assert "torch" in metadata.packages_distributions() and metadata.version("numpy") == numpy.__version__
""",
    "what torch does not have": """
try:
    import torch.nope
except ModuleNotFoundError as error:
    assert str(error) == "No module named 'torch.nope'"
""",
    "reload and sources": """
import importlib, inspect, torch.linalg
assert importlib.reload(torch.linalg) is torch.linalg and "def " in inspect.getsource(torch.hub)
assert inspect.getmodule(torch.nn.Linear) is torch.nn.modules.linear
""",
    "names": """
import torch
for name in ("torch.Tensor", "torch.nn.modules.linear.Linear", "torch.optim.adam.Adam", "torch.Size", "torch.device",
             "torch.nn.modules.loss.CrossEntropyLoss", "torch.utils.data.dataloader.DataLoader", "torch.nn.init.zeros_",
             "torch.nn.functional.relu", "torch._utils._rebuild_tensor_v2"):
    thing = eval(name)
    assert f"{thing.__module__}.{thing.__qualname__}" == name
assert f"{torch.ones(1)} {torch.nn.Parameter(torch.ones(1)).data} {type(torch.ones(1))}" == (
    "tensor([1.]) tensor([1.]) <class 'torch.Tensor'>")
""",
    # Pickle and copyreg look things up by `__module__` and `__qualname__`.
    "what has a name of torch is found by it": """
import pickle, sys, torch, torch.nn, torch.optim, torch.utils.data, torch.distributions, torch.distributed, torch.jit
import torch.utils.checkpoint, torch.ao.quantization, torch.multiprocessing, torch.profiler, torch.fx, torch.masked
seen = 0
for module in [each for name, each in sys.modules.items() if name.startswith("torch")]:
    for thing in list(vars(module).values()):
        place = str(getattr(thing, "__module__", None)) if isinstance(thing, type) else ""
        if place.partition(".")[0] == "torch" and not place.startswith(("torch.sparse", "torch.return_types")):
            assert pickle.loads(pickle.dumps(thing)) is thing, thing
            seen += 1
assert seen > 500, seen
""",
    "extra state of a module": """
import torch
class Extra(torch.nn.Module):
    def get_extra_state(self):
        return 5
assert [*torch.nn.Linear(1, 1).state_dict()] == ["weight", "bias"] and Extra().state_dict() == {"_extra_state": 5}
""",
    "files and pickles": """
import copy, io, pickle, torch, warnings
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
whole, state = io.BytesIO(), io.BytesIO()
torch.save(model, whole), torch.save(model.state_dict(), state), whole.seek(0), state.seek(0)
again = torch.load(whole, weights_only=False)
again.load_state_dict(torch.load(state))
x = torch.ones(2)
assert torch.equal(again(x), model(x)) and torch.equal(pickle.loads(pickle.dumps(model))(x), model(x))
warnings.simplefilter("ignore")
for each in (torch.arange(3), x.storage(), x.untyped_storage(), torch.strided, torch.int8, torch.Generator().device):
    assert str(pickle.loads(pickle.dumps(each))) == str(each) == str(copy.copy(each))
""",
}
RUNNER = """
import contextlib, io, json, sys, traceback
results = {}
for name, code in json.load(sys.stdin).items():
    with contextlib.redirect_stdout(io.StringIO()) as said:
        try:
            exec(code, {"__name__": "a_program"})
        except BaseException:
            traceback.print_exc(file=said)
    results[name] = said.getvalue()
print(json.dumps(results))
"""


@pytest.fixture(scope="module")
def results():
    command = [sys.executable, "-m", "mindtorch", "-c", RUNNER]
    done = subprocess.run(command, env=ENVIRONMENT, input=json.dumps(PROGRAMS), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name, results):
    assert results[name] == ""


# -------------------- commands --------------------

PROGRAM = """
import sys, torch
from beside import word
if __name__ == "__main__":
    print(word, torch.__name__, sys.argv, __file__)
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "program.py").write_text(PROGRAM)
    (tmp_path / "folder" / "beside.py").write_text("word = 'beside'\n")
    (tmp_path / "folder" / "__init__.py").write_text("")
    return tmp_path


def test_a_program(program):
    said = run("-m", "mindtorch", "folder/program.py", "--flag", "1", folder=program)
    assert said == "beside torch ['folder/program.py', '--flag', '1'] folder/program.py\n"


def test_a_module(program):
    said = run("-m", "mindtorch", "-m", "program", "x", folder=program / "folder")
    path = program / "folder" / "program.py"
    assert said == f"beside torch ['{path}', 'x'] {path}\n"


def test_a_package_and_a_folder(program):
    (program / "folder" / "__main__.py").write_text("import torch, sys; print(torch.__name__, __name__)")
    for arguments in (["-m", "folder"], ["folder"]):
        assert run("-m", "mindtorch", *arguments, folder=program) == "torch __main__\n"


def test_what_cannot_be_run():
    assert "No module named nothing_of_that_name" in run("-m", "mindtorch", "-m", "nothing_of_that_name", status=1)
    assert "python -m mindtorch program.py" in run("-m", "mindtorch", status=2)
    assert "python -m mindtorch program.py" in run("-m", "mindtorch", "--help")
    assert "No such file" in run("-m", "mindtorch", "nothing_of_that_name.py", status=1)


def test_torch_s_own_commands_run():
    assert "usage" in run("-m", "mindtorch", "-m", "torch.distributed.run", "--help").lower()


# -------------------- other processes --------------------

WORKERS = """
import multiprocessing, subprocess, sys
import torch
from torch.utils.data import DataLoader, Dataset

class Squares(Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        return torch.tensor([i * i], dtype=torch.float32), torch.__name__ + sys.modules["torch"].__file__[-21:]

def add(queue, x):
    queue.put(((x + 1).tolist(), torch.__name__))

if __name__ == "__main__":
    for x, names in DataLoader(Squares(), batch_size=2, num_workers=2, multiprocessing_context="spawn"):
        print(x.flatten().tolist(), set(names))
    context = torch.multiprocessing.get_context("spawn")
    queue = context.Queue()
    process = context.Process(target=add, args=(queue, torch.ones(2)))
    process.start(), print(queue.get()), process.join()
    command = "import importlib.metadata as m, torch; print(m.version('torch'), torch.__file__[-21:])"
    print(subprocess.check_output([sys.executable, "-c", command], text=True), end="")
"""


def test_processes_inherit_it(tmp_path):
    (tmp_path / "program.py").write_text(WORKERS)
    assert run("-m", "mindtorch", "program.py", folder=tmp_path).splitlines() == [
        "[0.0, 1.0] {'torchmindtorch/__init__.py'}",
        "[4.0, 9.0] {'torchmindtorch/__init__.py'}",
        "([2.0, 2.0], 'torch')",
        "2.13.0 mindtorch/__init__.py",
    ]


def test_children_run_the_other_sitecustomize_as_well(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.seen = True\n")
    environment = {**ENVIRONMENT, "PYTHONPATH": str(tmp_path)}
    code = """
        import subprocess, sys
        program = "import torch, sys; print(seen, torch.Tensor)"
        print(subprocess.check_output([sys.executable, "-c", program], text=True))
        """
    assert run_code(code, environment=environment).split("\n")[0] == "True <class 'torch.Tensor'>"


def test_children_that_use_no_torch_import_nothing():
    assert run_code("""
        import subprocess, sys
        program = "import sys; assert not {'mindtorch', 'numpy'} & {*sys.modules}"
        subprocess.check_call([sys.executable, "-c", program])
        """) == ""


# -------------------- from a program itself --------------------


def test_a_program_installs_it():
    assert (
        run(
            "-c",
            textwrap.dedent("""
        import mindtorch
        mindtorch.install_as_torch()
        mindtorch.install_as_torch()
        import torch, sys
        assert torch is mindtorch and sum(type(each).__name__ == "TorchFinder" for each in sys.meta_path) == 1
        """),
        )
        == ""
    )


def test_it_is_refused_when_torch_is_imported(tmp_path):
    (tmp_path / "torch.py").write_text("")
    said = run("-c", "import torch, mindtorch; mindtorch.install_as_torch()", folder=tmp_path, status=1)
    assert "ImportError: PyTorch is imported already, from " in said and str(tmp_path / "torch.py") in said


def test_without_it_nothing_is_called_torch():
    assert (
        run(
            "-c",
            textwrap.dedent("""
        import sys, mindtorch, mindtorch.nn
        assert "torch" not in sys.modules and mindtorch.__name__ == "mindtorch"
        assert mindtorch.nn.Linear.__module__ == "mindtorch.nn.modules.linear"
        assert "mindtorch._as_torch" not in sys.modules
        """),
        )
        == ""
    )


SUITE = """
import torch

def test_sum():
    assert torch.__name__ == "torch" and torch.ones(3).sum() == 3

def test_fails():
    torch.testing.assert_close(torch.ones(1), torch.zeros(1))
"""


def test_a_suite_of_tests(tmp_path):
    (tmp_path / "test_suite.py").write_text(SUITE)
    said = run("-m", "pytest", "-p", "mindtorch.pytest_plugin", "-p", "no:cacheprovider", folder=tmp_path, status=1)
    assert "torch: mindtorch" in said and "1 failed, 1 passed" in said

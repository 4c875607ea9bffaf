"""What `import mindtorch` costs, and that whatever it leaves for later is there when it is first asked for."""

import subprocess
import sys
from statistics import median

import pytest

from mindtorch._generated.families import FUNCTIONS, METHODS

# How long the import of NumPy and mindtorch may take, as a multiple of NumPy's own.
LIMIT = 2.5

_TIMES = """
import time
start = time.process_time()
import numpy
between = time.process_time()
import mindtorch
print((time.process_time() - start) / (between - start))
"""


def run(program: str, *arguments: object) -> str:
    """What a program prints, in a process of its own."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout


def test_the_import_takes_little_more_than_that_of_numpy():
    run(_TIMES)  # compiles what is not compiled yet
    assert median(float(run(_TIMES)) for _ in range(5)) < LIMIT


_LOADED = """
import sys
import mindtorch
print([name for name in sys.modules if name.startswith("mindtorch._generated.ops.")])
areas = ("mindtorch.nn", "mindtorch.serialization", "mindtorch.backends.batched")
print([name for name in areas if name in sys.modules])
"""


def test_the_import_loads_no_family_and_no_area():
    assert run(_LOADED) == "[]\n[]\n"


_ALL_NAMES = """
import random, sys
import mindtorch
from mindtorch._generated.families import FUNCTIONS, METHODS
from mindtorch._generated.functions import __all__ as top
from mindtorch._support.lazy import Unloaded
from mindtorch.dispatch import ops

places = [(mindtorch, name) for name in dir(mindtorch) if name not in sys.argv[2:]]
places += [(mindtorch.Tensor, name) for names in METHODS.values() for name in names]
places += [(ops, name) for name in top]
random.Random(int(sys.argv[1])).shuffle(places)
found = {(id(place), name): getattr(place, name) for place, name in places}
assert not [key for key, value in found.items() if isinstance(value, Unloaded)]
for place, name in places:  # the same again, or what takes its place for __torch_function__
    value, again = found[id(place), name], getattr(place, name)
    assert value is again or value == again, name
for place in (type(ops), mindtorch.Tensor):
    assert not [name for name, value in vars(place).items() if isinstance(value, Unloaded)]
print(len(places))
"""


@pytest.mark.parametrize("seed", range(3))
def test_all_names_are_found_in_any_order(seed):
    assert int(run(_ALL_NAMES, seed)) > 2000


# The first use of a family, in all the ways that there are. Each gives what the others give.
FIRST_USES = {
    "function": "torch.{name}",
    "star": "(lambda names: exec('from mindtorch import *', names) or names['{name}'])({{}})",
    "method": "torch.Tensor.{name}.__name__ and torch.{name}",
    "method of a subclass": "type('Mine', (torch.Tensor,), {{}}).{name}.__name__ and torch.{name}",
    "operators": "torch.ops.aten.{name}.overloads() and torch.{name}",
    "pickle": "pickle.loads(b'\\x80\\x02cmindtorch._generated.ops.{family}\\n{name}\\n.')",
    "module of functions": "import_module('mindtorch._generated.ops.{family}').{name}",
    "registry": "find_op('{name}') or torch.{name}",
    "help": "inspect.signature(torch.Tensor.{name}) and torch.{name}",
    "modes": "overrides.get_overridable_functions() and getattr(torch.{name}, 'function', torch.{name})",
}
_FIRST_USE = """
import inspect, pickle, sys
from importlib import import_module
import mindtorch as torch
from mindtorch import overrides
from mindtorch.dispatch.registry import find_op
found = {use}
function = getattr(torch.{name}, "function", torch.{name})
assert getattr(found, "function", found) is function, found
assert function.op.name == "{name}" and function.op.table or function.op.composite
print(torch.{name}(torch.ones(2)).shape, torch.ones(2).{name}().shape)
"""


@pytest.mark.parametrize("use", FIRST_USES)
def test_a_family_is_loaded_whatever_is_asked_for_first(use):
    name, family = {"method": ("relu", "activation"), "registry": ("exp", "pointwise")}.get(use, ("sin", "pointwise"))
    program = _FIRST_USE.replace("{use}", FIRST_USES[use].format(name=name, family=family)).replace("{name}", name)
    assert run(program) == "torch.Size([2]) torch.Size([2])\n"


_THREADS = """
import threading
import mindtorch as torch
x = torch.ones(3)
uses = [
    lambda: x + x, lambda: x.add(x), lambda: torch.add(x, x), lambda: torch.ops.aten.add(x, x), lambda: x.mul(2),
    lambda: torch.mul(x, 2), lambda: 2 * x, lambda: x.div(0.5),
] * 4
start, results = threading.Barrier(len(uses)), []
def first(use):
    start.wait()
    results.append(use().tolist())
threads = [threading.Thread(target=first, args=(use,)) for use in uses]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert results == [[2.0] * 3] * len(uses), results
"""


def test_threads_that_use_a_family_for_the_first_time_at_once():
    run(_THREADS)


_OVERRIDDEN = """
import mindtorch as torch
class Mine(torch.Tensor):
    def add(self, other):
        return "mine", super().add(other)
word, result = torch.ones(1).as_subclass(Mine).add(1)
assert word == "mine" and result.tolist() == [2.0]
assert torch.Tensor.add is not Mine.add
"""


def test_super_finds_a_method_that_is_not_loaded():
    run(_OVERRIDDEN)


def test_the_index_has_every_function():
    """A function that it lacks would be found or not, depending on what was used before."""
    program = """
from importlib import import_module
from types import FunctionType
from mindtorch._generated.families import FUNCTIONS
for family, names in FUNCTIONS.items():
    module = import_module(f"mindtorch._generated.ops.{family}")
    own = {name for name, value in vars(module).items() if isinstance(value, FunctionType)}
    print(sorted(name for name in own - {*names} if getattr(module, name).__module__ == module.__name__))
"""
    assert run(program) == "[]\n" * len(FUNCTIONS)


def test_no_name_is_in_two_families():
    for table in (FUNCTIONS, METHODS):
        names = [name for each in table.values() for name in each]
        assert len(names) == len(set(names))

"""Nothing is printed when a program ends, whatever still lives then, and wherever it is kept."""

import os
import subprocess
import sys
from textwrap import indent

import pytest

# What a program may leave behind, as `left`.
LEFT = {
    "a tensor inside vmap": "t.func.vmap(lambda x: kept.append(x * 2) or x)(t.ones(3, 2)); left = kept",
    "a graph through vmap": "left = t.func.vmap(lambda x: x * x)(t.ones(3, 2, requires_grad=True))",
    "a tensor inside grad": "t.func.grad(lambda x: kept.append(x) or (x * x).sum())(t.ones(3)); left = kept",
    "a lazy layer": "left = t.nn.LazyLinear(3)",
    "a block without grad": "left = t.no_grad(); left.__enter__()",
    "a mode": "left = t.overrides.TorchFunctionMode(); left.__enter__()",
    "shared memory": "left = t.ones(20000).share_memory_(), t.ones(2).share_memory_()",
    "a tensor subclass": "left = t.ones(2).as_subclass(type('S', (t.Tensor,), {}))",
    "hooks": "left = t.ones(2, requires_grad=True) * 2; left.register_hook(print)",
    "a profile": "left = t.profiler.profile(); left.__enter__()",
    "a thread without grad": (
        "def run():\n    with t.no_grad():\n        time.sleep(100)\n"
        "left = threading.Thread(target=run, daemon=True); left.start(); time.sleep(0.1)"
    ),
}
# Modules are emptied one after the other: some things outlive the modules that they need.
PLACES = ("t", "np", "t._core.state")
HEAD = """
import builtins, gc, os, sys, threading, time
import numpy as np
import mindtorch as t
kept = []
gc.disable()
"""


def program(make, place):
    """The program in a child process, so that only one interpreter has to start and import for all of them."""
    child = f"{indent(make, '    ')}\n    {place}.left_behind = left\n    sys.exit()\n"
    return f"if os.fork() == 0:\n{child}assert os.wait()[1] == 0\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="starts processes by fork")
@pytest.mark.parametrize("place", PLACES)
def test_nothing_is_printed(place):
    code = HEAD + "".join([program(make, place) for make in LEFT.values()])
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")

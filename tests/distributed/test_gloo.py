"""Calls of two processes, good and bad, give what they give with PyTorch's gloo, or are listed here with a reason."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.distributed.launch import PROGRAMS, needs_mpi, run

# What is different and stays so: names of calls, and why.
KNOWN = {
    r".* of int16": "every dtype can be sent and reduced",
    r"gather of complex(64|128)": "every dtype can be sent and reduced",
    r"(all_reduce|broadcast|all_gather|reduce) of (gaps|turned)": "gloo reduces and writes other elements",
    r"send of (gaps|turned)": "the elements are sent row by row, with the warning of PyTorch's other backends",
    r".* of (sparse|meta)": "the tensor is refused before a kernel looks for its memory",
    r".* of conj": "a conjugate tensor has memory of its own here",
    r"all_gather_single, .*": "sizes and dtypes are refused with the words of PyTorch's other backends",
    r"reduce_scatter_single, .*": "sizes and dtypes are refused with the words of PyTorch's other backends",
    r"all_to_all_single, other sizes": "gloo's words are of its C++ source",
    r"recv from itself": "refused at once: gloo tries to connect",
    r"reduce \w+ of complex128": "PyTorch's text has the reduction as a control character",
    r"get_(world_size|process_group_ranks) in .*": "what is no group is a ValueError everywhere",
    r"\w+ in a list": "what is no group is a ValueError everywhere",
    r"new_group of .*": "other warnings, and one kind of error for an unknown backend",
    r"about the world": "no tensors on CUDA devices",
    r"(reduce_scatter|reduce_scatter_single|all_to_all) into a product": "PyTorch warns of its own operators",
    r"ReduceOp": "a reduction equals itself, as an object as well",
}

_PATIENCE = 240


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What every call has given in each process: by torch, by mindtorch."""
    folder = tmp_path_factory.mktemp("calls")
    _run_torch("calls.py", folder)
    run("calls.py", 2, "mindtorch", str(folder), seconds=_PATIENCE)
    libraries = ("torch", "mindtorch")
    return [[json.loads((folder / f"{name}{rank}.json").read_text()) for rank in (0, 1)] for name in libraries]


def _run_torch(program, folder):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-port", str(port)]
    started = subprocess.Popen(
        [*launcher, str(PROGRAMS / program), "torch", str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = started.communicate(timeout=_PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        printed, _ = started.communicate()
        pytest.fail(f"gloo did not end within {_PATIENCE} s; it printed:\n{printed}")
    assert started.returncode == 0, printed


def _compared(outcome):
    """The outcome without what differs in every call: names of classes, and pybind's lists of arguments."""
    text = outcome.get("says", "").replace("mindtorch.Tensor", "torch.Tensor")
    text = re.sub(r"(\w*\(\): )?(incompatible function arguments).*", r"\2", text, flags=re.DOTALL)
    return {**outcome, "says": text}


needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="compares with torch")


@needs_mpi
@needs_torch
@pytest.mark.parametrize("rank", [0, 1])
def test_calls_give_what_they_give_with_gloo(outcomes, rank):
    wanted, found = (each[rank] for each in outcomes)
    assert set(wanted) == set(found) and len(wanted) > 500
    different = {name for name in wanted if _compared(wanted[name]) != _compared(found[name])}
    listed = {name for name in wanted if any(re.fullmatch(pattern, name) for pattern in KNOWN)}
    assert not {name: (wanted[name], found[name]) for name in different - listed}


@needs_mpi
@needs_torch
def test_every_entry_of_the_list_is_a_difference(outcomes):
    different = {
        name
        for wanted, found in zip(*outcomes, strict=True)
        for name in wanted
        if _compared(wanted[name]) != _compared(found[name])
    }
    assert [pattern for pattern in KNOWN if not any(re.fullmatch(pattern, name) for name in different)] == []


@needs_mpi
@needs_torch
def test_gradients_sent_as_factors_are_those_with_gloo(tmp_path):
    _run_torch("power_sgd.py", tmp_path)
    run("power_sgd.py", 2, "mindtorch", str(tmp_path))
    for rank in (0, 1):
        wanted, found = (json.loads((tmp_path / f"{name}{rank}.json").read_text()) for name in ("torch", "mindtorch"))
        for setting, each in wanted.items():
            assert found[setting] == {**each, "gradients": _close_to(each["gradients"])}, setting


@needs_mpi
@needs_torch
def test_programs_as_in_the_tutorials_give_what_they_give_with_gloo(tmp_path):
    _run_torch("tutorials.py", tmp_path)
    run("tutorials.py", 2, "mindtorch", str(tmp_path))
    for rank in (0, 1):
        wanted, found = (json.loads((tmp_path / f"{name}{rank}.json").read_text()) for name in ("torch", "mindtorch"))
        assert {name: _numbers_close_to(each) for name, each in wanted.items()} == found


def _numbers_close_to(value):
    if isinstance(value, list):
        return [_numbers_close_to(each) for each in value]
    return pytest.approx(value, rel=1e-12, abs=1e-12) if isinstance(value, float) else value


def _close_to(gradients):
    return [[pytest.approx(each, rel=1e-9, abs=1e-9) for each in step] for step in gradients]

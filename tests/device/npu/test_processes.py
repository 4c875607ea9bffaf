"""How processes begin and end: forks, exits of every kind, and libraries that lack something."""

import os
import subprocess
import sys
import textwrap

import pytest

from tests.npu.helpers import ROOT

FORKED = (
    "Cannot re-initialize NPU in forked subprocess. To use NPU with multiprocessing, you must use the 'spawn' start"
)
BEGIN = """
    import atexit, functools, gc, os, sys, threading, time, warnings
    warnings.simplefilter("ignore")
    from tests.npu import simulator
    from tests.npu_simulator import build
    {before}
    device = simulator.start()

    def tell():
        print("left", device.leaks(), device.violations(), device.failures, flush=True)

    atexit.register(tell)
    import mindtorch as torch
    from tests.device.npu.program import model, step
"""


def run(code, before="", **environment):
    """The output of a process."""
    program = textwrap.dedent(BEGIN).format(before=before) + textwrap.dedent(code)
    own = {name: value for name, value in os.environ.items() if not name.startswith("ASCEND_")}
    own |= {"PYTHONPATH": str(ROOT), "PYTHONFAULTHANDLER": "1", **environment}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, env=own, cwd=ROOT
    )


# -------------------- the end --------------------

ENDS = {
    "plainly": ("x = torch.ones(3, device='npu') + 1", 0),
    "with all kinds of objects": (
        "net = model(); step(net)\n"
        "kept = [torch.npu.Stream(), torch.npu.Event(), torch.empty(100, pin_memory=True)]\n"
        "kept.append(torch.ones(3, device='npu:1'))\n"
        "kept[1].record(); kept.append(kept)",
        0,
    ),
    "by an exception": ("x = torch.ones(3, device='npu')\nraise ValueError('mine')", 1),
    "by an exception in a step": (
        "net = model()\ndevice.core.sim_inject(b'aclnnTanhBackward', 1, 561103, 0)\nstep(net)",
        1,
    ),
    "by sys.exit": ("x = torch.ones(3, device='npu')\nsys.exit(3)", 3),
    "after sys.exit in a thread": (
        "def work():\n"
        "    global x\n"
        "    x = torch.ones(3, device='npu:1') + 1\n"
        "    sys.exit(5)\n"
        "thread = threading.Thread(target=work); thread.start(); thread.join()",
        0,
    ),
    "while a thread is working that is waited for": (
        "def work():\n    net = model()\n    for _ in range(5): step(net)\nthreading.Thread(target=work).start()",
        0,
    ),
    "while daemon threads are working": (
        "started = threading.Barrier(4)\n"
        "def work():\n"
        "    net = model(); step(net); started.wait()\n"
        "    while True: step(net)\n"
        "for _ in range(3): threading.Thread(target=work, daemon=True).start()\n"
        "started.wait()",
        0,
    ),
    "before the work is done": (
        "device.core.sim_set_delay(b'aclnn*', 20000)\n"
        "x = torch.ones(1000, device='npu')\n"
        "for _ in range(10): x = x * 2\n"
        "assert device.pending(None) > 5\n"
        "with torch.npu.stream(torch.npu.Stream()): y = torch.ones(5, device='npu') + 1\n"
        "z = torch.ones(5, device='npu:1') + 1",
        0,
    ),
    "with a copy to pinned memory under way": (
        "device.core.sim_set_delay(b'aclrtMemcpyAsync', 50000)\n"
        "x = torch.ones(1000, device='npu')\nback = torch.empty(1000, pin_memory=True)\n"
        "back.copy_(x, non_blocking=True); del back",
        0,
    ),
    "after the device has failed": (
        "net = model()\n"
        "device.core.sim_inject(b'aclnnTanh', 1, 507015, 1)\n"
        "try: step(net)\n"
        "except torch.AcceleratorError: pass\n"
        "else: raise SystemExit(9)",
        0,
    ),
    "while an exit handler still wants the device": (
        "def late():\n"
        "    try: torch.ones(3, device='npu')\n"
        "    except RuntimeError as error: assert 'the interpreter is ending' in str(error), error; print('refused')\n"
        "atexit.register(late)\n"
        "x = torch.ones(3, device='npu')",
        0,
    ),
}


@pytest.mark.parametrize("how", ENDS)
def test_nothing_is_left_at_the_end(how):
    code, status = ENDS[how]
    done = run(code)
    assert done.returncode == status, done.stderr[-3000:]
    assert "left {} [] []" in done.stdout, done.stdout + done.stderr[-3000:]
    assert "Fatal" not in done.stderr and "Exception ignored" not in done.stderr, done.stderr
    if "handler" in how:
        assert "refused" in done.stdout


def test_the_runtime_stops_and_starts_again():
    done = run("""
        from mindtorch.backends.npu.runtime import device as runtime
        for _ in range(3):
            net = model()
            losses = step(net)
            del net
            gc.collect()
            runtime.stop()
            print(losses[0], device.leaks())
    """)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(set(lines[:3])) == 1 and lines[0].endswith("{}"), done.stdout + done.stderr


# -------------------- forks --------------------

CALLS = [
    "x + 1",
    "x.cpu()",
    "x.item()",
    "x.to('npu:1')",
    "x.add_(1)",
    "x[None].clone()",
    "x.untyped_storage().fill_(0)",
    "torch.ones(3, device='npu')",
    "torch.empty(3, device='npu')",
    "torch.ones(3).to('npu')",
    "torch.npu.synchronize()",
    "torch.npu.set_device(0)",
    "torch.npu.current_device()",
    "torch.npu.Stream()",
    "torch.npu.Event().record()",
    "event.synchronize()",
    "event.query()",
    "stream.synchronize()",
    "stream.wait_event(event)",
    "torch.npu.mem_get_info()",
    "torch.empty(10, pin_memory=True)",
]


def test_a_fork_is_refused():
    """Every call that needs the device, with torch_npu's text; the parent goes on, and the child ends in order."""
    done = run(f"""
        x = torch.ones((), device='npu')
        event, stream = torch.npu.Event(), torch.npu.Stream()
        event.record(stream)
        torch.npu.synchronize()
        child = os.fork()
        if not child:
            for call in {CALLS!r}:
                try:
                    eval(call)
                except RuntimeError as error:
                    print(call, '->', error)
                else:
                    print(call, '-> no error')
            print('initialized', torch.npu.is_initialized(), torch.npu.device_count())
            del x, event, stream
            gc.collect()
            torch.npu.empty_cache()
            sys.exit(0)
        print('status', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        print('parent', (x + 1).item())
    """)
    for call in CALLS:
        assert f"{call} -> {FORKED}" in done.stdout, done.stdout + done.stderr[-2000:]
    assert "initialized False 2" in done.stdout and "status 0" in done.stdout and "parent 2.0" in done.stdout
    assert done.stdout.splitlines()[-1] == "left {} [] []", done.stdout


def test_a_fork_before_the_first_use():
    done = run("""
        assert torch.npu.is_available() and torch.npu.device_count() == 2
        child = os.fork()
        x = torch.ones(3, device='npu') if child else None
        if child:
            print('status', os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), x.sum().item())
        else:
            atexit.unregister(tell)
    """)
    assert done.returncode == 0 and "status 0 3.0" in done.stdout, done.stdout + done.stderr[-2000:]


# -------------------- libraries --------------------


def with_toolkit(arguments):
    """The line that has another toolkit built."""
    return f"build.build = functools.partial(build.build, {arguments})"


@pytest.mark.parametrize("layout", ["single", "split", "features"])
def test_libraries_of_all_versions(layout):
    done = run("print('loss', step(model())[0] > 0)", with_toolkit(repr(layout)))
    assert "loss True" in done.stdout and "left {} [] []" in done.stdout, done.stderr[-2000:]


@pytest.mark.parametrize("layout", ["single", "split"])
def test_a_missing_op_fails_when_it_is_called(layout):
    done = run(
        """
        x = torch.ones(3, device='npu')
        print((x + 1).tolist())
        try:
            x.tanh()
        except NotImplementedError as error:
            print(error)
        try:
            step(model())
        except NotImplementedError as error:
            print('step', error)
        print((x + 1).sum().item())
        """,
        with_toolkit(f"{layout!r}, without=['aclnnTanh']"),
    )
    missing = "aclnnTanh is in none of CANN's libraries: this version of CANN does not have the op"
    assert done.stdout.splitlines() == ["[2.0, 2.0, 2.0]", missing, f"step {missing}", "6.0", "left {} [] []"], (
        done.stdout + done.stderr[-2000:]
    )


def test_a_library_that_does_not_load_is_named(tmp_path):
    """A custom one that is broken: at the first op, and not before."""
    folder = tmp_path / "op_api" / "lib"
    folder.mkdir(parents=True)
    (folder / "libcust_opapi.so").write_text("no library")
    done = run(f"""
        os.environ["ASCEND_CUSTOM_OPP_PATH"] = {str(tmp_path)!r}
        x = torch.empty(3, device='npu')
        try:
            x.zero_()
        except RuntimeError as error:
            print(error)
        """)
    assert f"{folder / 'libcust_opapi.so'} cannot be loaded" in done.stdout, done.stdout + done.stderr[-2000:]


def test_blocking_launches_name_the_op():
    """An error of the device is raised by the op that failed, and by none that comes later."""
    done = run(
        """
        x = torch.ones(3, device='npu')
        device.core.sim_inject(b'aclnnTanh', 1, 507015, 1)
        try:
            y = x.tanh()
        except torch.AcceleratorError as error:
            print(str(error).splitlines()[0])
        """,
        ASCEND_LAUNCH_BLOCKING="1",
    )
    assert done.stdout.splitlines()[0] == "NPU function error: call aclnnTanh failed, error code is 507015", done.stderr

"""Every call of a step of training fails once, in each phase and with each class of error code.

The calls are those that the simulated device has noted, so that nothing is left out that the library really does.
"""

import gc
import os
import random
from collections import Counter

import pytest

import mindtorch as torch
from mindtorch.backends.npu.runtime import api
from mindtorch.backends.npu.runtime.codes import is_of_arguments
from tests.device.npu.conftest import forget
from tests.device.npu.program import model, step
from tests.npu import simulator as session

pytestmark = pytest.mark.filterwarnings("ignore:CAUTION")

# A code of each class: of ops, of the caller, of resources, of memory, of the device.
PASSING = (161002, 561103, 361001, 100000, 107017, 207008, 507002)
MEMORY = (207001, 207018)
STICKY = (507015, 507899)
ASYNCHRONOUS = (507015, 507014, 507053, 207003)  # what a task of a stream may come to
# Whose failure changes nothing for the program: it has no use for the object any more, or does without the answer.
SILENT = ("aclDestroy", "aclrtDestroy", "aclGetRecentErrMsg")
# What streams do later, besides ops.
LATER = ("aclrtMemcpyAsync", "aclrtMemsetAsync", "aclrtRecordEvent", "aclrtStreamWaitEvent")


def recorded(device):
    """The calls of a step: (name, how often)."""
    step(model())
    forget()
    net = model()
    with device.journal() as calls:
        step(net)
    return Counter(calls)


def phases_of(name):
    """How a call can fail: (name for the simulator, phase)."""
    if name.endswith("GetWorkspaceSize"):
        return [(name.removesuffix("GetWorkspaceSize"), 0)]
    later = [(name, 1)] if name.startswith("aclnn") or name in LATER else []
    return [(name, 2), *later]


def table(calls, thorough=False):
    """What is injected: (name, phase, nth, code). Each call once, the codes in turn; or all codes for each function."""
    found, turn = [], 0
    for name, count in sorted(calls.items()):
        for nth in range(1, 2 if thorough else count + 1):
            for target, phase in phases_of(name):
                codes = ASYNCHRONOUS if phase == 1 else PASSING + MEMORY + STICKY
                turn += 1
                chosen = codes if thorough else [codes[turn % len(codes)]]
                found += [(target, phase, nth, code) for code in chosen]
    return found


def check(device, name, phase, nth, code):
    """One injection; what is wrong with what came of it, in words."""
    forget()
    net = model()
    device.core.sim_inject(name.encode(), nth, code, phase)
    error = raised_by(step, net)
    used = device.core.sim_clear_injections()
    where = f"{name} {phase} {nth} {code}: "
    if not used:
        return [where + "never came to pass"]
    problems = about_error(error, name, phase, code)
    if error is None and not problems and not name.startswith(SILENT) and not is_answered(name, code):
        problems.append("was not noticed")
    del error
    problems += about_program(net, code, phase)
    del net
    problems += about_device(device, name, code, phase)
    return [where + each for each in problems]


def is_answered(name, code):
    """Memory that cannot be had is asked for again; what an op does not take, the CPU's kernel computes."""
    return code in MEMORY and name.startswith("aclrtMalloc") or is_of_arguments(code) and name.startswith("aclnn")


def raised_by(function, *args):
    try:
        function(*args)
    except (RuntimeError, AssertionError) as error:
        return error.with_traceback(None)
    return None


def about_error(error, name, phase, code):
    if error is None:
        return []
    text, found = str(error), []
    expected = torch.OutOfMemoryError if code in MEMORY else torch.AcceleratorError
    if name in ("aclCreateTensor", "aclCreateScalar", "aclCreateTensorList", "aclCreateIntArray"):
        expected = torch.AcceleratorError  # which give no code
    elif str(code) not in text and not isinstance(error, torch.OutOfMemoryError):
        found.append(f"the text lacks the code: {text}")
    if type(error) is not expected:
        found.append(f"{type(error).__name__} instead of {expected.__name__}: {text}")
    if "ERR00100 PTA call acl api failed" not in text and not text.startswith("NPU out of memory. Tried to allocate"):
        found.append(f"the text lacks torch_npu's mark: {text}")
    if phase == 0 and f"call {name} failed" not in text:
        found.append(f"the text lacks the op: {text}")
    if text.count("njected") > 1:
        found.append(f"the text has an older message, too: {text}")
    return found


def about_program(net, code, phase):
    """What becomes of a program after the error: refused with its reason, or it goes on as before."""
    again = raised_by(step, net)
    if api.is_sticky(code) and api.failed:
        if not isinstance(again, torch.AcceleratorError) or "cannot be used by this process any more" not in str(again):
            return [f"the device is not marked as unusable: {again}"]
        return [] if str(code) in str(again) else [f"the text lacks the first error: {again}"]
    if phase == 1:  # the stream remembers, and says it again
        return [] if again is not None and str(code) in str(again) else [f"the stream forgot its error: {again}"]
    found = [] if again is None else [f"a following step fails: {again}"]
    if not all(each.isfinite().all().item() for each in net.parameters()):
        found.append("a parameter is harmed")
    return found


def about_device(device, name, code, phase):
    """What is left over when the program is gone."""
    problems = []
    if phase != 1 and not api.failed:
        forget()
        left = {kind: number for kind, number in device.leaks().items() if kind not in ("streams", "bytes")}
        # The object that was not destroyed; of a list, its two members, too.
        allowed = 3 if name == "aclDestroyTensorList" else name.startswith(("aclDestroy", "aclrtDestroy"))
        if sum(left.values()) > allowed:
            problems.append(f"left over: {left}")
        if found := device.violations():
            problems.append(f"violations: {found[:2]}")
    if problems or phase == 1 or api.failed or any(device.leaks().values()):
        device.failures.append("injected")
        session.recover()
    return problems


@pytest.mark.parametrize("part", range(4))
def test_every_call_fails_once(simulator, part):
    """Each call with one code; with MINDTORCH_SAMPLES=all, each function with all codes."""
    cases = table(recorded(simulator), os.environ.get("MINDTORCH_SAMPLES") == "all")
    assert len(cases) > 250
    problems = [text for case in cases[part::4] for text in check(simulator, *case)]
    assert not problems, f"{len(problems)} of {len(cases)}\n" + "\n".join(problems[:60])


@pytest.mark.parametrize("seed", range(4))
def test_random_injections(simulator, seed):
    """50 each: any call, any phase, any code, several at once; nothing crashes, and the last step is right."""
    source = random.Random(seed)
    functions = sorted({target for name in recorded(simulator) for target in phases_of(name)})
    expected = step(model())
    for _ in range(50):
        net = model()
        for name, phase in source.sample(functions, source.randint(1, 3)):
            codes = ASYNCHRONOUS if phase == 1 else PASSING + MEMORY + STICKY
            simulator.core.sim_inject(name.encode(), source.randint(1, 4), source.choice(codes), phase)
        raised_by(step, net)
        simulator.core.sim_clear_injections()
        del net
        gc.collect()
        simulator.failures.append("injected")
        session.recover()
        simulator.violations()
    assert step(model()) == expected

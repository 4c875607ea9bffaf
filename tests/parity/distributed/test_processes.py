"""`torch.multiprocessing.spawn` and its kin: the errors of processes, with PyTorch's types and texts."""

import logging
import os
import pickle
import re
import signal
import sys
import time
import warnings

import pytest

import mindtorch

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="starts processes by forking")


def raise_in_one(number):
    if number == 1:
        raise ValueError("no")
    time.sleep(60)


def exit_in_one(number):
    if number == 0:
        sys.exit(5)
    time.sleep(60)


def die(number):
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(60)


def run(T, function, **options):
    return T.multiprocessing.start_processes(function, (), nprocs=2, start_method="fork", **options)


def in_steps(T):
    running = run(T, raise_in_one, join=False)
    assert running.pids() == [process.pid for process in running.processes]
    while not running.join(timeout=0.05, grace_period=0.1):
        pass


def under_its_old_name(T):
    return type(T.multiprocessing.SpawnContext([], [])).__mro__[1].__name__


def a_strategy(T):
    names = T.multiprocessing.get_all_sharing_strategies()
    T.multiprocessing.set_sharing_strategy("file_descriptor")
    return sorted(names), T.multiprocessing.get_sharing_strategy()


PROGRAMS = {
    "an error": lambda T: run(T, raise_in_one),
    "an error in steps": in_steps,
    "an exit code": lambda T: run(T, exit_in_one),
    "a signal": lambda T: run(T, die),
    "no error": lambda T: run(T, abs),
    "without waiting": lambda T: run(T, abs, join=False).join(),
    "an old name": under_its_old_name,
    "strategies": a_strategy,
    "an unknown strategy": lambda T: T.multiprocessing.set_sharing_strategy("pipe"),
    "an unknown method": lambda T: T.multiprocessing.start_processes(abs, start_method="threads"),
}


def outcome(program, T):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = program(T)
        except Exception as error:  # noqa: BLE001 (of whatever type: it is compared)
            result = facts(error)
    return result, [str(each.message) for each in caught if "multi-threaded" not in str(each.message)]


def fields(error):
    return {name: getattr(error, name, None) for name in ("error_index", "exit_code", "signal_name")}


def facts(error):
    lines = str(error).splitlines()
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and fields(again) == fields(error)
    texts = [re.sub(r"\{.*\}", "", line) for line in (*lines[:4], lines[-1])]  # a set has no order
    return [each.__name__ for each in type(error).__mro__], texts, fields(error)


@pytest.mark.parametrize("name", PROGRAMS)
def test_processes(name):
    logging.disable()
    try:
        own, expected = (outcome(PROGRAMS[name], T) for T in (mindtorch, torch))
    finally:
        logging.disable(logging.NOTSET)
    assert own == expected

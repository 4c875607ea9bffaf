"""What `torch.compile` and its neighbours refuse: choices that would otherwise be left undone without a word."""

import gzip
import os

import pytest
import torch
import torch.utils.benchmark

import mindtorch
import mindtorch.utils.benchmark


def tried(function, *args, **kwargs):
    try:
        return function(*args, **kwargs)
    except (AssertionError, RuntimeError, TypeError, ValueError) as error:
        return type(error).__name__, str(error)


def twice(x):
    return 2 * x


@pytest.mark.parametrize(
    "choices",
    [{"mode": "foo"}, {"backend": "foo"}, {"mode": "default", "options": {}}, {"backend": "eager", "mode": "foo"}],
    ids=str,
)
def test_unknown_choices(choices):
    def answers(T):
        found = [tried(T.compile, twice, **choices), tried(T.nn.Linear(1, 1).compile, **choices)]
        return ["ran" if callable(each) else each for each in found]

    assert answers(mindtorch) == answers(torch)


def test_what_is_switched_off_is_what_was_given():
    def answers(T):
        layer = T.nn.Linear(1, 1)
        off = T.compile(backend="eager", disable=True)
        return T.compile(twice, disable=True) is twice, T.compile(layer, disable=True) is layer, off(twice) is twice

    assert answers(mindtorch) == answers(torch) == (True, True, True)
    assert tried(mindtorch.compile, 3) == tried(torch.compile, 3)


def test_backends_of_ones_own_are_refused():
    for function in (mindtorch.compile, mindtorch.nn.Linear(1, 1).compile, mindtorch._dynamo.optimize):
        with pytest.raises(NotImplementedError, match="calls no backend of one's own"):
            function(backend=lambda graph, inputs: graph)
    assert mindtorch._dynamo.optimize("eager")(twice)(mindtorch.ones(1)).tolist() == [2]
    with pytest.raises(RuntimeError, match="invalid torch.compile stance"):
        mindtorch.compiler.set_stance("foo")


def test_modules_in_training_mode_are_not_frozen():
    expected = tried(torch.jit.freeze, torch.jit.script(torch.nn.Linear(1, 1)))
    assert tried(mindtorch.jit.freeze, mindtorch.jit.script(mindtorch.nn.Linear(1, 1))) == expected


def test_settings_of_a_block():
    def answers(T):
        cudnn = T.backends.cudnn
        with cudnn.flags(enabled=False, benchmark=True):
            inside = cudnn.enabled, cudnn.benchmark
        return inside, cudnn.enabled, cudnn.benchmark

    assert answers(mindtorch) == answers(torch)


def test_timers(tmp_path):
    def answers(library):
        seen = []
        library.Timer("1").blocked_autorange(lambda number, seconds: seen.append(number), min_run_time=0.001)
        return len(seen) > 0, tried(library.Timer, "1", global_setup="x")

    assert answers(mindtorch.utils.benchmark) == answers(torch.utils.benchmark)
    with pytest.raises(NotImplementedError, match="not compiled"):
        mindtorch.utils.benchmark.Timer("1;", language="c++")


def test_traces_can_be_compressed(tmp_path):
    write = mindtorch.profiler.tensorboard_trace_handler(str(tmp_path), use_gzip=True)
    with mindtorch.profiler.profile(on_trace_ready=write):
        mindtorch.ones(2) + 1
    (name,) = os.listdir(tmp_path)
    assert name.endswith(".pt.trace.json.gz") and "traceEvents" in gzip.open(tmp_path / name, "rt").read()

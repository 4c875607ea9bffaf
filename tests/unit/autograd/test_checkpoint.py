"""Checkpointing keeps what it promises to, runs again when it has to, and leaves nothing behind."""

import gc
import threading
from weakref import ref

import pytest

import mindtorch as torch
from mindtorch.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)


def leaf(*numbers):
    return torch.tensor(numbers or (1.0, 2.0)).requires_grad_()


def wave(x):
    return (x.sin() * x).exp()


def gradient_of(function, *numbers):
    x = leaf(*numbers)
    function(x).sum().backward()
    return x.grad


BOTH = pytest.mark.parametrize("reentrant", [False, True])


@BOTH
def test_the_gradient_is_that_without_checkpointing(reentrant):
    assert torch.equal(gradient_of(lambda x: checkpoint(wave, x, use_reentrant=reentrant)), gradient_of(wave))


@BOTH
def test_nothing_between_is_kept(reentrant):
    """The tensors between the input and the result are gone as soon as the function has returned."""
    between = []

    def function(x):
        y = x.exp()
        between.append(ref(y._mt_array))
        return y.sin()

    x = leaf()
    y = checkpoint(function, x, use_reentrant=reentrant)
    gc.collect()
    assert between[0]() is None
    y.sum().backward()
    assert x.grad is not None


@BOTH
def test_the_graph_goes_with_its_result(reentrant):
    x = leaf()
    y = checkpoint(wave, x, use_reentrant=reentrant)
    node = ref(y.grad_fn)
    y.sum().backward()
    del y
    assert node() is None


def test_recomputed_tensors_go_with_the_pass():
    kept = []

    def function(x):
        y = x.exp()
        kept.append(ref(y._mt_array))
        return y.sin()

    y = checkpoint(function, leaf(), use_reentrant=False)
    y.sum().backward(retain_graph=True)
    assert len(kept) == 2 and kept[1]() is None


def test_deeply_nested():
    def layer(depth):
        return lambda x: checkpoint(layer(depth - 1), x.sin(), use_reentrant=False) if depth else x.cos()

    def plain(x):
        for _ in range(12):
            x = x.sin()
        return x.cos()

    assert torch.equal(gradient_of(layer(12)), gradient_of(plain))


def test_threads_do_not_share_a_run():
    found = {}

    def work(name):
        found[name] = gradient_of(lambda x: checkpoint(wave, x, use_reentrant=False), 1.0, 3.0)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(grad, gradient_of(wave, 1.0, 3.0)) for grad in found.values()) and len(found) == 4


def test_an_error_in_the_second_run_leaves_no_hooks():
    calls = []

    def function(x):
        calls.append(1)
        if len(calls) == 2:
            raise ValueError("stop")
        return x.exp()

    y = checkpoint(function, leaf(), use_reentrant=False)
    with pytest.raises(ValueError, match="stop"):
        y.sum().backward()
    z = leaf().exp()
    assert z.grad_fn._saved_result.tolist() == z.tolist() and torch.is_grad_enabled()


def changing():
    calls = iter((wave, lambda x: x.cos().tanh()))
    return lambda x: next(calls)(x)


class TestDebug:
    @pytest.mark.parametrize("debug, override", [(True, None), (False, True)])
    def test_both_runs_are_shown(self, debug, override):
        with set_checkpoint_debug_enabled(override):
            y = checkpoint(changing(), leaf(), use_reentrant=False, debug=debug, early_stop=False)
        with pytest.raises(CheckpointError) as caught:
            y.sum().backward()
        report = str(caught.value)
        lists = report.partition("The ops of the first run\n")[2].split("\n")
        assert lists[1:4] == [
            "$1: float32[2] = aten.sin.default($0)",
            "$2: float32[2] = aten.mul.Tensor($1, $0)",
            "$3: float32[2] = aten.exp.default($2)",
        ]
        assert "aten.tanh.default" in report and "in wave" in report and "recomputation.py" not in report
        assert isinstance(caught.value.__cause__, CheckpointError)

    def test_it_can_be_switched_off(self):
        with set_checkpoint_debug_enabled(False):
            y = checkpoint(changing(), leaf(), use_reentrant=False, debug=True, early_stop=False)
        with pytest.raises(CheckpointError, match="A different number of tensors") as caught:
            y.sum().backward()
        assert caught.value.__cause__ is None

    def test_a_right_function_is_not_disturbed(self):
        grad = gradient_of(lambda x: checkpoint(wave, x, use_reentrant=False, debug=True))
        assert torch.equal(grad, gradient_of(wave))


def test_overrides_end_with_an_error():
    with pytest.raises(ValueError, match="stop"), set_checkpoint_early_stop(False):
        raise ValueError("stop")
    ends = []

    def function(x):
        y = x.exp()
        ends.append(1)
        return y

    gradient_of(lambda x: checkpoint(function, x, use_reentrant=False))
    assert len(ends) == 1  # the second run has stopped early


@BOTH
def test_the_last_segment_is_not_checkpointed(reentrant):
    calls = []

    def counted(number):
        return lambda x: calls.append(number) or x.sin()

    x = leaf()
    checkpoint_sequential([counted(i) for i in range(4)], 2, x, use_reentrant=reentrant).sum().backward()
    assert sorted(calls) == [0, 0, 1, 1, 2, 3]

"""Dispatch modes: what is left when they are gone, threads, and what the parity tests cannot compare."""

import threading

import numpy as np
import pytest

import mindtorch as torch
from mindtorch._core import state
from mindtorch._generated.ops import arithmetic
from mindtorch.dispatch.registry import kernel_table
from mindtorch.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
)


class Counting(TorchDispatchMode):
    def __init__(self):
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


@pytest.mark.usefixtures("settled")
def test_nothing_is_left_behind():
    before = state.active_modes
    with Counting() as mode:
        torch.ones(2) * 2
        assert arithmetic._mul_kernels is kernel_table("mul.Tensor") and state.active_modes == before + 1
    assert mode.seen == ["aten.ones.default", "aten.mul.Tensor"]
    assert arithmetic._mul_kernels is kernel_table("mul.Tensor") and state.active_modes == before
    assert not state.thread.below_autograd and state.thread.dispatched is None


def test_an_error_leaves_nothing_behind():
    class Failing(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError("here")

    with pytest.raises(KeyError, match="here"), Failing():
        torch.ones(2)
    assert _get_current_dispatch_mode() is None and torch.is_grad_enabled() and not state.thread.below_autograd
    assert torch.ones(2).tolist() == [1, 1]


def test_views_from_a_mode_follow_their_base_outside_of_it():
    base, factor = torch.zeros(2, 3), torch.full((2, 3), 2.0, requires_grad=True)
    with Counting() as mode:
        views = [base.view(6), torch.permute(base, (1, 0)), base.permute(1, 0), base[0]]
    seen = list(mode.seen)
    base += factor
    for view in views:
        (gradient,) = torch.autograd.grad(view.sum(), factor, retain_graph=True)
        assert view.requires_grad and gradient.sum() == view.numel()
    assert mode.seen == seen and len(seen) == len(views)


def test_methods_and_operators_are_seen_with_their_errors():
    x = torch.ones(2, 3)
    calls = [
        lambda: x.add(x, out=x),
        lambda: x.sum("a"),
        lambda: x.cumsum(1.5),
        lambda: x + "a",
        lambda: torch.add(x, "a"),
        lambda: x.permute(1, "a"),
    ]
    outside = [_error_of(call) for call in calls]
    with Counting():
        assert [_error_of(call) for call in calls] == outside
    assert None not in outside


def _error_of(call):
    try:
        call()
    except TypeError as error:
        return str(error)
    return None


def test_an_error_of_the_op_is_that_of_the_op():
    with Counting(), pytest.raises(RuntimeError, match="must match the size of tensor b"):
        torch.ones(2) + torch.ones(3)


def test_other_threads_see_no_mode():
    results = []
    with Counting() as mode:
        torch.ones(2) * 2
        thread = threading.Thread(target=lambda: results.append((torch.ones(2) * 3).tolist()))
        thread.start()
        thread.join()
    assert results == [[3, 3]] and mode.seen == ["aten.ones.default", "aten.mul.Tensor"]


def test_modes_can_be_disabled():
    with Counting() as mode, _disable_current_modes() as disabled:
        torch.ones(2)
    assert mode.seen == [] and disabled == (mode,)


def test_kernels_that_call_kernels_are_not_seen():
    x = torch.ones(3, 4).t()
    with Counting() as mode:
        x.contiguous()
        torch.stack([x, x])
    assert mode.seen == ["aten.clone.default", "aten.stack.default"]


def test_a_written_argument_counts_once():
    x = torch.zeros(3)
    with Counting(), Counting():
        x.add_(1)
        x.mul_(2)
    assert x._version == 2 and x.tolist() == [2, 2, 2]


def test_tensors_on_one_array_come_in_their_order():
    x = torch.ones(2)
    alias = x.data
    seen = []

    class Keeping(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(args)
            return func(*args, **(kwargs or {}))

    with Keeping():
        torch.sub(x, alias)
    assert seen[0][0] is x and seen[0][1] is alias


def test_a_wrapper_has_no_memory():
    class Wrapper(torch.Tensor):
        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    wrapper = torch.Tensor._make_wrapper_subclass(Wrapper, (3, 2), dtype=torch.float64, requires_grad=True)
    assert wrapper.shape == (3, 2) and wrapper.dtype is torch.float64 and wrapper.is_cpu and wrapper.requires_grad
    assert not isinstance(wrapper._mt_array, np.ndarray) and wrapper.data_ptr() == 0


def test_a_mode_and_forward_mode():
    fwAD = torch.autograd.forward_ad
    with fwAD.dual_level(), Counting() as mode:
        dual = fwAD.make_dual(torch.ones(2), torch.ones(2))
        tangent = fwAD.unpack_dual(dual * 3).tangent
    assert tangent.tolist() == [3, 3] and "aten.mul.Tensor" in mode.seen


def test_function_tables_made_before_anything_was_overridden():
    """What a program looks up in a table of its own is found, whichever of the two objects it was made with."""
    table = {torch.mean: "mean", torch.Tensor.sum: "sum"}

    class Looking(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return table.get(func) or func(*args, **(kwargs or {}))

    x = torch.ones(2)
    with Looking():
        assert torch.mean(x) == "mean" and x.sum() == "sum"
    assert torch.mean(x).item() == 1


def test_pad_is_traced():
    """Its second parameter has the name of the function."""
    with Counting() as mode:
        torch.nn.functional.pad(torch.ones(1, 2), (1, 1))
    assert mode.seen == ["aten.ones.default", "aten.constant_pad_nd.default"]


def test_a_mode_sees_numpys_spellings_too():
    """They are no part of the signature that a function shows, and calls are not bound with that one."""
    seen = []

    class Looking(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append(func.__name__)
            return func(*args, **(kwargs or {}))

    with Looking():
        parts = torch.ones(2, 4).split(2, axis=1)
    assert "split" in seen and [tuple(part.shape) for part in parts] == [(2, 2), (2, 2)]

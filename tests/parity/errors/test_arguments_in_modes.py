"""Errors about arguments are the same when a mode intercepts the call: positions count from behind the dot."""

from contextlib import nullcontext

import pytest

from tests.parity.support.programs import assert_same

CALLS = {
    "mm": lambda T, x: x.mm(3),
    "mm as a function": lambda T, x: T.mm(x, 3),
    "transpose": lambda T, x: x.transpose(0, 1.5),
    "sum": lambda T, x: x.sum("a"),
    "add": lambda T, x: x.add([1]),
    "view": lambda T, x: x.view("a"),
    "add_": lambda T, x: x.add_("a"),
    "cat": lambda T, x: T.cat(3),
    "clamp": lambda T, x: x.clamp("a"),
    "gather": lambda T, x: x.gather(0, 1),
}


MODES = {
    "nothing": lambda T: nullcontext(),
    "inference mode": lambda T: T.inference_mode(),
    "forward AD": lambda T: T.autograd.forward_ad.dual_level(),
    "a function mode": lambda T: T.overrides.BaseTorchFunctionMode(),
}
TRANSFORMS = {
    "vmap": lambda T, f: T.vmap(f)(T.ones(2, 2, 2)),
    "grad": lambda T, f: T.func.grad(lambda x: f(x).sum())(T.ones(2, 2)),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CALLS)
def test_positions_in_modes(name, mode):
    def program(T):
        with MODES[mode](T):
            return CALLS[name](T, T.ones(2, 2))

    assert_same(program)


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("name", CALLS)
def test_positions_in_transforms(name, transform):
    assert_same(lambda T: TRANSFORMS[transform](T, lambda x: CALLS[name](T, x)))

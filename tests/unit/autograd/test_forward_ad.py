"""Forward AD inside: levels within levels, tangents that are dropped, and zeros that take no room."""

import gc
import weakref

import pytest

import mindtorch as torch
from mindtorch.autograd.forward_ad import dual_level, enter_inner_level, exit_dual_level, make_dual, unpack_dual
from mindtorch.dispatch.modes.tangents import ZERO, zeros_for


def numbers(*values):
    return torch.tensor([float(value) for value in values], dtype=torch.float64)


def tangent(tensor, level=None):
    return unpack_dual(tensor, level=level).tangent


class TestInnerLevels:
    def test_derivative_of_a_derivative(self):
        x, one = numbers(2), numbers(1)
        with dual_level():
            outer = make_dual(x, one)
            enter_inner_level()
            y = make_dual(outer, one) ** 3
            slope = tangent(y)
            exit_dual_level()
            assert slope.tolist() == [12] and tangent(slope).tolist() == [12]
            assert tangent(y).tolist() == [12]

    def test_levels_are_kept_apart(self):
        x, one = numbers(3), numbers(1)
        with dual_level():
            outer = make_dual(x, one)
            enter_inner_level()
            inner = make_dual(numbers(5), one)
            product = outer * inner
            assert tangent(product).tolist() == [3] and tangent(product, level=0).tolist() == [5]
            exit_dual_level()
            assert tangent(product).tolist() == [5]


class TestDroppedTangents:
    def test_they_do_not_outlive_their_level(self):
        x = numbers(1, 2).requires_grad_()
        with dual_level():
            y = make_dual(x, numbers(3, 4)).exp()
            alive = weakref.ref(tangent(y))
            kept = weakref.ref(tangent(y.grad_fn._saved_result))
            assert alive() is kept()
        gc.collect()
        assert alive() is None and tangent(y) is None

    @pytest.mark.parametrize("function", [torch.exp, torch.tanh, torch.sigmoid, torch.sqrt])
    def test_a_saved_output_has_its_tangent(self, function):
        with dual_level():
            y = function(make_dual(numbers(1, 2).requires_grad_(), numbers(3, 4)))
            assert torch.equal(tangent(y.grad_fn._saved_result), tangent(y))


class TestZeros:
    def test_arithmetic(self):
        x = numbers(1, float("inf"))
        assert ZERO * x is ZERO and x * 2 + 1 is not ZERO and ZERO / x is ZERO and -ZERO is ZERO
        assert (ZERO + x) is x and torch.equal(ZERO - x, -x) and torch.equal(x - ZERO, x)

    def test_they_take_the_room_of_one_element(self):
        zeros = zeros_for(torch.ones(1000, 1000))
        assert zeros.shape == (1000, 1000) and zeros.untyped_storage().nbytes() == 4
        assert zeros_for(None) is None and zeros_for(2.5) is ZERO

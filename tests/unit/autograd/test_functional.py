"""Forward AD, derivatives of whole functions, and the gradient check."""

import threading

import pytest

import mindtorch as torch
from mindtorch.autograd import functional, gradcheck, gradgradcheck
from mindtorch.autograd.forward_ad import dual_level, enter_dual_level, exit_dual_level, make_dual, unpack_dual
from mindtorch.autograd.gradcheck import GradcheckError


def numbers(*values):
    return torch.tensor([float(value) for value in values])


def double(*shape):
    count = torch.zeros(shape).numel()
    return torch.linspace(0.3, 1.9, count, dtype=torch.float64).reshape(shape).requires_grad_()


class TestDualTensors:
    def test_round_trip(self):
        x, direction = numbers(1, 2), numbers(3, 4)
        with dual_level():
            dual = make_dual(x, direction)
            primal, tangent = unpack_dual(dual)
            assert primal.tolist() == [1, 2] and tangent is direction and unpack_dual(x).tangent is None
            assert unpack_dual(dual * dual).tangent.tolist() == [6, 16]
        assert unpack_dual(dual).tangent is None

    def test_views_of_a_dual_tensor(self):
        with dual_level():
            dual = make_dual(torch.ones(2, 3), torch.ones(2, 3) * 2)
            tangent = unpack_dual(dual.t()).tangent
            assert tangent.shape == (3, 2) and tangent.data_ptr() == unpack_dual(dual).tangent.data_ptr()

    def test_in_place(self):
        with dual_level():
            x = numbers(1, 2)
            x.mul_(make_dual(numbers(3, 4), numbers(1, 1)))
            assert unpack_dual(x).tangent.tolist() == [1, 2]

    def test_levels(self):
        with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
            make_dual(numbers(1), numbers(1))
        with pytest.raises(RuntimeError, match="Dual level must be a positive number."):
            exit_dual_level()
        level = enter_dual_level()
        with pytest.raises(RuntimeError, match="Nested forward mode AD is not supported at the moment"):
            enter_dual_level()
        with pytest.raises(RuntimeError, match="Trying to exit a forward AD level that was not the last one"):
            exit_dual_level(level=level + 1)
        exit_dual_level(level=level)

    def test_a_new_level_knows_no_old_tangents(self):
        with dual_level():
            dual = make_dual(numbers(1), numbers(1))
        with dual_level():
            assert unpack_dual(dual * 2).tangent is None

    def test_levels_belong_to_a_thread(self):
        seen = []
        with dual_level():
            dual = make_dual(numbers(1), numbers(1))
            worker = threading.Thread(target=lambda: seen.append(unpack_dual(dual * 2).tangent))
            worker.start()
            worker.join()
        assert seen == [None]

    @pytest.mark.parametrize(
        ("primal", "tangent", "error", "text"),
        [
            (torch.ones(2), torch.ones(3), RuntimeError, "has a different size than that of the original Tensor"),
            (
                torch.ones(2, dtype=torch.int64),
                torch.ones(2),
                ValueError,
                "Expected primal to be floating point or complex",
            ),
            (torch.ones(2), torch.ones(2, dtype=torch.int64), ValueError, "Expected tangent to be floating point"),
        ],
    )
    def test_errors(self, primal, tangent, error, text):
        with dual_level(), pytest.raises(error, match=text):
            make_dual(primal, tangent)

    def test_duals_of_duals(self):
        with dual_level():
            dual = make_dual(numbers(1), numbers(1))
            with pytest.raises(RuntimeError, match="already has a forward gradient at the same level 0"):
                make_dual(dual, numbers(1))
            with pytest.raises(RuntimeError, match="Setting a forward grad that itself has a forward gradient"):
                make_dual(numbers(1), dual)

    def test_forward_over_reverse(self):
        x, direction = numbers(2).requires_grad_(), numbers(5).requires_grad_()
        with dual_level():
            tangent = unpack_dual(make_dual(x, direction) ** 3).tangent
        assert tangent.tolist() == [60]
        assert [grad.tolist() for grad in torch.autograd.grad(tangent, [x, direction])] == [[60], [12]]


class TestFunctional:
    def test_jacobian(self):
        matrix = functional.jacobian(lambda x: x * x, numbers(1, 2))
        assert matrix.tolist() == [[2, 0], [0, 4]] and not matrix.requires_grad
        for options in ({"vectorize": True}, {"vectorize": True, "strategy": "forward-mode"}):
            assert functional.jacobian(lambda x: x * x, numbers(1, 2), **options).tolist() == matrix.tolist()

    def test_tuples(self):
        result = functional.jacobian(lambda x, y: (x * y[0], y.sum()), (numbers(1, 2), numbers(3, 4, 5)))
        assert [[tuple(block.shape) for block in row] for row in result] == [[(2, 2), (2, 3)], [(2,), (3,)]]
        assert result[1][0].tolist() == [0, 0] and result[0][1].tolist() == [[1, 0, 0], [2, 0, 0]]

    def test_an_empty_output(self):
        assert functional.jacobian(lambda x: x[:0], numbers(1, 2)).shape == (0, 2)

    def test_hessian(self):
        assert functional.hessian(lambda x: (x * x * x).sum(), numbers(1, 2)).tolist() == [[6, 0], [0, 12]]
        blocks = functional.hessian(lambda x, y: (x * x).sum() * y.sum(), (numbers(1, 2), numbers(3)))
        assert blocks[0][0].tolist() == [[6, 0], [0, 6]] and blocks[0][1].tolist() == [[2], [4]]
        outer = {"outer_jacobian_strategy": "forward-mode", "vectorize": True}
        assert functional.hessian(lambda x: (x * x * x).sum(), numbers(1, 2), **outer).tolist() == [[6, 0], [0, 12]]

    def test_products(self):
        x, v = numbers(1, 2), numbers(3, 4)
        assert functional.vjp(lambda x: x * x, x, v)[1].tolist() == [6, 16]
        assert functional.jvp(lambda x: x * x, x, v)[1].tolist() == [6, 16]
        cubes = lambda x: (x * x * x).sum()
        assert functional.vhp(cubes, x, v)[1].tolist() == functional.hvp(cubes, x, v)[1].tolist() == [18, 48]

    def test_the_vector_of_a_scalar_is_optional(self):
        assert functional.vjp(lambda x: x.sum(), numbers(1, 2))[1].tolist() == [1, 1]
        assert functional.jvp(lambda x: x * 2, numbers(1))[1].tolist() == [2]
        with pytest.raises(RuntimeError, match="The vector v can only be None if the user-provided function returns"):
            functional.vjp(lambda x: x * 2, numbers(1, 2))

    def test_create_graph(self):
        x = numbers(2).requires_grad_()
        matrix = functional.jacobian(lambda x: x * x * x, x, create_graph=True)
        assert torch.autograd.grad(matrix.sum(), x)[0].tolist() == [12]

    @pytest.mark.parametrize(
        ("call", "error", "text"),
        [
            (
                lambda: functional.jacobian(lambda x: x, 3),
                TypeError,
                "must be either a Tensor or a tuple of Tensors but the given",
            ),
            (
                lambda: functional.jacobian(lambda x: 3, numbers(1)),
                TypeError,
                "outputs of the user-provided function given to",
            ),
            (lambda: functional.vjp(lambda x: x, numbers(1), numbers(1, 2)), RuntimeError, "v has invalid size"),
            (lambda: functional.hessian(lambda x: x, numbers(1, 2)), RuntimeError, "should contain a single element"),
            (
                lambda: functional.jacobian(lambda x: x.detach(), numbers(1), strict=True),
                RuntimeError,
                "does not require gradients",
            ),
            (
                lambda: functional.jacobian(lambda x: x, numbers(1), strategy="x"),
                AssertionError,
                "Expected strategy to be",
            ),
        ],
    )
    def test_errors(self, call, error, text):
        with pytest.raises(error, match=text):
            call()


class Wrong(torch.autograd.Function):
    """A square whose gradient is off by a factor."""

    factor = 2.1

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0] * Wrong.factor

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * 3


class TestGradcheck:
    def test_right_gradients(self):
        assert gradcheck(lambda x, y: x * y.exp(), (double(2, 3), double(3)))
        assert gradcheck(lambda x: (x.sum(), x.max(0)[0]), double(3, 2))
        assert gradcheck(lambda x, n: x**n, (double(3), 3))
        assert gradcheck(lambda x: x * x, (double(3),), check_forward_ad=True)
        assert gradgradcheck(lambda x, y: x * y.exp(), (double(2), double(2)))

    def test_complex_numbers(self):
        z = (double(2) * (1 + 2j)).detach().requires_grad_()
        assert gradcheck(lambda z: (z * z.conj(), z * 2j, z.real), (z,))
        assert gradgradcheck(lambda z: z * z, (z,))

    def test_a_wrong_gradient(self):
        with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
            gradcheck(Wrong.apply, double(2))
        assert not gradcheck(Wrong.apply, double(2), raise_exception=False)

    def test_a_wrong_tangent(self):
        with pytest.raises(GradcheckError, match="Jacobian computed with forward mode mismatch for output 0"):
            gradcheck(Wrong.apply, double(2), check_forward_ad=True, check_backward_ad=False)

    def test_a_gradient_that_ignores_its_input(self):
        function = type("One", (Wrong,), {"backward": staticmethod(lambda ctx, grad: torch.ones_like(grad))})
        with pytest.raises(GradcheckError, match="backward not multiplied by grad_output"):
            gradcheck(function.apply, torch.full((1,), 0.5, dtype=torch.float64).requires_grad_())

    def test_a_random_gradient(self):
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0] * 2 + torch.rand(2, dtype=torch.float64) * 1e-7

        function = type("Random", (Wrong,), {"backward": staticmethod(backward)})
        with pytest.raises(GradcheckError, match="Backward is not reentrant"):
            gradcheck(function.apply, double(2))

    def test_inputs(self):
        with pytest.raises(ValueError, match="gradcheck expects at least one input tensor to require gradient"):
            gradcheck(lambda x: x, torch.ones(2))
        with pytest.warns(UserWarning, match="Input #0 requires gradient and is not a double precision floating point"):
            gradcheck(lambda x: x * 2, numbers(1).requires_grad_(), eps=1e-2, atol=1e-2)
        with pytest.raises(RuntimeError, match="The 0th input has a dimension with stride 0."):
            gradcheck(lambda x: x, torch.ones(1, dtype=torch.float64).expand(3).requires_grad_())
        with pytest.raises(AssertionError, match="Expected at least one of check_forward_ad or check_backward_ad"):
            gradcheck(lambda x: x, double(1), check_backward_ad=False)

    def test_nothing_differentiable(self):
        assert gradcheck(lambda x: x > 0, double(2))
        with pytest.raises(GradcheckError, match="Numerical gradient for function expected to be zero"):
            gradcheck(lambda x: (x * 3).detach(), double(2))

    def test_inputs_are_left_alone(self):
        x = double(2)
        before = x.tolist()
        gradcheck(lambda x: x * x, x)
        assert x.tolist() == before and x.grad is None and x._version == 0

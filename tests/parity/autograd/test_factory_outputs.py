"""`out=` of functions that make tensors, where the tensor that is written takes part in autograd; and the dtypes and
shapes of `normal(out=)`."""

import pytest

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import assert_same

FACTORIES = {
    "zeros": (3,), "ones": (3,), "full": ((3,), 1.0), "eye": (2,), "arange": (3,), "rand": (3,),
    "linspace": (0, 1, 3), "logspace": (0, 1, 3), "randint": (0, 3, (3,)), "randperm": (3,), "normal": (0.0, 1.0, (3,)),
}  # fmt: skip
TARGETS = {
    "leaf": lambda T: T.ones(3, requires_grad=True),
    "empty leaf": lambda T: T.ones(0, requires_grad=True),
    "view of a leaf": lambda T: T.ones(4, requires_grad=True)[:3],
    "plain": lambda T: T.ones(3),
}


@pytest.mark.filterwarnings("ignore:.*(was resized|is deprecated).*:UserWarning")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("factory", FACTORIES)
def test_target(factory, target):
    def written(T):
        out = TARGETS[target](T)
        result = getattr(T, factory)(*FACTORIES[factory], out=out)
        return result is out, out.requires_grad, out.is_leaf, list(out.shape)

    assert_same(lambda T: tried(written, T))
    assert_same(lambda T: tried(T.no_grad()(written), T))


@pytest.mark.parametrize("factory", FACTORIES)
def test_result_of_an_op(factory):
    """torch records that there is no derivative and refuses the backward pass; here the call is refused."""

    def refused(T):
        out = T.ones(3, requires_grad=True) * 1
        with pytest.raises(RuntimeError):
            getattr(T, factory)(*FACTORIES[factory], out=out).sum().backward()
        with T.no_grad():
            getattr(T, factory)(*FACTORIES[factory], out=out)
        return out.requires_grad, out.is_leaf

    if FACTORIES[factory] != (2,):  # which would resize it
        assert_same(refused)


DTYPES = ("float32", "float64", "float16", "int64", "complex64")


@pytest.mark.filterwarnings("ignore:.*was resized.*:UserWarning")
@pytest.mark.filterwarnings("ignore:Casting complex:UserWarning")
@pytest.mark.parametrize("out_dtype", DTYPES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_normal(dtype, out_dtype):
    def numbers(T, shape, mean, std):
        T.manual_seed(3)
        result = T.normal(mean, std, out=T.empty(shape, dtype=getattr(T, out_dtype)))
        return result.dtype, list(result.shape), result.tolist()

    def all_cases(T):
        given, floats = T.tensor([1, 2]).to(getattr(T, dtype)), T.tensor([1.0, 2.0])
        pairs = [(given, 2.0), (2.0, given), (given, floats), (floats, given), (given, given)]
        return [tried(numbers, T, shape, *pair) for pair in pairs for shape in ((2,), (0,), (3, 2))]

    assert_same(all_cases)

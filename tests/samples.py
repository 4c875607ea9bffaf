"""Test inputs for every op, made from the `samples:` key of ops.yaml.

A generator takes a `Maker` and yields `Sample`s. Tensors in samples are `TensorSpec`s: plain data that the same test
can turn into a tensor of mindtorch or of torch, in the layout that the spec names. To add a generator, write a function
of that name here: every op whose entry names it gets its tests.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mindtorch.testing.dtype_groups import DTYPE_GROUPS as DTYPE_GROUPS


@dataclass(frozen=True)
class TensorSpec:
    """A tensor to make: its values, its dtype's name and how it lies in memory (see harness.LAYOUTS).

    `domain`: what the op takes its matrices for, though it reads only a triangle of them: hermitian, lower or upper.
    Its gradient is that of such a matrix, so derivatives are taken along these, as in torch's own tests.
    """

    data: np.ndarray
    dtype: str
    layout: str = "plain"
    differentiable: bool = True
    domain: str = ""


@dataclass(frozen=True)
class Sample:
    """The arguments of one call, `self` first, and what is to be known of it.

    `refusal`          a part of the error's text, where torch does not take these arguments
    `no_differences`   why differences of values do not give the gradient that torch defines
    `invariant`        what of the results is determined, as a function of them: singular vectors have any sign
    `tied`             the arguments as autograd sees them, as a function of them: some follow from the others
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    refusal: str = ""
    no_differences: str = ""
    invariant: Callable[..., Any] | None = None
    tied: Callable[..., Any] | None = None


def call(*args: Any, **kwargs: Any) -> Sample:
    return Sample(args, kwargs)


def refused(text: str, *args: Any, **kwargs: Any) -> Sample:
    """A call that torch answers with an error."""
    return Sample(args, kwargs, refusal=text)


class Maker:
    """Makes tensor specs of one dtype from a random stream that belongs to the op, so that runs repeat."""

    def __init__(self, name: str, dtype: str):
        self.dtype = dtype
        self.random = np.random.RandomState(zlib.crc32(name.encode()) % 2**31)

    def values(self, shape, dtype, low, high) -> np.ndarray:
        if dtype == "bool":
            return self.random.rand(*shape) > 0.5
        if dtype.startswith(("int", "uint")):
            low, high = int(np.floor(low)), int(np.ceil(high)) + 1
            return self.random.randint(max(low, 0) if dtype == "uint8" else low, max(high, 2), size=shape)
        data = self.random.uniform(low, high, size=shape)
        if dtype.startswith("complex"):
            return data + 1j * self.random.uniform(low, high, size=shape)
        return data

    def __call__(self, *shape, low=-4.0, high=4.0, layout="plain", dtype=None, differentiable=True) -> TensorSpec:
        dtype = dtype or self.dtype
        return TensorSpec(np.asarray(self.values(shape, dtype, low, high)), dtype, layout, differentiable)

    def away_from_zero(self, *shape, layout="plain") -> TensorSpec:
        spec = self(*shape, low=1, high=4, layout=layout)
        if self.dtype in ("bool", "uint8"):
            return TensorSpec(np.ones_like(spec.data) if self.dtype == "bool" else spec.data, self.dtype, layout)
        signs = self.random.choice([-1, 1], size=shape)
        return TensorSpec(np.asarray(spec.data * signs), self.dtype, layout)

    def index(self, *shape, below, layout="plain") -> TensorSpec:
        data = self.random.randint(0, max(below, 1), size=shape)
        return TensorSpec(np.asarray(data), "int64", layout, differentiable=False)

    def mask(self, *shape) -> TensorSpec:
        return TensorSpec(np.asarray(self.random.rand(*shape) > 0.5), "bool", differentiable=False)

    def fixed(self, values, dtype=None) -> TensorSpec:
        return TensorSpec(np.asarray(values), dtype or self.dtype)

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith(("float", "bfloat"))

    @property
    def is_complex(self) -> bool:
        return self.dtype.startswith("complex")


SAMPLES: dict[str, Callable[[Maker], Iterator[Sample]]] = {}


def samples(function):
    """Register a generator under its name."""
    SAMPLES[function.__name__] = function
    return function


@samples
def backward(make):
    """Real calls: tests/harness.py records those that the backward pass of the op `x` makes, for an op `x_backward`."""
    return iter(())


SHAPES = [(), (3,), (0,), (2, 3), (1, 3), (2, 0, 3), (2, 3, 4)]
LAID_OUT = [
    ((3, 2), "transposed"), ((2, 3, 4), "permuted"), ((5,), "stepped"), ((3, 4), "expanded"), ((2, 3), "offset"),
]  # fmt: skip
PAIRS = [((), ()), ((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((0,), (1,)), ((), (2, 2)), ((2, 3, 4), (3, 1))]
LAID_OUT_PAIRS = [
    (((3, 2), "transposed"), ((3, 2), "transposed")),
    (((3, 2), "transposed"), ((3, 2), "plain")),
    (((2, 3, 4), "permuted"), ((4,), "stepped")),
    (((2, 3), "expanded"), ((2, 3), "offset")),
]


def every_shape(make, **options):
    for shape in SHAPES:
        yield make(*shape, **options)
    for shape, layout in LAID_OUT:
        yield make(*shape, layout=layout, **options)


def every_pair(make, second=None, **options):
    second = second or make
    for left, right in PAIRS:
        yield make(*left, **options), second(*right, **options)
    for (left, left_layout), (right, right_layout) in LAID_OUT_PAIRS:
        yield make(*left, layout=left_layout, **options), second(*right, layout=right_layout, **options)


# ---- pointwise ----


@samples
def unary(make):
    for x in every_shape(make):
        yield call(x)


@samples
def unary_positive(make):
    for x in every_shape(make, low=0.25, high=4):
        yield call(x)


@samples
def unary_unit(make):
    for x in every_shape(make, low=-0.9, high=0.9):
        yield call(x)


@samples
def unary_below_one(make):
    """Where torch's Bessel functions are precise: there is no zero nearby."""
    for x in every_shape(make, low=0.25, high=0.75):
        yield call(x)


@samples
def unary_above_one(make):
    for x in every_shape(make, low=1.25, high=4):
        yield call(x)


@samples
def unary_signed(make):
    """Without nan, whose sign depends on how the tensor was made."""
    yield from unary(make)
    if make.is_float:
        yield call(make.fixed([float("inf"), -float("inf"), 0.0, -0.0]))


@samples
def unary_special(make):
    yield from unary(make)
    if make.is_float or make.is_complex:
        yield call(make.fixed([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.0]))


@samples
def unary_complex(make):
    yield from unary(make)


@samples
def unary_ones(make):
    for shape in [(), (1,), (1, 3), (2, 1, 3, 1), (1, 1), (0, 1)]:
        yield call(make(*shape))
    yield call(make(3, 1, 2, layout="permuted"))


@samples
def unary_sparse(make):
    for shape in SHAPES:
        yield call(TensorSpec(make(*shape).data * make.mask(*shape).data, make.dtype))


@samples
def binary(make):
    for x, y in every_pair(make):
        yield call(x, y)
    for other in ("int64", "float32", "bool") if not make.is_complex else ("float32",):
        yield call(make(2, 3), make(2, 3, dtype=other))
        yield call(make(2, 3), make(dtype=other))
        yield call(make(dtype=other), make(3))


@samples
def binary_same(make):
    for x, y in every_pair(make):
        yield call(x, y)


@samples
def binary_nonzero(make):
    for x, y in every_pair(make, make.away_from_zero):
        yield call(x, y)


@samples
def binary_positive(make):
    for x, y in every_pair(make, low=0.25, high=4):
        yield call(x, y)
    yield call(make.fixed([0, 0, 1]), make.fixed([0, 1, 2]))


@samples
def binary_alpha(make):
    yield from binary(make)
    if make.dtype != "bool":
        yield call(make(2, 3), make(3), alpha=2)
        yield call(make(2, 3), 3, alpha=2)
    yield from binary_number(make)


@samples
def binary_alpha_tensors(make):
    for x, y in every_pair(make):
        yield call(x, y)
    if make.dtype != "bool":
        yield call(make(2, 3), make(3), alpha=2)


@samples
def binary_number(make):
    numbers = [2, 0, True] if not (make.is_float or make.is_complex) else [2, 0.5, -1.5, True]
    for number in numbers:
        yield call(make(2, 3), number)
        yield call(make(), number)
    yield call(make(3, 2, layout="transposed"), 2)
    yield call(make(0), 1)
    if not make.is_complex:
        yield call(make(2, 2), 2.5)


@samples
def number_scalar(make):
    for number in [2, True] if not (make.is_float or make.is_complex) else [2, 0.5, -1.5]:
        yield call(make(2, 3), number)
        yield call(make(), number)
    yield call(make(3, 2, layout="transposed"), 3)


@samples
def binary_number_nonzero(make):
    for number in (2, 3, -2) if make.dtype not in ("bool", "uint8") else (2, 3):
        yield call(make(2, 3), number)
        yield call(make(3, 2, layout="transposed"), number)
    yield call(make(4), 1.5)


@samples
def number_binary_nonzero(make):
    for number in (7, 2.5):
        yield call(number, make.away_from_zero(2, 3))


@samples
def binary_int(make):
    for number in (1, 3, True) if make.dtype != "bool" else (True, False):
        yield call(make(2, 3), number)


@samples
def ldexp(make):
    for x, y in every_pair(make):
        yield call(x, y)
    if make.dtype != "bool":
        yield call(make(2, 3), make(2, 3, dtype="int64", low=0))
        yield call(make(2, 3), make(3, dtype="uint8"))


@samples
def copysign(make):
    for x, y in every_pair(make):
        yield call(x, y)
    yield call(make(2, 3), make(3, dtype="int64"))
    yield call(make(2, 3), make(dtype="float64"))


@samples
def float_power(make):
    yield from pow(make)
    yield call(make(2, 3, low=0.5, dtype="float64"), make(3))


@samples
def float_power_number(make):
    yield from pow_number(make)
    yield call(make(2, 3, low=0.5, dtype="float64"), 2)


@samples
def unary_probability(make):
    for x in every_shape(make, low=0.1, high=0.9):
        yield call(x)


@samples
def incomplete_gamma(make):
    """PyTorch has no gradient of the first argument."""
    for x, y in every_pair(make, low=0.5, high=4):
        yield call(replace(x, differentiable=False), y)


@samples
def zeta(make):
    """As incomplete_gamma."""
    for x, y in every_pair(make, low=1.5, high=4):
        yield call(replace(x, differentiable=False), y)


@samples
def number_above_one(make):
    for number in (2, 2.5):
        yield call(number, make(2, 3, low=1.5, high=4))
        yield call(number, make(low=1.5, high=4))


@samples
def positive_number(make):
    for number in (2, 2.5):
        yield call(make(2, 3, low=0.5, high=4), number)
        yield call(make(low=0.5, high=4), number)


@samples
def above_one_number(make):
    for sample in number_above_one(make):
        number, tensor = sample.args
        yield call(replace(tensor, differentiable=False), number)


def _degrees(make):
    """On both sides of those from which on there is a closed form, whose float32 values are right to a few digits."""
    return [-1, 0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 12] if make.dtype == "float64" else [-1, 0, 1, 2, 3]


@samples
def polynomial(make):
    """Both ends of the intervals, what is inside, and what is beyond."""
    degrees = np.array(_degrees(make))
    places = np.array([-1.25, -1, -0.75, -0.125, 0, 0.25, 0.625, 1, 1.125])
    yield call(make.fixed(places), make.fixed(degrees[:, None], "int64"))
    yield call(make.fixed(places[:, None]), make.fixed(degrees))
    for x, n in every_pair(make, low=-1, high=1):
        yield call(x, replace(n, data=np.round(np.abs(n.data) * 3)))


@samples
def polynomial_of_number(make):
    for number in (0, 1, -1, 0.375, 2):
        yield call(number, make.fixed(_degrees(make)))
        yield call(number, make(low=0, high=3))


@samples
def polynomial_of_degree(make):
    for degree in (*_degrees(make), 2.5):
        yield call(make(2, 3, low=-1, high=1), degree)
        yield call(make(low=-1, high=1), degree)


@samples
def mvlgamma(make):
    for p in (1, 2, 3):
        yield call(make(2, 3, low=2, high=5), p)
        yield call(make(low=2, high=5), p)
    yield call(make(3, 2, low=2, high=5, layout="transposed"), 2)
    yield call(make(0), 2)


@samples
def shift(make):
    for x, y in every_pair(make, low=0, high=6):
        yield call(x, y)
    if make.dtype != "uint8":
        yield call(make(2, 3), make(3))
    yield call(make(2, 3), make.fixed([7, 8, 64]))
    yield call(make(2, 3), make(3, dtype="int64"))


@samples
def shift_number(make):
    for number in (0, 1, 3, 70, -1):
        yield call(make(2, 3), number)
        yield call(make(), number)


@samples
def number_shift(make):
    yield call(5, make(2, 3, low=0, high=6))
    yield call(-5, make(low=0, high=6))
    yield call(2.5, make(2))


@samples
def logit(make):
    for x in every_shape(make, low=0.1, high=0.9):
        yield call(x)
    yield call(make(2, 3, low=0.3, high=0.7), 0.2)
    yield call(make(2, 3, low=-1, high=2), eps=0.25)


@samples
def nan_to_num(make):
    yield from unary_special(make)
    yield call(make(2, 3), 1.0, 2.0, -2.0)
    if make.is_float or make.is_complex:
        yield call(make.fixed([float("nan"), float("inf"), -float("inf"), 1.0]), nan=2.0, posinf=3.0)


@samples
def div_mode(make):
    for mode in (None, "trunc", "floor"):
        for x, y in every_pair(make, make.away_from_zero):
            yield call(x, y, rounding_mode=mode)
        yield call(make(2, 3), 2, rounding_mode=mode)
        yield call(make(2, 3), -1.5, rounding_mode=mode)


@samples
def pow(make):
    low = 0.5 if make.is_float or make.is_complex else 0
    for x, y in every_pair(make, low=low, high=3):
        yield call(x, y)
    yield call(make(2, 3, low=low, high=3), make(3, low=0, high=2, dtype="int64"))


@samples
def pow_number(make):
    low = 0.5 if make.is_float or make.is_complex else 0
    for exponent in (0, 1, 2, 3, 0.5, -1.0, -2) if make.is_float or make.is_complex else (0, 1, 2, 3, 0.5):
        yield call(make(2, 3, low=low, high=3), exponent)
        yield call(make(3, 2, low=low, high=3, layout="transposed"), exponent)
    yield call(make(low=low, high=3), 2)


@samples
def number_pow(make):
    for base in (2, 0.5, 1, 3):
        yield call(base, make(2, 3, low=0, high=3))
    yield call(2, make(low=0, high=3))


@samples
def activation_backward(make):
    for shape in [(), (3,), (2, 3), (0,)]:
        yield call(make(*shape), make(*shape, low=-0.9, high=0.9))
    yield call(make(3, 2, layout="transposed"), make(3, 2, low=-0.9, high=0.9, layout="transposed"))


@samples
def threshold_backward(make):
    for shape in [(), (3,), (2, 3)]:
        yield call(make(*shape), make(*shape), 0)
    yield call(make(2, 3), make(2, 3), 1)


@samples
def threshold(make):
    for x in every_shape(make):
        yield call(x, 1, 20)
    yield call(make(2, 3), threshold=0, value=-2)


@samples
def shrunk(make):
    yield from unary(make)
    yield call(make(2, 3), 1.5)


@samples
def leaky(make):
    yield from unary(make)
    yield call(make(2, 3), 0.25)


@samples
def elu(make):
    yield from unary(make)
    yield call(make(2, 3), 0.5, 2, 1.5)


@samples
def celu(make):
    yield from unary(make)
    yield call(make(2, 3), 2.5)


@samples
def softplus(make):
    yield from unary(make)
    yield call(make(2, 3), 2, 1.5)


@samples
def sum_with_number(make):
    yield from number_scalar(make)
    yield call(make(2, 3), 2, 3)


@samples
def difference_from_number(make):
    yield from binary_number(make)
    yield call(make(2, 3), 2, 3)


@samples
def hardtanh(make):
    for x in every_shape(make):
        yield call(x)
    yield call(make(2, 3), -0.5, 0.25)
    yield call(make(2, 3), min_val=0, max_val=3)


@samples
def hardtanh_backward(make):
    yield call(make(2, 3), make(2, 3), -1, 1)
    yield call(make(3), make(3), -0.5, 0.25)


@samples
def leaky_relu_backward(make):
    yield call(make(2, 3), make(2, 3), 0.01, False)


@samples
def elu_backward(make):
    for is_result in (False, True):
        yield call(make(2, 3), 1.5, 1, 1, is_result, make(2, 3))
        yield call(make(3), 1, 2, 0.5, is_result, make(3))


@samples
def prelu_kernel_backward(make):
    yield call(make(2, 3), make(2, 3), make(2, 3))


@samples
def rrelu_with_noise(make):
    yield call(make(2, 3), make(2, 3, differentiable=False))
    yield call(make(2, 3), make(2, 3, differentiable=False), 0.2, 0.2, True)  # the same slopes in every call


@samples
def rrelu_with_noise_backward(make):
    for training in (False, True):
        slopes = make(2, 3, low=0.1, high=0.3, differentiable=False)
        yield call(make(2, 3), make(2, 3), slopes, 0.1, 0.3, training, False)


@samples
def glu(make):
    yield call(make(4))
    yield call(make(2, 3, 4))
    yield call(make(2, 3, 4), 0)
    yield call(make(3, 4, layout="transposed"))
    yield refused("Halving dimension must be even", make(3))
    yield refused("does not support 0-dimensional", make())


@samples
def glu_backward(make):
    yield call(make(2), make(4), -1)
    yield call(make(1, 3), make(2, 3), 0)


def _with_buffer(grad, x, buffer):
    return grad, x, (-x.detach().abs()).exp()


@samples
def log_sigmoid_backward(make):
    buffer = make(2, 3, low=0.1, high=1, differentiable=False)
    yield Sample((make(2, 3), make(2, 3), buffer), tied=_with_buffer if make.is_float else None)


@samples
def gelu(make):
    for x in every_shape(make):
        yield call(x)
    yield call(make(2, 3), approximate="tanh")


@samples
def gelu_backward(make):
    for approximate in ("none", "tanh"):
        yield call(make(2, 3), make(2, 3), approximate=approximate)


@samples
def softplus_backward(make):
    yield call(make(2, 3), make(2, 3), 1, 20)
    yield call(make(2, 3), make(2, 3), 2.0, 1.0)


@samples
def clamp(make):
    for x in every_shape(make):
        yield call(x, -1, 2) if make.dtype != "uint8" else call(x, 1, 2)
    yield call(make(2, 3), min=1)
    yield call(make(2, 3), max=1)
    yield call(make(2, 3), 2, 1)
    yield call(make(2, 3), 0.5, 1.5)


@samples
def clamp_tensor(make):
    yield call(make(2, 3), make(3, high=0), make(2, 1, low=0))
    yield call(make(2, 3), min=make(3))
    yield call(make(2, 3), max=make(2, 3, layout="offset"))


@samples
def round_decimals(make):
    for decimals in (0, 1, 2, -1):
        yield call(make(2, 3), decimals=decimals)


@samples
def where(make):
    for x, y in every_pair(make):
        yield call(make.mask(*np.broadcast_shapes(x.data.shape, y.data.shape)), x, y)
    yield call(make.mask(2, 1), make(3), make(2, 3, dtype="float32"))


@samples
def where_number_self(make):
    yield call(make.mask(2, 3), 1, make(2, 3))
    yield call(make.mask(2, 1), 1.5, make(3))


@samples
def where_number_other(make):
    yield call(make.mask(2, 3), make(2, 3), 1)
    yield call(make.mask(2, 1), make(3), 1.5)


@samples
def where_numbers(make):
    yield call(make.mask(2, 3), 1, 2)
    yield call(make.mask(2, 3), 1.0, 2)
    yield call(make.mask(2, 3), True, False)


@samples
def where_condition(make):
    yield call(make.mask(2, 3))
    yield call(make(2, 3))


@samples
def masked_fill(make):
    for shape in [(), (3,), (2, 3), (0,)]:
        yield call(make(*shape), make.mask(*shape), 1)
    yield call(make(2, 3), make.mask(3), 1)
    yield call(make(3, 2, layout="transposed"), make.mask(3, 2), 0)


@samples
def masked_fill_tensor(make):
    yield call(make(2, 3), make.mask(2, 3), make())
    yield call(make(2, 3), make.mask(3), make())


@samples
def lerp(make):
    for x, y in every_pair(make):
        yield call(x, y, 0.3)


@samples
def lerp_tensor(make):
    for x, y in every_pair(make):
        yield call(x, y, make(3, low=0, high=1) if x.data.shape[-1:] == (3,) else make(low=0, high=1))


@samples
def addcmul(make):
    for x, y in every_pair(make):
        yield call(x, y, make.away_from_zero(*y.data.shape))
    yield call(make(2, 3), make(3), make.away_from_zero(2, 1), value=2)
    if make.is_float:
        yield call(make(2, 3), make(3), make.away_from_zero(2, 1), value=0.5)


@samples
def polygamma(make):
    for n in (0, 1, 2):
        yield call(n, make(2, 3, low=0.5, high=4))


# ---- reductions ----

REDUCED = [(3,), (2, 3), (2, 3, 4), (1, 3)]


@samples
def reduce_all(make):
    for x in every_shape(make, low=-2, high=2):
        yield call(x)


@samples
def reduce_all_nonempty(make):
    for x in every_shape(make):
        if x.data.size:
            yield call(x)


@samples
def reduce_dims(make):
    yield call(make(0), 0)
    yield call(make(2, 0, 3), 1)
    yield call(make(2, 0, 3), 0)
    yield from reduce_dims_nonempty(make)


@samples
def truth_dims(make):
    """Here an empty list means no dimension, and None means all."""
    for dims in [None, (), (0,), (-1, 0)]:
        yield call(make(2, 3), dims)
    yield call(make(2, 0, 3), (1,))
    yield call(make(2, 3, 4, layout="permuted"), [0, -1], True)
    yield call(make(3, 4, layout="transposed"), dim=(1,), keepdim=True)
    yield call(make(2, 3, 4, layout="permuted"), [], True)


@samples
def hash_tensor(make):
    yield call(make(), 0)
    yield call(make(2, 3))
    yield call(make(2, 3), mode=0)
    yield call(make(2, 3, 4), (0, -1), keepdim=True)
    yield call(make(3, 4, layout="transposed"), 0)
    yield call(make(2, 3, 4, layout="permuted"), [2], keepdim=True)
    yield call(make(3, 4, layout="expanded"), 1)
    yield call(make(0, 3), [1])


@samples
def reduce_dims_nonempty(make):
    yield call(make(), 0)
    yield call(make(2, 3), -1)
    yield call(make(2, 3, 4), (0, 2))
    yield call(make(2, 3, 4), (0, -1), True)
    yield call(make(2, 3, 4), 1, keepdim=True)
    yield call(make(3, 4, layout="transposed"), 0)
    yield call(make(2, 3, 4, layout="permuted"), (1,))
    yield call(make(2, 3, 4, layout="permuted"), 2, True)
    yield call(make(3, 4, layout="expanded"), 1)


@samples
def reduce_dim(make):
    yield call(make(2, 0, 3), 0)
    yield call(make(2, 0, 3), 1)
    yield from reduce_dim_nonempty(make)


@samples
def reduce_dim_nonempty(make):
    yield call(make(), 0)
    yield call(make(3), 0)
    yield call(make(2, 3), -1)
    yield call(make(2, 3, 4), 1, True)
    yield call(make(2, 3, 4), dim=0, keepdim=False)
    yield call(make(3, 4, layout="transposed"), 0)
    yield call(make(2, 3, 4, layout="permuted"), 2, True)


@samples
def reduce_optional_dim_nonempty(make):
    yield call(make(2, 3))
    yield call(make(2, 3), None, True)
    yield from reduce_dim_nonempty(make)


@samples
def var(make):
    for x, dim in ((make(2, 3), 1), (make(2, 3, 4), (0, 2)), (make(3), None), (make(3, 4, layout="transposed"), 0)):
        yield call(x, dim)
        yield call(x, dim, correction=0, keepdim=True)
        yield call(x, dim, correction=2)


@samples
def var_unbiased(make):
    yield call(make(2, 3))
    yield call(make(2, 3), False)
    yield call(make(3, 4, layout="transposed"), True)


@samples
def cumulative(make):
    for x, dim in ((make(), 0), (make(3), 0), (make(2, 3), 1), (make(2, 3, 4, layout="permuted"), -2), (make(0), 0)):
        yield call(x, dim)


@samples
def cumulative_extreme(make):
    for sample in cumulative(make):
        if sample.args[0].data.size:
            yield sample
    yield call(make(2, 9, low=0, high=2), 1)


@samples
def softmax_raw(make):
    for x, dim in ((make(), 0), (make(3), 0), (make(2, 3), 1), (make(2, 3, 4, layout="permuted"), 1), (make(0, 3), 1)):
        yield call(x, dim, False)


@samples
def softmax(make):
    for x, dim in ((make(), 0), (make(3), -1), (make(2, 3), 0), (make(2, 3, 4, layout="permuted"), 2)):
        yield call(x, dim)


@samples
def softmax_backward(make):
    yield call(make(2, 3), make(2, 3, low=0.1, high=0.9), 1, DtypeOf(make.dtype))


@dataclass(frozen=True)
class DtypeOf:
    """A dtype argument, by name."""

    name: str


@samples
def sort(make):
    yield call(distinct(make, 7))
    yield call(distinct(make, 3, 4))
    yield call(distinct(make, 3, 4), 0)
    yield call(distinct(make, 3, 4), -1, True)
    yield call(distinct(make, 4, 3, layout="transposed"), 0)
    yield call(distinct(make, 0))
    yield call(distinct(make))


def distinct(make, *shape, layout="plain"):
    """Values without ties (as far as the dtype can), in random order."""
    count = int(np.prod(shape))
    if make.dtype == "bool":
        return make(*shape, layout=layout)
    return TensorSpec(np.asarray(make.random.permutation(count).reshape(shape)), make.dtype, layout)


@samples
def sort_stable(make):
    for descending in (False, True):
        yield call(make(9, low=0, high=2), stable=True, dim=0, descending=descending)
        yield call(make(3, 5, low=0, high=2), stable=True, dim=1, descending=descending)


@samples
def topk(make):
    yield call(distinct(make, 7), 3)
    yield call(distinct(make, 3, 4), 2, 0)
    yield call(distinct(make, 3, 4), 2, 1, False)
    yield call(distinct(make, 4, 3, layout="transposed"), 1)
    yield call(distinct(make, 5), 0)


@samples
def vector_norm(make):
    for order in (2, 1, 0, 3, float("inf"), -float("inf"), 0.5):
        yield call(make.away_from_zero(2, 3), order)
        yield call(make.away_from_zero(2, 3, 4), order, (0, 2), True)
    yield call(make(0, 3), 2, 0)


@samples
def norm(make):
    yield call(make(2, 3))
    yield call(make(2, 3), 1)
    yield call(make(3, 4, layout="transposed"), 3)


@samples
def norm_dim(make):
    yield call(make(2, 3), 2, 1)
    yield call(make(2, 3), 1, (0, 1), True)


@samples
def dist(make):
    for p in (2, 1, 0, 3, float("inf")):
        yield call(make(2, 3), make(3), p)
    yield call(make(2), make(2))


@samples
def renorm(make):
    for p in (1, 2, 3):
        yield call(make(3, 4), p, 0, 5)
        yield call(make(4, 3, layout="transposed"), p, -1, 2.5)


@samples
def quantile(make):
    for interpolation in ("linear", "lower", "higher", "midpoint", "nearest"):
        points = TensorSpec(np.array([0.1, 0.5, 0.77]), make.dtype, differentiable=False)
        yield call(make(3, 5), points, 1, interpolation=interpolation)
        yield call(make(4, 3, layout="transposed"), points, 0, True, interpolation=interpolation)
    yield call(make(3, 4), TensorSpec(np.array(0.3), make.dtype, differentiable=False))
    if make.is_float:
        yield call(make.fixed([[1.0, float("nan"), 0.5], [1, 2, 3]]), TensorSpec(np.array(0.3), make.dtype), 1)


@samples
def quantile_number(make):
    for q in (0.0, 0.25, 1.0):
        yield call(make(3, 5), q)
        yield call(make(3, 5), q, -1, True)
    yield call(make(), 0.5)


@samples
def cov(make):
    yield call(make(3, 5))
    yield call(make(5), correction=0)
    yield call(make(5, 3, layout="transposed"), fweights=TensorSpec(np.array([1, 2, 1]), "int64"))
    yield call(make(2, 4), aweights=TensorSpec(np.array([0.5, 1, 1, 2]), "float32", differentiable=False))


@samples
def corrcoef(make):
    yield call(make(3, 5))
    yield call(make(5, 3, layout="transposed"))
    yield call(make(4))


@samples
def trapezoid_points(make):
    yield call(make(4), make(4))
    yield call(make(2, 3), make(3))
    yield call(make(2, 3), make(2, 3), dim=0)


@samples
def gradient(make):
    yield call(make(5))
    yield call(make(3, 4, layout="transposed"))
    yield call(make(3, 4), spacing=2.0, edge_order=2)
    yield call(make(3, 4), dim=1)


@samples
def aminmax(make):
    yield call(make(2, 3))
    yield call(make(2, 3, 4, layout="permuted"), dim=1)
    yield call(make(2, 3), dim=-1, keepdim=True)
    yield call(make(3, 4, layout="transposed"), keepdim=True)
    yield call(make())


@samples
def median_dim(make):
    yield call(make(0, 3), 1)
    yield from reduce_dim_nonempty(make)
    yield call(make(2, 9, low=0, high=2), 1)
    if make.is_float:
        yield call(make.fixed([[1.0, float("nan"), 0.5], [float("nan"), 2.0, float("nan")]]), 1)


@samples
def nanmedian(make):
    yield from reduce_all(make)
    if make.is_float:
        yield call(make.fixed([1.0, float("nan"), 0.5]))


@samples
def mode(make):
    yield call(make(9, low=0, high=2))
    yield call(make(3, 9, low=0, high=3), -1, True)
    yield from reduce_dim_nonempty(make)


@samples
def kthvalue(make):
    for k in (1, 2, 3):
        yield call(distinct(make, 3, 4), k)
        yield call(distinct(make, 4, 3, layout="transposed"), k, 0)
    yield call(distinct(make, 2, 3), 2, 1, True)
    yield call(distinct(make), 1)


@samples
def histogram_edges(make):
    edges = make.fixed([-3.5, -1, 0.25, 2, 4.5])
    yield call(make(10), edges)
    yield call(make(2, 5), edges, weight=make(2, 5, low=0))
    yield call(make(10), edges, density=True)


@samples
def histogram_count(make):
    yield call(make(10), 4)
    yield call(make(2, 5), 3, range=[-2.0, 2.5], weight=make(2, 5, low=0))
    yield call(make(10), 5, density=True)
    yield call(make(0), 3)


@samples
def histogram_of_points(make):
    edges = [make.fixed([-3.5, -1, 0.25, 2, 4.5]), make.fixed([-2, 0, 3])]
    yield call(make(10, 2), edges)
    yield call(make(2, 5, 2), edges, weight=make(2, 5, low=0))
    yield call(make(10, 2), edges, density=True)


@samples
def segment_reduce(make):
    for reduce in ("sum", "mean", "max", "min", "prod"):
        yield call(make(6), reduce, lengths=make.fixed([2, 1, 3], "int64"))
        yield call(make(2, 4, 2), reduce, lengths=make.fixed([[1, 3], [2, 2]], "int64"), axis=1)
        yield call(make(6), reduce, offsets=make.fixed([0, 2, 6], "int64"), initial=2)


@samples
def bincount(make):
    yield call(make(6, low=0))
    yield call(make(6, low=0), minlength=9)
    yield call(make(6, low=0), make(6, dtype="float64"))
    yield call(make(0))


@samples
def histc(make):
    yield call(make(20), 5)
    yield call(make(4, 5, layout="transposed"), bins=4, min=-2, max=2)
    yield call(make(0), 3)


@samples
def searchsorted(make):
    row = make.fixed([1, 3, 3, 7])
    yield call(row, make(5, low=0, high=8))
    yield call(row, make(2, 3, low=0, high=8), right=True)
    yield call(row, make(low=0, high=8), side="right", out_int32=True)
    yield call(make.fixed([[1, 3, 5], [2, 4, 6]]), make(2, 4, low=0, high=8))
    yield call(make.fixed([5, 1, 3]), make(4, low=0, high=8), sorter=TensorSpec(np.array([1, 2, 0]), "int64"))
    yield call(row, make(3, low=0, high=8, dtype="float32", differentiable=False))


@samples
def searchsorted_number(make):
    for number in (0, 3, 2.5, 9):
        yield call(make.fixed([1, 3, 3, 7]), number)
        yield call(make.fixed([1, 3, 3, 7]), number, right=True, out_int32=True)


@samples
def bucketize(make):
    for sample in searchsorted(make):
        boundaries, values = sample.args
        if boundaries.data.ndim == 1 and not {"side", "sorter"} & set(sample.kwargs):
            yield call(values, boundaries, **sample.kwargs)


@samples
def bucketize_number(make):
    for sample in searchsorted_number(make):
        yield Sample(sample.args[::-1], sample.kwargs)


# ---- views ----


@samples
def view(make):
    sizes = [((6,), (2, 3)), ((2, 3), (-1,)), ((2, 3), (3, 2)), ((), (1, 1)), ((2, 0), (0, 5)), ((1, 4), (4, 1))]
    for shape, size in sizes:
        yield call(make(*shape), size)


@samples
def reshape(make):
    yield from view(make)
    yield call(make(3, 4, layout="transposed"), (12,))
    yield call(make(2, 3, 4, layout="permuted"), (6, -1))


@samples
def view_dtype(make):
    same_size = {"float32": "int32", "int32": "float32", "float64": "int64", "int64": "float64", "complex64": "float32"}
    yield call(make(2, 4), DtypeOf(same_size.get(make.dtype, make.dtype)))
    yield call(make(2, 8), DtypeOf("uint8"))


@samples
def two_dims(make):
    for dims in ((0, 1), (-1, 0), (1, 1)):
        yield call(make(2, 3), *dims)
    yield call(make(2, 3, 4), 0, 2)
    yield call(make(2, 3, 4, layout="permuted"), 1, -1)
    yield call(make(), 0, -1)


@samples
def matrix(make):
    for shape in [(), (3,), (2, 3), (0, 3)]:
        yield call(make(*shape))


@samples
def permute(make):
    yield call(make(2, 3, 4), (2, 0, 1))
    yield call(make(2, 3), (-1, 0))
    yield call(make(), ())


@samples
def movedim(make):
    yield call(make(2, 3, 4), 0, 2)
    yield call(make(2, 3, 4), -1, 0)


@samples
def expand(make):
    yield call(make(3, 1), (3, 4))
    yield call(make(3), (2, 3))
    yield call(make(1, 3), (-1, -1))
    yield call(make(), (2, 2))
    yield call(make(2, 1, 3), (2, 0, 3))


@samples
def one_dim(make):
    for dim in (0, 1, -1):
        yield call(make(2, 1, 3), dim)
    yield call(make(3), 0)


@samples
def dims(make):
    yield call(make(2, 1, 3), (0, 1))
    yield call(make(2, 3), (-1,))
    yield call(make(3, 4, layout="transposed"), (0,))
    yield call(make(2, 0, 3), (0, 2))


@samples
def new_dim(make):
    for dim in (0, 1, -1, 2):
        yield call(make(2, 3), dim)
    yield call(make(), 0)
    yield call(make(3, 4, layout="transposed"), 1)


@samples
def select(make):
    yield call(make(2, 3), 0, 1)
    yield call(make(2, 3, 4), -1, -2)
    yield call(make(3, 4, layout="transposed"), 1, 0)


@samples
def slice(make):
    for bounds in ((0, 1), (None, None, 2), (-2, None), (1, 100), (3, 1)):
        yield call(make(5), 0, *bounds)
    yield call(make(3, 4), 1, 1, 3)


@samples
def narrow(make):
    yield call(make(5, 2), 0, 1, 3)
    yield call(make(5, 2), -1, 0, 0)


@samples
def split(make):
    yield call(make(5, 2), 2)
    yield call(make(5, 2), 1, 1)
    yield call(make(4, 6, layout="transposed"), 3, -1)


@samples
def split_with_sizes(make):
    yield call(make(5, 2), [2, 3])
    yield call(make(2, 5), [1, 0, 4], 1)


@samples
def chunk(make):
    yield call(make(5, 2), 2)
    yield call(make(2, 7), 3, 1)
    yield call(make(2), 5)


@samples
def diagonal(make):
    yield call(make(3, 3))
    yield call(make(3, 4), 1)
    yield call(make(3, 4), -1)
    yield call(make(2, 3, 4), 0, 1, 2)
    yield call(make(2, 3), 5)


@samples
def unfold(make):
    yield call(make(7), 0, 3, 2)
    yield call(make(2, 5), 1, 2, 1)


@samples
def as_strided(make):
    yield call(make(12), (3, 2), (4, 1))
    yield call(make(12), (2, 3), (1, 2), 1)
    yield call(make(9), (3, 3), (1, 1))


@samples
def select_scatter(make):
    yield call(make(2, 3), make(3), 0, 1)
    yield call(make(3, 4, layout="transposed"), make(3), -1, -2)
    yield call(make(2, 3, layout="expanded"), make(2), 1, 0)


@samples
def slice_scatter(make):
    yield call(make(5), make(2), 0, 1, 3)
    yield call(make(3, 4, layout="transposed"), make(3, 2), 1, None, None, 2)
    yield call(make(2, 3, layout="expanded"), make(2, 3))


@samples
def diagonal_scatter(make):
    yield call(make(3, 3), make(3))
    yield call(make(3, 4, layout="transposed"), make(3), 1)
    yield call(make(2, 3, 4), make(4, 2), -1, 1, 0)


@samples
def as_strided_scatter(make):
    yield call(make(12), make(3, 2), (3, 2), (4, 1))
    yield call(make(3, 4), make(2, 2), (2, 2), (1, 3), 2)


@samples
def flatten(make):
    yield call(make(2, 3, 4))
    yield call(make(2, 3, 4), 1)
    yield call(make(2, 3, 4), 0, 1)
    yield call(make())


@samples
def pairs(make):
    yield call(make(3, 2))
    yield call(make(2, 2, 2))


# ---- indexing and joining ----


@samples
def index(make):
    yield call(make(4, 3), [make.index(2, below=4)])
    yield call(make(4, 3), [make.index(2, 2, below=4)])
    yield call(make(4, 3), [None, make.index(2, below=3)])
    yield call(make(4, 3), [make.index(2, below=4), make.index(2, below=3)])
    yield call(make(4, 3), [make.mask(4)])
    yield call(make(4, 3), [make.mask(4, 3)])
    yield call(make(2, 4, 3), [make.index(2, below=2), None, make.index(2, below=3)])
    yield call(make(2, 4, 3), [None, make.index(2, 1, below=4), make.index(3, below=3)])


@samples
def index_put(make):
    distinct_places = make.fixed([2, 0], "int64")
    yield call(make(4, 3), [distinct_places], make(2, 3))
    yield call(make(4, 3), [distinct_places], make())
    yield call(make(4, 3), [make.fixed([2, 2, 0], "int64")], make(3, 3), True)
    yield call(make(4, 3), [None, distinct_places], make(4, 2))
    yield call(make(4, 3), [make.fixed([True, False, True, False], "bool")], make(2, 3))


@samples
def index_select(make):
    yield call(make(4, 3), 0, make.index(2, below=4))
    yield call(make(4, 3), -1, make.index(5, below=3))
    yield call(make(4), 0, make.index(0, below=4))
    yield call(make(3, 4, layout="transposed"), 0, make.index(2, below=3))


@samples
def index_add(make):
    yield call(make(4, 3), 0, make.index(2, below=4), make(2, 3))
    yield call(make(4, 3), 1, make.index(5, below=3), make(4, 5))
    if make.dtype != "bool":
        yield call(make(4), 0, make.index(3, below=4), make(3), alpha=2)


@samples
def gather(make):
    yield call(make(4, 3), 0, make.index(2, 3, below=4))
    yield call(make(4, 3), 1, make.index(4, 2, below=3))
    yield call(make(4), -1, make.index(6, below=4))
    yield call(make(3, 4, layout="transposed"), 0, make.index(1, 2, below=3))


LARGER_SOURCE = "the backward pass is an error, in torch too: the gradient of the source has the shape of the index"


@samples
def scatter(make):
    places = make.fixed([[0, 1], [2, 0]], "int64")
    yield call(make(3, 4), 0, places, make(2, 2))
    yield Sample((make(4, 3), 1, places, make(2, 3)), no_differences=LARGER_SOURCE)


@samples
def scatter_value(make):
    yield call(make(3, 4), 0, make.index(2, 2, below=3), 1)


@samples
def scatter_add(make):
    yield call(make(3, 4), 0, make.index(2, 4, below=3), make(2, 4))
    yield Sample((make(4, 3), 1, make.index(4, 5, below=3), make(4, 6)), no_differences=LARGER_SOURCE)


@samples
def scatter_named(make):
    for reduce in ("add", "multiply"):
        yield call(make(3, 4), 0, make.index(2, 4, below=3), make(2, 4), reduce=reduce)


@samples
def scatter_value_named(make):
    for reduce in ("add", "multiply"):
        yield call(make(3, 4), 0, make.index(2, 4, below=3), 2, reduce=reduce)


@samples
def scatter_reduce(make):
    for reduce in ("sum", "mean", "amax", "amin"):  # the tangents of products are missing in PyTorch
        for include_self in (True, False):
            places = make.index(2, 4, below=3)
            yield call(make.away_from_zero(3, 4), 0, places, make(2, 4), reduce, include_self=include_self)
        yield call(make(4), 0, make.index(6, below=4), make(6), reduce)


@samples
def index_reduce(make):
    for reduce in ("prod", "mean", "amax", "amin"):
        for include_self in (True, False):
            places = make.index(5, below=3)
            yield call(make.away_from_zero(3, 4), 0, places, make(5, 4), reduce, include_self=include_self)
        yield call(make(2, 4), 1, make.index(3, below=4), make(2, 3), reduce)


@samples
def put(make):
    yield call(make(2, 3), make.fixed([0, -1, 3], "int64"), make(3))
    yield call(make(3, 2, layout="transposed"), make.fixed([[0, 1], [2, 3]], "int64"), make(2, 2))
    if make.dtype != "bool":
        yield call(make(2, 3), make.fixed([1, -5, 3], "int64"), make(3), True)


@samples
def masked_select(make):
    yield call(make(2, 3), make.mask(2, 3))
    yield call(make(2, 3), make.mask(3))
    yield call(make(3, 4, layout="transposed"), make.mask(3, 4))


@samples
def masked_scatter(make):
    yield call(make(2, 3), make.mask(2, 3), make(6))
    yield call(make(2, 3), make.mask(3), make(2, 4))


@samples
def cat(make):
    yield call([make(2, 3), make(1, 3)])
    yield call([make(2, 3), make(2, 2), make(2, 0)], 1)
    yield call([make(3)], -1)
    yield call([make(2, 3), make(4, 3, layout="transposed")], 0)
    yield call([make(2), make(2, dtype="float32")])
    yield call([make(3, 2, layout="transposed"), make(3, 2, layout="transposed")])


@samples
def stack(make):
    yield call([make(2, 3), make(2, 3)])
    yield call([make(2, 3), make(2, 3, layout="offset")], -1)
    yield call([make(), make()])
    for shape in [(2, 1, 3), (2, 3, 4), (1, 2, 3)]:
        yield call([make(*shape, layout="permuted"), make(*shape, layout="permuted")])


@samples
def repeat(make):
    yield call(make(2, 3), (2, 2))
    yield call(make(3), (2, 1, 2))
    yield call(make(2), (0,))
    yield call(make(), (3,))


@samples
def roll(make):
    yield call(make(5), [2])
    yield call(make(2, 3), [1, -1], [0, 1])
    yield call(make(2, 3), [1], [1])


@samples
def triangle(make):
    for shape in [(3, 3), (2, 3, 4), (4, 2)]:
        yield call(make(*shape))
        yield call(make(*shape), 1)
        yield call(make(*shape), -1)
    yield call(make(4, 3, layout="transposed"))


# ---- linear algebra ----


@samples
def mm(make):
    for m, k, n in [(2, 3, 4), (1, 1, 1), (2, 0, 3), (0, 3, 2)]:
        yield call(make(m, k), make(k, n))
    yield call(make(2, 3, layout="transposed"), make(3, 4, layout="transposed"))


@samples
def bmm(make):
    yield call(make(2, 3, 4), make(2, 4, 5))
    yield call(make(2, 3, 4, layout="permuted"), make(2, 4, 5))


@samples
def mv(make):
    yield call(make(2, 3), make(3))
    yield call(make(2, 3, layout="transposed"), make(3, layout="stepped"))


@samples
def dot(make):
    yield call(make(3), make(3))
    yield call(make(0), make(0))


@samples
def matmul(make):
    for left, right in [
        ((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 3, 4), (4,)), ((2, 3, 4), (4, 5)),
        ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((3,), (2, 3, 4)), ((3, 4), (2, 4, 5)),
    ]:  # fmt: skip
        yield call(make(*left), make(*right))
    yield call(make(4, 3, layout="transposed"), make(3, 2))


@samples
def addmm(make):
    yield call(make(2, 4), make(2, 3), make(3, 4))
    yield call(make(4), make(2, 3), make(3, 4), beta=2, alpha=3)
    yield call(make(2, 4), make(2, 3, layout="transposed"), make(3, 4), beta=0)


@samples
def baddbmm(make):
    yield call(make(2, 3, 5), make(2, 3, 4), make(2, 4, 5))
    yield call(make(3, 1), make(2, 3, 4), make(2, 4, 5), beta=2, alpha=3)


@samples
def linear(make):
    yield call(make(2, 3), make(4, 3))
    yield call(make(2, 3), make(4, 3), make(4))
    yield call(make(2, 5, 3), make(4, 3), make(4))
    yield call(make(3), make(4, 3), make(4))
    yield call(make(2, 5, 3), make(4, 3))


@samples
def outer(make):
    yield call(make(3), make(4))


@samples
def addmv(make):
    yield call(make(2), make(2, 3), make(3))
    yield call(make(), make(2, 3, layout="transposed"), make(3), beta=2, alpha=3)
    yield call(make(1), make(2, 3), make(3, layout="stepped"), beta=0)


@samples
def addbmm(make):
    yield call(make(3, 5), make(2, 3, 4), make(2, 4, 5))
    yield call(make(3, 5), make(2, 3, 4), make(2, 4, 5), beta=2, alpha=3)
    yield call(make(3, 5), make(2, 3, 4, layout="permuted"), make(2, 4, 5), beta=0)


@samples
def addr(make):
    yield call(make(2, 3), make(2), make(3))
    yield call(make(3), make(2), make(3), beta=2, alpha=3)
    yield call(make(2, 3, layout="transposed"), make(2), make(3), beta=0)


def matrices(make, values, layout="plain", domain=""):
    return TensorSpec(np.asarray(values), make.dtype, layout, domain=domain)


def well_conditioned(make, *shape):
    """Square matrices far from singular ones."""
    values = make.values(shape, make.dtype, -1, 1)
    return values + np.eye(shape[-1]) * 4


@samples
def invertible(make):
    yield call(matrices(make, well_conditioned(make, 3, 3)))
    yield call(matrices(make, well_conditioned(make, 2, 3, 3)))
    yield call(matrices(make, well_conditioned(make, 2, 2), "transposed"))
    yield call(make(0, 0, differentiable=False))


@samples
def determined(make):
    """Row by row in memory: the factors are those of the matrix that lies there column by column."""
    yield call(matrices(make, well_conditioned(make, 3, 3)))
    yield call(matrices(make, well_conditioned(make, 2, 3, 3)))


@samples
def factored_by_rows(make):
    """Square, tall and wide matrices."""
    yield from invertible(make)
    for shape in ((4, 3), (2, 3, 5), (2, 4)):
        yield call(make(*shape))


@samples
def nuclear_norm(make):
    yield call(make(3, 4))
    yield call(make(2, 3, 2), True)


@samples
def nuclear_norm_dim(make):
    yield call(make(3, 4), [0, 1])
    yield call(make(2, 3, 4), [2, 0], True)
    yield call(make(2, 3, 4), [1, -1])


@samples
def frobenius_norm(make):
    for dims in ([0, 1], [-1], [1, 2], []):
        yield call(make(2, 3, 4), dims)
        yield call(make(2, 3, 4), dims, True)


@samples
def prelu(make):
    for shape in ((4,), (2, 3), (2, 3, 4), (2, 3, 2, 2), (0, 3)):
        yield call(make(*shape), make(1))
        yield call(make(*shape), make())
        yield call(make(*shape), make(shape[1] if len(shape) > 1 else 1))
    yield call(make(4, 3, layout="transposed"), make(3))
    yield call(make(), make(1))
    yield refused("Mismatch of parameter numbers", make(2, 3), make(2))


@samples
def tall_or_wide(make):
    """PyTorch has no derivative of their factors, either."""
    for shape in ((3, 3), (4, 2), (2, 2, 3), (0, 2), (2, 3, 0)):
        yield call(make(*shape, differentiable=False))
    yield call(make(4, 3, layout="transposed", differentiable=False))


@samples
def householder_product(make):
    """Any factors will do: the reflections need not be unitary."""
    for shape, count in (((3, 3), 3), ((4, 2), 2), ((4, 3), 1), ((2, 4, 2), 2), ((3, 0), 0)):
        yield call(make(*shape, low=-1, high=1), make(*shape[:-2], count, low=-1, high=1))
    yield call(make(4, 2, low=-1, high=1, layout="transposed"), make(2, low=-1, high=1))


@samples
def ormqr(make):
    for shape in ((3, 3), (4, 2), (2, 3, 2)):
        *batch, rows, columns = shape
        for left in (True, False):
            other = make(*batch, *((rows, 2) if left else (2, rows)), low=-1, high=1)
            for transpose in (True, False):
                factors = make(*shape, low=-1, high=1), make(*batch, columns, low=-1, high=1)
                yield call(*factors, other, left, transpose)


@samples
def indefinite(make):
    """Symmetric and Hermitian matrices; zeros on the diagonal ask for blocks of two rows. Factors have no gradients."""
    for shape in ((3, 3), (2, 5, 5), (0, 0)):
        values = make.values(shape, make.dtype, -2, 2)
        lower = np.tril(values, -1) + np.eye(shape[-1]) * np.diagonal(values.real, 0, -2, -1)[..., None]
        strict = np.tril(values, -1)
        layout = "transposed" if len(shape) == 2 else "plain"
        yield call(replace(matrices(make, lower), differentiable=False))
        yield call(replace(matrices(make, strict), differentiable=False), hermitian=True)
        yield call(replace(matrices(make, lower, layout), differentiable=False), hermitian=True)


@samples
def ldl_system(make):
    """Factors with blocks of one row and of two."""
    for pivots in ([1, 2, 3], [3, 3, 3], [-2, -2, 3], [1, -3, -3], [-3, -3, 3]):
        factors = np.tril(well_conditioned(make, 3, 3))
        exchanged = TensorSpec(np.array(pivots), "int32", differentiable=False)
        yield call(matrices(make, factors), exchanged, make(3, 2))
        with_real_diagonal = np.tril(factors, -1) + np.diag(np.diagonal(factors).real)
        yield call(matrices(make, with_real_diagonal), exchanged, make(3, 2), hermitian=True)
    yield call(matrices(make, well_conditioned(make, 3, 3)), exchanged, make(2, 3, 1))
    many = TensorSpec(np.array([[1, 2], [-2, -2]]), "int32", differentiable=False)
    yield call(matrices(make, well_conditioned(make, 2, 2, 2)), many, make(2, 3))


@samples
def exponents(make):
    """PyTorch has only nan for 16-bit floats."""
    yield from invertible(make) if make.dtype not in ("float16", "bfloat16") else ()


@samples
def positive_definite(make):
    for shape in ((3, 3), (2, 3, 3)):
        values = make.values(shape, make.dtype, -1, 1)
        positive = values @ np.conj(np.swapaxes(values, -1, -2)) + np.eye(3) * 2
        yield call(matrices(make, positive, domain="hermitian"))


@samples
def linear_system(make):
    yield call(matrices(make, well_conditioned(make, 3, 3)), make(3, 2))
    yield call(matrices(make, well_conditioned(make, 3, 3)), make(3))
    yield call(matrices(make, well_conditioned(make, 2, 3, 3)), make(2, 3, 4))
    yield call(matrices(make, well_conditioned(make, 2, 3, 3)), make(2, 3))
    yield call(matrices(make, well_conditioned(make, 3, 3)), make(2, 3), left=False)


def packed_factors(make, *shape):
    """What `lu_factor` gives: packed factors whose exchange of rows is not trivial, and the pivots."""
    values = well_conditioned(make, *shape)
    count = shape[-1]
    pivots = np.broadcast_to(np.minimum(np.arange(2, count + 2), count), shape[:-1])
    return matrices(make, values), TensorSpec(pivots.astype(np.int32), "int32", differentiable=False)


@samples
def lu_system(make):
    for options in ({}, {"adjoint": True}, {"left": False}, {"left": False, "adjoint": True}):
        yield call(*packed_factors(make, 3, 3), make(3, 3), **options)
    yield call(*packed_factors(make, 2, 3, 3), make(4, 1, 3, 2))


@samples
def lu_system_of(make):
    yield call(make(3, 2), *packed_factors(make, 3, 3))
    yield call(make(2, 3, 1), *packed_factors(make, 3, 3))


@samples
def triangular_system(make):
    for upper in (True, False):
        yield call(matrices(make, well_conditioned(make, 3, 3)), make(3, 2), upper=upper)
        yield call(matrices(make, well_conditioned(make, 3, 3)), make(2, 3), upper=upper, left=False)
    yield call(matrices(make, well_conditioned(make, 2, 3, 3)), make(3, 2), upper=True, unitriangular=True)


@samples
def positive_definite_by_halves(make):
    yield from positive_definite(make)
    for sample in positive_definite(make):
        yield call(*sample.args, upper=True)


@samples
def tall_matrices(make):
    yield call(make(4, 3))
    yield call(matrices(make, well_conditioned(make, 2, 3, 3)))
    yield call(make(2, 3, layout="transposed"))


@samples
def matrix_norm(make):
    for order in (2, -2, 1, -1, float("inf"), -float("inf")):
        yield call(make(3, 4), order)
        yield call(make(2, 3, 4), order, (0, 2), True)


@samples
def matrix_norm_named(make):
    for order in ("fro", "nuc"):
        yield call(make(3, 4), order)
        yield call(make(2, 3, 4), order, (-1, 0), True)


@samples
def linalg_norm(make):
    yield call(make(2, 3, 4))
    for order in (2, 1, float("inf")):
        yield call(make(3, 4), order)
        yield call(make(4), order)
        yield call(make(2, 3), order, 1, True)
        yield call(make(2, 3, 4), order, (0, 1))


@samples
def cond(make):
    for order in (None, 2, -2, 1, -1, float("inf")):
        yield call(matrices(make, well_conditioned(make, 3, 3)), order)


@samples
def cond_named(make):
    for order in ("fro", "nuc"):
        yield call(matrices(make, well_conditioned(make, 2, 3, 3)), order)


@samples
def rank_tolerance(make):
    yield call(make(3, 4), 1e-3)
    yield call(matrices(make, well_conditioned(make, 3, 3)), 0.1)


@samples
def cross(make):
    yield call(make(2, 3), make(2, 3))
    yield call(make(3, 2), make(3, 2), 0)
    yield call(make(3, 4, layout="transposed"), make(3, 4))


@samples
def cross_last(make):
    yield call(make(2, 3), make(2, 3))
    yield call(make(1, 3), make(4, 3))
    yield call(make(3, 2), make(3, 2), dim=0)


@samples
def vander(make):
    yield call(make(3))
    yield call(make(2, 3), N=4)


@samples
def vander_plain(make):
    yield call(make(3))
    yield call(make(3), 2, True)
    yield call(make(3), 0)


@samples
def diagonal_keywords(make):
    yield call(make(3, 4))
    yield call(make(2, 3, 4), offset=1, dim1=0, dim2=1)


@samples
def cdist(make):
    for p in (2.0, 1.0, 3.0, float("inf")):
        yield call(make(3, 4), make(2, 4), p)
    yield call(make(2, 3, 4), make(2, 4))
    yield call(make(2, 26, 2), make(3, 2))  # by one product


@samples
def euclidean_dist(make):
    yield call(make(3, 4), make(2, 4))
    yield call(make(2, 3, 4), make(2, 5, 4))


# ---- nn ----


@samples
def convolution(make):
    for x, weight, geometry in [
        ((2, 4, 5), (3, 4, 2), ([1], [0], [1], False, [0], 1)),
        ((2, 4, 5, 6), (6, 2, 3, 2), ([2, 1], [1, 0], [1, 2], False, [0, 0], 2)),
        ((2, 4, 3, 3), (4, 3, 2, 2), ([2, 2], [1, 1], [1, 1], True, [1, 0], 1)),
        ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2), ([1, 1, 1], [0, 1, 0], [1, 1, 1], False, [0, 0, 0], 1)),
    ]:
        channels = weight[1] * geometry[-1] if geometry[3] else weight[0]
        yield call(make(*x), make(*weight), make(channels), *geometry)
        yield call(make(*x), make(*weight), None, *geometry)


@samples
def conv1d(make):
    yield call(make(2, 3, 7), make(4, 3, 3), make(4))
    yield call(make(3, 7), make(4, 3, 3), None, [2], [1])


@samples
def conv2d(make):
    yield call(make(2, 3, 5, 6), make(4, 3, 3, 3), make(4))
    yield call(make(2, 4, 5, 6), make(4, 2, 3, 2), None, [2, 2], [1, 0], [1, 1], 2)
    yield call(make(3, 5, 6), make(4, 3, 2, 2), make(4), padding=[1, 1])


@samples
def conv_transpose2d(make):
    yield call(make(2, 3, 4, 4), make(3, 2, 3, 3), make(2), [2, 2], [1, 1], [1, 1])
    yield call(make(2, 4, 3, 3), make(4, 2, 2, 2), None, [1, 1], [0, 0], [0, 0], 2)


@samples
def max_pool2d(make):
    yield call(spread(make, 2, 3, 6, 6), [2, 2])
    yield call(spread(make, 1, 2, 7, 5), (3, 2), (2, 1), (1, 0))
    yield call(spread(make, 2, 5, 5), [2, 2], [2, 2], [0, 0], [1, 1], True)


def spread(make, *shape):
    """Distinct values, so that the place of a maximum does not hang on a tie."""
    count = int(np.prod(shape))
    return TensorSpec(make.random.permutation(count).reshape(shape) / 16.0, make.dtype)


@samples
def avg_pool2d(make):
    yield call(make(2, 3, 6, 6), [2, 2])
    yield call(make(1, 2, 7, 5), [3, 2], [2, 1], [1, 0], False, False)
    yield call(make(2, 5, 5), [2, 2], [2, 2], [0, 0], True, True, 3)


@samples
def adaptive_avg_pool2d(make):
    for size in ((1, 1), (2, 3), (4, 4)):
        yield call(make(2, 3, 5, 4), size)


@samples
def native_batch_norm(make):
    yield call(make(3, 4), make(4), make(4), None, None, True, 0.1, 1e-5)
    statistics = make(4, differentiable=False), make(4, low=1, high=2, differentiable=False)
    yield call(make(3, 4, 2, 2), make(4), make(4), *statistics, False, 0.1, 1e-5)


@samples
def batch_norm(make):
    yield call(make(3, 4, 2), make(4), make(4), None, None, True, 0.1, 1e-5, False)


@samples
def native_layer_norm(make):
    yield call(make(2, 3, 4), [4], make(4), make(4), 1e-5)
    yield call(make(2, 3, 4), [3, 4], None, None, 1e-5)


@samples
def layer_norm(make):
    yield call(make(2, 3, 4), [4], make(4), make(4))
    yield call(make(2, 3, 4), [3, 4])


@samples
def embedding(make):
    yield call(make(5, 3), make.index(4, below=5))
    padded = "the row of the padding has an effect, and gets no gradient"
    yield Sample((make(5, 3), make.index(2, 3, below=5), 1), no_differences=padded)


@samples
def dropout(make):
    yield call(make(2, 3), 0.5, False)
    yield call(make(2, 3), 0.0, True)
    yield call(make(2, 3), 1.0, True)


@samples
def constant_pad_nd(make):
    yield call(make(2, 3), (1, 2))
    yield call(make(2, 3), (1, 0, 0, 2), 1)
    yield call(make(4, 4), (-1, -1))


@samples
def attention(make):
    q, k, v = make(2, 3, 4), make(2, 5, 4), make(2, 5, 6)
    yield call(q, k, v)
    yield call(make(1, 2, 3, 4), make(1, 2, 3, 4), make(1, 2, 3, 4), is_causal=True)
    yield call(q, k, v, attn_mask=make(3, 5))
    wide = make(2, 2, 3, 4), make(2, 2, 5, 4), make(2, 2, 5, 4)
    yield call(*wide)
    yield call(*wide, is_causal=True, scale=0.7)
    yield call(*wide, attn_mask=make(2, 1, 3, 5, differentiable=False))
    yield call(make(2, 4, 3, 4), make(2, 2, 5, 4), make(2, 2, 5, 4), enable_gqa=True)


@samples
def flash_attention(make):
    q, k, v = make(2, 2, 3, 4), make(2, 2, 5, 4), make(2, 2, 5, 4)
    yield call(q, k, v)
    yield call(q, k, v, 0.0, True)
    yield call(q, k, v, attn_mask=make(3, 5, differentiable=False))
    yield call(q, k, v, attn_mask=make(2, 1, 3, 5, differentiable=False), scale=0.5)


@samples
def flash_attention_backward(make):
    q, k, v = make(2, 2, 3, 4), make(2, 2, 5, 4), make(2, 2, 5, 4)
    yield call(make(2, 2, 3, 4), q, k, v, make(2, 2, 3, 4), make(2, 2, 3, low=2, high=3), 0.0, False)
    yield call(make(2, 2, 3, 4), q, k, v, make(2, 2, 3, 4), make(2, 2, 3, low=2, high=3), 0.0, True, scale=0.5)


# ---- losses ----


@samples
def nll_loss_forward(make):
    for reduction in (0, 1, 2):
        yield call(make(3, 4), make.index(3, below=4), None, reduction, -100)
    yield call(make(3, 4), make.index(3, below=4), make(4, low=0.5, high=2, differentiable=False), 1, 1)
    yield call(make(4), make.index(below=4), None, 1, -100)


@samples
def nll_loss2d_forward(make):
    for reduction in (0, 1, 2):
        yield call(make(2, 4, 3, 2, low=-4, high=0), make.index(2, 3, 2, below=4), None, reduction, -100)
    yield call(
        make(2, 4, 3, 2, low=-4, high=0),
        make.index(2, 3, 2, below=4),
        make(4, low=0.5, high=2, differentiable=False),
        1,
        1,
    )


@samples
def nll_loss(make):
    for reduction in (0, 1, 2):
        yield call(make(3, 4), make.index(3, below=4), None, reduction)


@samples
def cross_entropy(make):
    weight = make(4, low=0.5, high=2, differentiable=False)
    for reduction in (0, 1, 2):
        yield call(make(3, 4), make.index(3, below=4), None, reduction)
        yield call(make(3, 4), make.index(3, below=4), weight, reduction, 1, 0.1)
    yield call(make(3, 4, 2), make.index(3, 2, below=4))
    yield call(make(3, 4), make(3, 4, low=0.1, high=1), None, 1, -100, 0.1)


@samples
def loss(make):
    for reduction in (0, 1, 2):
        yield call(make(2, 3), make(2, 3), reduction)
    yield call(make(3, 2, layout="transposed"), make(3, 2))


@samples
def smooth_l1_loss(make):
    for reduction in (0, 1, 2):
        yield call(make(2, 3), make(2, 3), reduction, 1.0)
    yield call(make(2, 3), make(2, 3), 1, 0.5)


@samples
def bce(make):
    for reduction in (0, 1, 2):
        yield call(make(2, 3, low=0.1, high=0.9), make(2, 3, low=0.1, high=0.9), None, reduction)
    weight = make(3, low=0.5, high=1, differentiable=False)
    yield call(make(2, 3, low=0.1, high=0.9), make(2, 3, low=0.1, high=0.9), weight, 1)


@samples
def bce_with_logits(make):
    for reduction in (0, 1, 2):
        yield call(make(2, 3), make(2, 3, low=0.1, high=0.9), None, None, reduction)
    yield call(make(2, 3), make(2, 3, low=0.1, high=0.9), None, make(3, low=0.5, high=2, differentiable=False))
    yield call(make(3), make(2, 3, low=0.1, high=0.9), make(2, 3, low=0.5, high=2, differentiable=False), None, 0)
    yield refused("doesn't match the broadcast shape", make(2, 3), make(3, low=0.1, high=0.9))


@samples
def kl_div(make):
    for reduction in (0, 1, 2):
        yield call(make(2, 3), make(2, 3, low=0.1, high=0.9), reduction)
    yield call(make(2, 3), make(2, 3), 1, log_target=True)


# ---- factories and copies ----


@samples
def factory_sizes(make):
    for shape in SHAPES:
        yield call(shape, dtype=DtypeOf(make.dtype))
    yield call((2, 3))


@samples
def factory_full(make):
    yield call((2, 3), 1, dtype=DtypeOf(make.dtype))
    yield call((2,), 1.5)
    yield call((2,), 2)
    yield call((), True)


@samples
def factory_arange_end(make):
    yield call(5)
    yield call(2.5)


@samples
def factory_arange(make):
    yield call(0, 5, 1)
    yield call(1, 2, 0.25)
    yield call(5, 0, -2)
    yield call(0, 3, 1, dtype=DtypeOf(make.dtype))


@samples
def factory_linspace(make):
    for steps in (0, 1, 2, 5, 10):
        yield call(0, 1, steps)
    refusal = "value cannot be converted to type uint8_t without overflow" if make.dtype == "uint8" else ""
    yield Sample((-3.5, 7, 8), {"dtype": DtypeOf(make.dtype)}, refusal)


@samples
def factory_eye(make):
    yield call(3, dtype=DtypeOf(make.dtype))
    yield call(0)


@samples
def window(make):
    for length in (0, 1, 2, 5, 8):
        yield call(length)
    yield call(6, dtype=DtypeOf("float64"))


@samples
def window_periodic(make):
    for length in (1, 2, 5, 8):
        yield call(length, True)
        yield call(length, False, dtype=DtypeOf("float64"))


@samples
def window_shaped(make):
    for length in (1, 2, 5, 8):
        yield call(length, True, 0.75)
        yield call(length, False, 2.5, dtype=DtypeOf("float64"))


@samples
def hamming_window_shaped(make):
    yield call(5, True, 0.5, 0.5)
    yield call(6, False, 0.25, 0.75, dtype=DtypeOf("float64"))


@samples
def factory_eye_m(make):
    yield call(2, 4, dtype=DtypeOf(make.dtype))
    yield call(3, 1)


@samples
def like(make):
    for x in every_shape(make):
        yield call(x)
    yield call(make(2, 3), dtype=DtypeOf("float64"))


@samples
def full_like(make):
    yield call(make(2, 3), 1)
    yield call(make(3, 2, layout="transposed"), 0)


@samples
def new_sizes(make):
    yield call(make(2), (2, 3))
    yield call(make(2), ())


@samples
def new_full(make):
    yield call(make(2), (2, 3), 1)


@samples
def copy(make):
    yield call(make(2, 3), make(2, 3))
    yield call(make(2, 3), make(3))
    yield call(make(3, 2, layout="transposed"), make(3, 2))
    for dtype in ("int64", "float64", "bool") if not make.is_complex else ("float64",):
        yield call(make(2, 3), make(2, 3, dtype=dtype))


@samples
def to_copy(make):
    for x in every_shape(make):
        yield call(x)
    for dtype in ("float64", "float32", "int64", "bool", "float16") if not make.is_complex else ("complex128",):
        yield call(make(2, 3, low=0), dtype=DtypeOf(dtype))


@samples
def to_dtype(make):
    for dtype in ("float64", "float32", "int64", "bool") if not make.is_complex else ("complex128",):
        yield call(make(2, 3, low=0), DtypeOf(dtype))


@samples
def fill(make):
    yield call(make(2, 3), 1)
    yield call(make(3, 2, layout="transposed"), 0)


@samples
def fill_tensor(make):
    yield call(make(2, 3), make())


# ---- fft ----


@samples
def fft(make):
    yield call(make(5))
    yield call(make(2, 4), None, 0)
    yield call(make(6), 4)
    yield call(make(4), 6, -1, "ortho")
    yield call(make(4), None, -1, "forward")


@samples
def fft2(make):
    yield call(make(2, 4))
    yield call(make(2, 3, 5), (4, 2))
    yield call(make(4, 3, layout="transposed"), None, (0, 1), "ortho")
    yield call(make(3, 4), (-1, 6), (1, 0), "forward")
    yield call(make(3, 4), None, (1,))


@samples
def fftn(make):
    yield call(make(2, 3, 4))
    yield call(make(2, 3, 4), (3, 5))
    yield call(make(2, 4, 3, layout="permuted"), None, (2, 0), "ortho")
    yield call(make(3, 4), (4, -1), (0, 1), "forward")
    yield call(make(5))


@samples
def fftfreq(make):
    for n in (1, 4, 5):
        yield call(n)
    yield call(6, 0.25)
    yield call(3, 2.0, dtype=DtypeOf("float64"))


@samples
def fftshift(make):
    yield call(make(5))
    yield call(make(4, 3))
    yield call(make(4, 3), 1)
    yield call(make(2, 3, 5), (-1, 0))


def taper(make, count):
    """A window that is nowhere 0, in the real dtype that goes with the maker's."""
    dtype = {"complex64": "float32", "complex128": "float64"}.get(make.dtype, make.dtype)
    return TensorSpec(0.6 - 0.4 * np.cos(2 * np.pi * np.arange(count) / count), dtype)


@samples
def stft(make):
    is_complex = make.is_complex
    yield call(make(20), 8, 2, 8, taper(make, 8), return_complex=True)
    yield call(make(2, 15), 6, 3, 4, taper(make, 4), True, return_complex=True)
    yield call(make(12), 5, None, None, taper(make, 5), onesided=False, return_complex=True)
    yield call(make(11), 6, 2, 4, taper(make, 4), align_to_window=True, return_complex=not is_complex or None)


@samples
def stft_center(make):
    yield call(make(20), 8, None, None, taper(make, 8), return_complex=True)
    yield call(make(2, 15), 6, 3, 4, taper(make, 4), pad_mode="constant", return_complex=True)
    yield call(make(12), 5, 2, 5, taper(make, 5), False, onesided=False, return_complex=True)


@samples
def istft(make):
    yield call(make(5, 6), 8, 2, 8, taper(make, 8))
    yield call(make(2, 4, 5), 6, 2, 4, taper(make, 4), normalized=True, length=9)
    yield call(make(6, 5), 6, 2, 6, taper(make, 6), return_complex=True)
    yield call(make(3, 6), 4, 1, 4, taper(make, 4), False)


# ---- ops that are written in other ops ----


@samples
def matrix_stack(make):
    for shape in [(2, 3), (3, 1), (2, 3, 4), (2, 0, 3)]:
        yield call(make(*shape))
    yield call(make(3, 2, layout="transposed"))


@samples
def distinct_matrix(make):
    yield call(distinct(make, 4))
    yield call(distinct(make, 3, 2))
    yield call(distinct(make, 3, 2, layout="transposed"))


@samples
def diff(make):
    yield call(make(5))
    yield call(make(2, 4), 2)
    yield call(make(2, 4), 1, 0)
    yield call(make(3, 4), 0)
    yield call(make(3), 7)
    yield call(make(2, 4), prepend=make(2, 1), append=make(2, 2))


@samples
def trapezoid(make):
    yield call(make(5))
    yield call(make(2, 4), dx=0.5)
    yield call(make(3, 2), dim=0)
    yield call(make(2, 0))


@samples
def sum_to_size(make):
    yield call(make(2, 3), (1, 3))
    yield call(make(2, 3), (3,))
    yield call(make(2, 3, 4), (3, 1))
    yield call(make(2, 3), (2, 3))
    yield refused("is not expandable to size", make(3, 2, layout="transposed"), (2, 1))


@samples
def movedims(make):
    yield call(make(2, 3, 4), (0, 1), (2, 0))
    yield call(make(2, 3, layout="offset"), (-1,), (0,))


@samples
def narrow_tensor(make):
    yield call(make(5, 2), 0, make.fixed(3, dtype="int64"), 2)
    yield call(make(2, 4), -1, make.fixed(2, dtype="int64"), 1)


@samples
def adjoint(make):
    yield call(make())
    yield call(make(2, 3))
    yield call(make(2, 3, 4, layout="permuted"))


@samples
def split_tensor(make):
    yield call(make(6, 2), make.fixed(3, dtype="int64"))
    yield call(make(5, 2), make.fixed([1, 4], dtype="int64"))
    yield call(make(2, 5), make.fixed([2], dtype="int64"), dim=1)


@samples
def split_places(make):
    yield call(make(6), (1, 4))
    yield call(make(2, 5), (2,), 1)
    yield call(make(4, 2), (-1, 7))


@samples
def two_places(make):
    yield call(make(4, 5, 6), (1, 3))
    yield call(make(4, 5, 6, layout="permuted"), (2,))


@samples
def even_parts(make):
    yield call(make(2, 4, 6), 2)
    yield call(make(2, 2, 2, layout="permuted"), 1)


@samples
def same_shapes(make):
    for shape in [(), (3,), (2, 3), (2, 3, 4)]:
        yield call([make(*shape), make(*shape)])


@samples
def tile(make):
    yield call(make(2, 3), (2,))
    yield call(make(2, 3), (2, 1, 3))
    yield call(make(3, 2, layout="transposed"), (2, 2))
    yield call(make(), (3,))


@samples
def repeat_interleave_int(make):
    yield call(make(3), 2)
    yield call(make(2, 3), 3, 1)
    yield call(make(2, 3), 2, -2)
    yield call(make(2, 3), 2)
    yield call(make(), 3)
    yield call(make(3, 2, layout="transposed"), 2, 0)
    yield call(make(2, 3), 0, 1)


@samples
def repeats(make):
    yield call(make.fixed([1, 0, 2], "int64"))
    yield call(make.fixed([3, 1], "int32"), output_size=4)
    yield call(make.fixed([], "int64"))


@samples
def repeat_interleave_tensor(make):
    yield call(make(3), make.fixed([1, 0, 2], "int64"))
    yield call(make(2, 3), make.fixed([2, 1], "int64"), 0)
    yield call(make(2, 3), make.fixed([2], "int64"), 1)
    yield call(make(2, 3), make.fixed([1, 0, 0], "int64"), -1)


@samples
def rot90(make):
    for turns in (-1, 0, 1, 2, 3, 5):
        yield call(make(2, 3), turns)
    yield call(make(2, 3, 4), 1, (1, 2))


@samples
def take_along_dim(make):
    yield call(make(2, 3), make.index(2, 1, below=3), 1)
    yield call(make(2, 3), make.index(4, below=6))
    yield call(make(1, 3), make.index(2, 2, below=3), -1)


@samples
def diagflat(make):
    yield call(make(3))
    yield call(make(2, 2), 1)
    yield call(make(), -1)


@samples
def fill_diagonal(make):
    for shape in [(3, 3), (2, 4), (5, 2), (3, 3, 3)]:
        yield call(make(*shape), 1)
    yield call(make(7, 2), 1, True)
    yield call(make(3, 2, layout="transposed"), 1)


@samples
def combinations(make):
    yield call(make(4))
    yield call(make(4), 3)
    yield call(make(3), 2, True)
    yield call(make(3), 1)
    yield call(make(2), 3)


@samples
def inner(make):
    yield call(make(3), make(3))
    yield call(make(2, 3), make(4, 3))
    yield call(make(2, 3), make())
    text = "inner() the last dimension must match on both input tensors"
    yield refused(text, make(3, 2, layout="transposed"), make(2, 4, 3))


@samples
def kron(make):
    yield call(make(2, 3), make(3, 2))
    yield call(make(3), make(2, 2))
    yield call(make(3, 2, layout="transposed"), make())


@samples
def matrix_power(make):
    for power in (0, 1, 2, 5):
        yield call(make(3, 3, low=-1, high=1), power)
    yield call(make(2, 2, 2, low=-1, high=1), 3)


@samples
def vecdot(make):
    yield call(make(3), make(3))
    yield call(make(2, 3), make(2, 3))
    yield call(make(2, 3), make(3))
    yield call(make(3, 2), make(3, 2), dim=0)


@samples
def isin(make):
    yield call(make(5), make(3))
    yield call(make(2, 3), make(2, 2), invert=True)
    yield call(make(), make(3), assume_unique=False)


@samples
def index_fill(make):
    yield call(make(3, 4), 0, make.fixed([0, 2], "int64"), 1)
    yield call(make(3, 4), -1, make.fixed([1], "int64"), 1)
    yield call(make(3, 2, layout="transposed"), 1, make.fixed([], "int64"), 1)


@samples
def index_copy(make):
    yield call(make(3, 4), 0, make.fixed([2, 0], "int64"), make(2, 4))
    yield call(make(3, 4), 1, make.fixed([1], "int64"), make(3, 1))


@samples
def take(make):
    yield call(make(2, 3), make.index(4, below=6))
    yield call(make(3, 2, layout="transposed"), make.index(2, 2, below=6))
    yield call(make(4), make.fixed([-1, 0], "int64"))


@samples
def matrix_only(make):
    yield call(make(3, 3))
    yield call(make(2, 4))
    yield call(make(4, 2, layout="transposed"))


# ---- backward ops ----


@samples
def reshape_alias(make):
    yield call(make(2, 3), [3, 2], [2, 1])
    yield call(make(4), [2, 2], [2, 1])


@samples
def select_backward(make):
    yield call(make(3), [2, 3], 0, 1)
    yield call(make(2, 4), [2, 3, 4], 1, -1)


@samples
def slice_backward(make):
    yield call(make(2, 3), [4, 3], 0, 1, 3, 1)
    yield call(make(3, 2), [3, 5], 1, 0, 4, 2)


@samples
def diagonal_backward(make):
    yield call(make(3), [3, 4], 0, 0, 1)
    yield call(make(2, 1), [3, 2, 2], 1, 0, 2)


@samples
def unfold_backward(make):
    yield call(make(3, 2), [4], 0, 2, 1)
    yield call(make(2, 2, 3), [2, 5], 1, 3, 2)


def _alignments(make, input_lengths, target_lengths):
    """Log-probabilities of five labels, and targets in a row for each sequence and one after the other.

    The gradient is that of the logits which the log-probabilities are the log_softmax of.
    """
    times, count, longest = max(input_lengths), len(input_lengths), max(target_lengths)
    logits = make.random.uniform(-2, 2, size=(times, count, 5))
    logs = TensorSpec(logits - np.log(np.exp(logits).sum(2, keepdims=True)), make.dtype)
    rows = 1 + (np.arange(count)[:, None] + np.arange(longest) // 2) % 4
    flat = np.concatenate([row[:length] for row, length in zip(rows, target_lengths, strict=True)])
    return logs, [TensorSpec(each, "int64", differentiable=False) for each in (rows, flat)]


def _loss_alone(losses, alpha):
    """torch leaves alpha as it was behind the ends of shorter sequences."""
    return losses


def _of_logits(logs, *others):
    return logs.log_softmax(-1), *others


@samples
def _ctc_loss(make):
    options = {"tied": _of_logits, "invariant": _loss_alone}
    logs, targets = _alignments(make, [7, 7], [3, 3])
    for each in targets:
        yield Sample((logs, each, [7, 7], [3, 3]), **options)
    logs, targets = _alignments(make, [5, 6, 3], [2, 0, 2])
    yield Sample((logs, targets[0], [5, 6, 3], [2, 0, 2]), **options)


@samples
def _ctc_loss_tensor(make):
    lengths = [TensorSpec(np.array(each), "int64", differentiable=False) for each in ([7, 7], [3, 3])]
    logs, targets = _alignments(make, [7, 7], [3, 3])
    yield Sample((logs, targets[0], *lengths), tied=_of_logits, invariant=_loss_alone)


@samples
def ctc_loss(make):
    logs, targets = _alignments(make, [5, 6, 3], [2, 1, 2])
    for each in targets:
        for reduction in (0, 1, 2):
            args = (logs, each, [5, 6, 3], [2, 1, 2], 0, reduction, reduction == 1)
            yield Sample(args, tied=_of_logits)


@samples
def ctc_loss_tensor(make):
    lengths = [TensorSpec(np.array(each), "int64", differentiable=False) for each in ([5, 6, 3], [2, 1, 2])]
    logs, targets = _alignments(make, [5, 6, 3], [2, 1, 2])
    yield Sample((logs, targets[0], *lengths, 0, 1), tied=_of_logits)
    yield Sample((logs, targets[1], *lengths, 0, 2), tied=_of_logits)


@samples
def norm_except_dim(make):
    for dim in (0, 1, -1):
        yield call(make(3, 4, 2), 2, dim)


@samples
def hinge_embedding_loss(make):
    signs = TensorSpec(np.where(make.random.rand(3, 4) < 0.5, -1, 1), make.dtype, differentiable=False)
    for reduction in (0, 1, 2):
        yield call(make(3, 4), signs, 1.25, reduction)


@samples
def margin_ranking_loss(make):
    signs = TensorSpec(np.where(make.random.rand(3, 4) < 0.5, -1, 1), make.dtype, differentiable=False)
    for reduction in (0, 1, 2):
        yield call(make(3, 4), make(3, 4), signs, 0.25, reduction)


@samples
def cosine_embedding_loss(make):
    signs = TensorSpec(np.array([1, -1, 1]), make.dtype, differentiable=False)
    for reduction in (0, 1, 2):
        yield call(make(3, 4), make(3, 4), signs, 0.25, reduction)
    yield call(make(4), make(4), TensorSpec(np.array(-1), make.dtype, differentiable=False), 0.0, 0)


@samples
def triplet_margin_loss(make):
    for reduction in (0, 1, 2):
        yield call(make(3, 4), make(3, 4), make(3, 4), 1.5, 2.0, 1e-6, reduction == 1, reduction)


@samples
def poisson_nll_loss(make):
    counts = TensorSpec(make.random.randint(0, 6, (3, 4)) + 0.5, make.dtype, differentiable=False)
    for reduction in (0, 1, 2):
        yield call(make(3, 4, low=0.5, high=2), counts, reduction != 2, reduction != 1, 1e-8, reduction)


@samples
def nonzero_static(make):
    for size in (0, 2, 20):
        yield call(TensorSpec(make(3, 4).data * make.mask(3, 4).data, make.dtype), size=size)
    yield call(make(3), size=5, fill_value=7)


@samples
def lu_unpack(make):
    for shape, pivots in (((3, 3), [3, 3, 3]), ((4, 2), [2, 4]), ((2, 2, 4), [[1, 2], [2, 2]])):
        yield call(make(*shape), TensorSpec(np.array(pivots), "int32", differentiable=False))
    packed, pivots = make(3, 3), TensorSpec(np.array([2, 2, 3]), "int32", differentiable=False)
    yield call(packed, pivots, False)
    yield call(packed, pivots, True, False)


@samples
def pdist(make):
    for p in (2.0, 1.0, 3.0, float("inf")):
        yield call(make(4, 3), p)
    yield call(make(3, 5, layout="transposed"))
    yield call(make(1, 3))


@samples
def affine_grid_generator(make):
    yield call(make(2, 2, 3), [2, 3, 4, 5], True)
    yield call(make(1, 2, 3), [1, 1, 2, 4], False)
    yield call(make(2, 3, 4), [2, 1, 2, 3, 2], False)


@samples
def grid_sampler_2d(make):
    # where rounding is coarse, so is what torch's cubics give, which are rounded at every step
    for mode in (0,) if make.dtype == "bfloat16" else (0, 2):
        for padding, align_corners in ((0, True), (1, False), (2, True)):
            yield call(make(2, 3, 4, 5), make(2, 3, 2, 2, low=-1.3, high=1.3), mode, padding, align_corners)
    yield call(make(1, 2, 3, 4, layout="permuted"), make(1, 2, 3, 2, low=-1, high=1, layout="permuted"), 0, 2, False)


@samples
def grid_sampler_3d(make):
    for padding, align_corners in ((0, False), (1, True), (2, False)):
        yield call(make(1, 2, 3, 4, 3), make(1, 2, 2, 3, 3, low=-1.3, high=1.3), 0, padding, align_corners)


@samples
def grid_sampler(make):
    yield from grid_sampler_2d(make)
    yield from grid_sampler_3d(make)


@samples
def embedding_bag(make):
    bags = TensorSpec(np.array([0, 2, 2, 5]), "int64", differentiable=False)
    for mode in (0, 1):
        yield call(make(5, 3), make.index(6, below=5), bags, False, mode)
    # the largest elements, and no index twice in a bag: these would be two equal ones
    largest = TensorSpec(np.array([1, 0, 3, 4, 2, 2]), "int64", differentiable=False)
    yield call(make(5, 3), largest, bags, False, 2)
    yield call(make(5, 3), make.index(6, below=5), bags, False, 0, False, make(6))
    for mode in (0, 1):
        scaled = "a row that is looked up often counts no more than another"
        yield Sample((make(5, 3), largest, bags, True, mode), no_differences=scaled)
        padded = "the row of the padding is left out of its bags"
        args = (make(4, 2), make.index(7, below=4), TensorSpec(np.array([0, 3, 7]), "int64", differentiable=False))
        yield Sample((*args, False, mode, False, None, True, 1), no_differences=padded)


@samples
def embedding_bag_per_sample_weights_backward(make):
    bags = [TensorSpec(np.array(each), "int64", differentiable=False) for each in ([0, 2, 2], [0, 0, 2, 2])]
    yield call(make(3, 2), make(5, 2), make.index(4, below=5), *bags, 0)
    yield call(make(3, 2), make(5, 2), make.index(4, below=5), *bags, 0, 2)


@samples
def embedding_renorm(make):
    yield call(make(4, 3), make.index(3, below=4), 1.5, 2.0)
    yield call(make(4, 3), make.index(2, 2, below=4), 2.0, 1.0)


@samples
def embedding_dense_backward(make):
    yield call(make(4, 3), make.index(4, below=5), 5, -1, False)
    yield call(make(2, 3, 2), make.index(2, 3, below=5), 5, 1, False)


_ROUNDED = "rounding has the gradient 1, where differences of values have 0"


def _quantized(*args):
    return Sample(args, {}, no_differences=_ROUNDED)


@samples
def fake_quantize(make):
    yield _quantized(make(2, 3), 0.25, 1, -8, 7)
    yield _quantized(make(3, 4, layout="transposed"), 0.125, 0, 0, 255)


@samples
def fake_quantize_tensors(make):
    scale, zero = replace(make.fixed([0.25], "float32"), differentiable=False), make.fixed([1], "int32")
    yield _quantized(make(2, 3), scale, zero, -8, 7)


@samples
def fake_quantize_channels(make):
    scales = replace(make.fixed([0.25, 0.5, 0.125], "float32"), differentiable=False)
    zeros = make.fixed([0, 3, -2], "int32")
    yield _quantized(make(2, 3), scales, zeros, 1, -8, 7)
    yield _quantized(make(3, 4, layout="transposed"), scales, zeros, 0, -8, 7)


@samples
def native_dropout(make):
    yield call(make(2, 3), 0.5, False)


# -------------------- resizing, pooling and padding of all dimensions --------------------


def _resized(make, *scales, corners=False):
    """Larger, smaller, and equal images; the scale given and not."""
    if make.dtype == "uint8" and corners:
        return  # torch computes with bytes in fixed point, and rounds now and then in the other direction
    dims = len(scales)
    for align in (False, True) if corners else (None,):
        options = () if align is None else (align,)
        yield call(make(2, 3, *(4, 5, 3)[:dims]), [7, 3, 5][:dims], *options, *scales)
        yield call(make(1, 2, *(3, 4, 2)[:dims]), [6, 8, 2][:dims], *options, *[2.0, 2.0, 1.0][:dims])


@samples
def resized1d(make):
    yield from _resized(make, None)


@samples
def resized2d(make):
    yield from _resized(make, None, None)


@samples
def resized3d(make):
    yield from _resized(make, None, None, None)


@samples
def resized1d_with_corners(make):
    yield from _resized(make, None, corners=True)


@samples
def resized2d_with_corners(make):
    yield from _resized(make, None, None, corners=True)


@samples
def resized3d_with_corners(make):
    yield from _resized(make, None, None, None, corners=True)


@samples
def max_pool1d(make):
    yield call(spread(make, 2, 3, 6), [2])
    yield call(spread(make, 3, 7), [3], [2], [1], [1], True)
    yield call(spread(make, 2, 2, 9), [2], [1], [0], [3])


@samples
def max_pool3d(make):
    yield call(spread(make, 2, 3, 4, 4, 4), [2, 2, 2])
    yield call(spread(make, 2, 5, 4, 3), (3, 2, 1), (2, 1, 1), (1, 0, 0), (1, 2, 1), True)


@samples
def avg_pool1d(make):
    yield call(make(2, 3, 6), [2])
    yield call(make(3, 7), [3], [2], [1], True, False)


@samples
def avg_pool3d(make):
    yield call(make(2, 3, 4, 4, 4), [2, 2, 2])
    yield call(make(2, 5, 4, 3), (3, 2, 1), (2, 1, 1), (1, 0, 0), True, False)
    yield call(make(1, 2, 3, 3, 3), [2], [1], [1], False, True, 3)


@samples
def adaptive_avg_pool1d(make):
    for size in (1, 2, 7):
        yield call(make(2, 3, 5), [size])


@samples
def adaptive_pool3d(make):
    if make.dtype in ("float16", "bfloat16"):  # torch rounds after every addition: cells of two elements
        yield call(make(2, 3, 5, 4, 3), (4, 4, 3))
        return
    for size in ((1, 1, 1), (2, 3, 1), (4, 4, 4)):
        yield call(make(2, 3, 5, 4, 3), size)


@samples
def adaptive_max_pool1d(make):
    for size in (1, 2, 7):
        yield call(spread(make, 2, 3, 5), [size])


def _between_zero_and_one(make, *shape):
    return replace(make(*shape, low=0, high=0.999), differentiable=False)


def _distinct(make, *shape):
    """Values none of which are alike, in any order: the largest one of a window is one of them."""
    values = make.random.permutation(int(np.prod(shape))).reshape(shape)
    return make.fixed(values / 4)


@samples
def fractional_max_pool2d(make):
    for shape, kernel, size in (
        ((2, 3, 6, 7), [2, 3], [3, 2]),
        ((3, 5, 5), [2, 2], [3, 4]),
        ((1, 2, 4, 4), [1, 1], [1, 1]),
    ):
        samples = _between_zero_and_one(make, *(shape[:2] if len(shape) == 4 else (1, shape[0])), 2)
        yield call(_distinct(make, *shape), kernel, size, samples)
    yield refused("too large relative", make(2, 3, 4, 4), [2, 2], [4, 2], _between_zero_and_one(make, 2, 3, 2))


@samples
def fractional_max_pool3d(make):
    for shape, kernel, size in (((2, 3, 5, 6, 5), [2, 3, 2], [3, 2, 2]), ((3, 3, 5, 4), [1, 2, 2], [2, 3, 2])):
        samples = _between_zero_and_one(make, *(shape[:2] if len(shape) == 5 else (1, shape[0])), 3)
        yield call(_distinct(make, *shape), kernel, size, samples)


@samples
def conv_tbc(make):
    yield call(make(5, 2, 3), make(3, 3, 4), make(4))
    yield call(make(5, 2, 3), make(2, 3, 4), make(4), 2)
    yield call(make(3, 2, 5), make(1, 5, 2), make(2), 1)


@samples
def adaptive_max_pool2d(make):
    for size in ((1, 1), (2, 3), (4, 4)):
        yield call(spread(make, 2, 3, 5, 4), size)


@samples
def adaptive_max_pool3d(make):
    for size in ((1, 1, 1), (2, 3, 1)):
        yield call(spread(make, 2, 3, 5, 4, 3), size)


def _places(make, images, count, below):
    """For each image `count` different places, each below a number."""
    rows = [make.random.permutation(below)[:count] for _ in range(images)]
    return np.stack(rows)


@samples
def max_unpool2d(make):
    places = TensorSpec(_places(make, 6, 4, 20).reshape(2, 3, 2, 2), "int64", differentiable=False)
    yield call(make(2, 3, 2, 2), places, (4, 5))


@samples
def max_unpool3d(make):
    places = TensorSpec(_places(make, 6, 4, 24).reshape(2, 3, 2, 2, 1), "int64", differentiable=False)
    yield call(make(2, 3, 2, 2, 1), places, (2, 4, 3), (2, 2, 2), (0, 0, 0))


@samples
def im2col(make):
    yield call(make(2, 3, 5, 4), (2, 3), (1, 1), (0, 0), (1, 1))
    yield call(make(2, 6, 5), (2, 2), (2, 1), (1, 1), (2, 2))


@samples
def col2im(make):
    yield call(make(2, 8, 20), (6, 5), (2, 2), (1, 1), (0, 0), (1, 1))
    yield call(make(12, 6), (5, 4), (2, 3), (1, 1), (1, 1), (2, 2))


@samples
def padded1d(make):
    yield call(make(2, 3, 5), (2, 1))
    yield call(make(3, 4), (-1, 3))


@samples
def padded2d(make):
    yield call(make(2, 3, 5, 4), (2, 1, 0, 3))
    yield call(make(3, 4, 5), (-1, 3, 1, 1))


@samples
def padded3d(make):
    yield call(make(2, 3, 3, 4, 5), (2, 1, 0, 3, 1, 1))
    yield call(make(2, 3, 4, 5), (1, 1, 1, 1, 1, 0))


@samples
def conv_transpose1d(make):
    yield call(make(2, 4, 5), make(4, 3, 3), make(3))
    yield call(make(4, 5), make(4, 1, 2), None, [2], [1], [1], 2)


@samples
def conv_transpose3d(make):
    yield call(make(1, 2, 3, 2, 3), make(2, 2, 2, 2, 1), make(2), [2, 1, 1])


@samples
def pixel_shuffle(make):
    yield call(make(2, 8, 2, 3), 2)
    yield call(make(9, 1, 2), 3)


@samples
def pixel_unshuffle(make):
    yield call(make(2, 2, 4, 6), 2)


@samples
def channel_shuffle(make):
    yield call(make(2, 6, 2, 3), 3)


@samples
def bilinear(make):
    yield call(make(4, 3), make(4, 2), make(5, 3, 2), make(5))
    yield call(make(2, 4, 3), make(2, 4, 2), make(5, 3, 2))


@samples
def group_norm(make):
    yield call(make(2, 6, 4), 3, make(6), make(6))
    yield call(make(2, 4, 2, 3), 2)


@samples
def rms_norm(make):
    yield call(make(2, 3, 4), (4,), make(4), 1e-3)
    yield call(make(2, 3, 4), (3, 4))


# -------------------- factorizations, and what is solved by them --------------------


def hermitian(make, *shape):
    values = make.values(shape, make.dtype, -2, 2)
    spread = np.diag(np.arange(shape[-1]) * 3.0)
    return matrices(make, values + np.conj(np.swapaxes(values, -1, -2)) + spread, domain="hermitian")


def triangular(make, *shape, upper=False):
    values = well_conditioned(make, *shape)
    values = np.triu(values) if upper else np.tril(values)
    values[..., range(shape[-1]), range(shape[-1])] = 4 + np.arange(shape[-1])
    return matrices(make, values, domain="upper" if upper else "lower")


def _factors(*parts):
    """The sizes of their elements: vectors have any sign, and complex ones any phase."""
    return [part.abs() for part in parts]


def _values_and_vectors(values, vectors):
    return [values, vectors.abs()]


def factored(*args, invariant=_factors, **kwargs):
    return Sample(args, kwargs, invariant=invariant)


@samples
def singular_vectors(make):
    for shape in ((3, 3), (4, 3), (2, 3, 4)):
        yield factored(make(*shape), False)
    yield factored(make(3, 3), True)


@samples
def svd(make):
    for shape in ((3, 3), (4, 3), (2, 3, 4)):
        yield factored(make(*shape))
    yield call(make(2, 3), True, False)


@samples
def eigenvectors_of_hermitian(make):
    for shape in ((3, 3), (2, 2, 2)):
        for triangle in ("L", "U"):
            yield factored(hermitian(make, *shape), triangle, invariant=_values_and_vectors)


@samples
def eigenvectors(make):
    for shape in ((3, 3), (2, 2, 2)):
        values = make.values(shape, make.dtype, -1, 1) + np.diag(np.arange(shape[-1]) * 4)
        yield factored(matrices(make, values), invariant=_values_and_vectors)


@samples
def eigenvalues(make):
    for sample in eigenvectors(make):
        yield call(*sample.args)


@samples
def triangular_solve(make):
    for upper in (True, False):
        yield call(make(3, 2), triangular(make, 3, 3, upper=upper), upper)
        yield call(make(2, 3, 1), triangular(make, 3, 3, upper=upper), upper, True)
    yield call(make(3, 2), triangular(make, 2, 3, 3, upper=True), True, False, True)


@samples
def cholesky_solve(make):
    for upper in (True, False):
        yield call(make(3, 2), triangular(make, 3, 3, upper=upper), upper)
        yield call(make(2, 3, 1), triangular(make, 2, 3, 3, upper=upper), upper)


@samples
def cholesky_inverse(make):
    for upper in (True, False):
        yield call(triangular(make, 3, 3, upper=upper), upper)
        yield call(triangular(make, 2, 3, 3, upper=upper), upper)


@samples
def least_squares(make):
    for driver in ("gelsd", "gels", "gelsy", None):
        yield call(make(4, 3), make(4, 2), driver=driver)
        yield call(make(2, 3, 3), make(2, 3, 1), driver=driver)
        yield call(make(3, 5), make(3, 2), driver=driver)


@samples
def tensorinv(make):
    yield call(matrices(make, well_conditioned(make, 4, 4).reshape(2, 2, 4)))
    yield call(matrices(make, well_conditioned(make, 6, 6).reshape(6, 3, 2)), 1)


@samples
def tensorsolve(make):
    yield call(matrices(make, well_conditioned(make, 6, 6).reshape(2, 3, 6)), make(2, 3))
    yield call(matrices(make, well_conditioned(make, 4, 4).reshape(4, 2, 2)), make(2, 2), dims=(0,))


@samples
def matrix_chain(make):
    yield call([make(2, 3), make(3, 4)])
    yield call([make(2, 3), make(3, 4), make(4, 2), make(2, 5)])


# -------------------- products and joints --------------------


@samples
def einsum(make):
    yield call("ij,jk->ik", [make(2, 3), make(3, 4)])
    yield call("bi,bi->b", [make(2, 3), make(2, 3)])
    yield call("ij->ji", [make(2, 3)])
    yield call("ii->i", [make(3, 3)])
    yield call("...ij,...j", [make(2, 3, 4), make(4)])
    yield call("ab,bc,cd->ad", [make(2, 3), make(3, 2), make(2, 4)])


@samples
def tensordot(make):
    yield call(make(2, 3, 4), make(4, 3, 2), [1, 2], [1, 0])
    yield call(make(3, 4), make(4, 2), [-1], [0])
    yield call(make(2), make(3), [], [])


@samples
def side_by_side(make):
    yield call([make(3), make(2)])
    yield call([make(2, 3), make(2, 1)])
    yield call([make(), make()])


@samples
def blocks(make):
    yield call([make(2, 3), make(), make(2)])
    yield call([make(1, 2), make(2, 0), make(0)])
    yield call([make()])


@samples
def one_below_the_other(make):
    yield call([make(3), make(3)])
    yield call([make(2, 3), make(1, 3), make(3)])
    yield call([make(), make()])


@samples
def diagonals(make):
    yield call(make(3))
    yield call(make(3), -1)
    yield call(make(3, 4), 1)
    yield call(make(4, 3, layout="transposed"))


@samples
def unbiased_dim(make):
    yield call(make(2, 3), 1)
    yield call(make(2, 3, 4), (0, 2), False, True)
    yield call(make(3, 4, layout="transposed"), 0, True)


@samples
def norm_dtype(make):
    for order in (2, 1, None) if not make.is_complex else ():
        yield call(make(2, 3), order, dtype=DtypeOf("float64"))


@samples
def norm_dim_dtype(make):
    for order in (2, 3) if not make.is_complex else ():
        yield call(make(2, 3), order, [1], True, dtype=DtypeOf("float64"))


@samples
def numpy_T(make):
    yield call(make(2, 3))
    yield call(make(3, 4, layout="transposed"))


@samples
def views_as(make):
    yield call(make(2, 6), make(3, 4, differentiable=False))
    yield call(make(4), make(2, 2, differentiable=False))


@samples
def expanded_as(make):
    yield call(make(1, 3), make(2, 3, differentiable=False))
    yield call(make(3), make(4, 3, differentiable=False))


@samples
def broadcast_to(make):
    yield call(make(1, 3), (2, 3))
    yield call(make(3), (4, -1))


# -------------------- layers --------------------


@samples
def conv3d(make):
    yield call(make(1, 2, 4, 3, 4), make(3, 2, 2, 2, 2), make(3))
    yield call(make(2, 3, 3, 3), make(2, 1, 2, 1, 2), None, [1, 2, 1], [1, 0, 0], [1, 1, 1], 2)


def _padded_by_name(make, dims):
    sides = (5, 4, 3)[:dims]
    for padding in ("valid", "same"):
        yield call(make(1, 2, *sides), make(3, 2, *[2] * dims), make(3), [1], padding)


@samples
def conv1d_padding(make):
    yield from _padded_by_name(make, 1)


@samples
def conv2d_padding(make):
    yield from _padded_by_name(make, 2)


@samples
def conv3d_padding(make):
    yield from _padded_by_name(make, 3)


@samples
def pad(make):
    yield call(make(2, 3), (1, 2), "constant", 1.5)
    yield call(make(2, 3), (1, -1, 0, 2))
    for mode in ("reflect", "replicate", "circular"):
        yield call(make(1, 2, 4), (1, 2), mode)


@samples
def instance_norm(make):
    for x in (make(2, 3, 4), make(2, 3, 2, 2)):
        yield call(x, make(3), make(3), None, None, True, 0.1, 1e-5, False)
        yield call(x, None, None, None, None, True, 0.1, 1e-3, False)


def _statistics(x, dims, keepdim, eps):
    return x.mean(dims, keepdim), (x.var(dims, correction=0, keepdim=keepdim) + eps).rsqrt()


def _batch_statistics(grad, x, weight, running_mean, running_var, mean, scale, train, eps, mask):
    return grad, x, weight, running_mean, running_var, *_statistics(x.detach(), [0], False, eps), train, eps, mask


def _layer_statistics(grad, x, shape, mean, scale, weight, bias, mask):
    return (
        grad,
        x,
        shape,
        *_statistics(x.detach(), list(range(x.ndim - len(shape), x.ndim)), True, 1e-5),
        weight,
        bias,
        mask,
    )


def _normalized(make, *shape, dims, keepdim):
    """Numbers with their mean and the reciprocal of their deviation."""
    x = make(*shape)
    mean, variance = x.data.mean(dims, keepdims=keepdim), x.data.var(dims, keepdims=keepdim)
    found = mean, 1 / np.sqrt(variance + 1e-5)
    return x, *(TensorSpec(each, make.dtype, differentiable=False) for each in found)


@samples
def native_batch_norm_backward(make):
    x, *found = _normalized(make, 4, 3, dims=0, keepdim=False)
    yield Sample((make(4, 3), x, make(3), None, None, *found, True, 1e-5, [True] * 3), tied=_batch_statistics)
    running = make(3, differentiable=False), make(3, low=0.5, high=2, differentiable=False)
    yield call(make(4, 3), x, make(3), *running, None, None, False, 1e-5, [True] * 3)


@samples
def native_layer_norm_backward(make):
    for shape in ([3, 4], [4]):
        x, *found = _normalized(make, 2, 3, 4, dims=tuple(range(3 - len(shape), 3)), keepdim=True)
        weights = make(*shape), make(*shape)
        yield Sample((make(2, 3, 4), x, shape, *found, *weights, [True] * 3), tied=_layer_statistics)


@samples
def nll_loss_of_images(make):
    for reduction in (0, 1, 2):
        yield call(make(2, 4, 3, 2, low=-4, high=0), make.index(2, 3, 2, below=4), None, reduction)


@samples
def nll_loss_of_any(make):
    yield from nll_loss_of_images(make)
    yield call(make(3, 4), make.index(3, below=4))
    yield call(make(2, 4, 3), make.index(2, 3, below=4))


def _layer(make, gates, count_in, count, bidirectional):
    """The weights and biases of a layer, for each direction."""
    rows = gates * count
    for _ in range(2 if bidirectional else 1):
        yield from (make(rows, count_in, low=-1, high=1), make(rows, count, low=-1, high=1))
        yield from (make(rows, low=-1, high=1), make(rows, low=-1, high=1))


def _recurrent(make, gates, states):
    for bidirectional, batch_first in ((False, False), (True, True)) if make.is_float else ():
        directions = 2 if bidirectional else 1
        x = make(2, 3, 2, low=-1, high=1)
        start = [make(directions, 2 if batch_first else 3, 2, low=-1, high=1) for _ in range(states)]
        params = list(_layer(make, gates, 2, 2, bidirectional))
        yield call(x, start if gates == 4 else start[0], params, True, 1, 0.0, False, bidirectional, batch_first)


@samples
def lstm(make):
    yield from _recurrent(make, 4, 2)


@samples
def gru(make):
    yield from _recurrent(make, 3, 1)


@samples
def rnn(make):
    yield from _recurrent(make, 1, 1)


def _packed(make, gates, states):
    """Two sequences, of three and of two steps."""
    if not make.is_float:
        return
    steps = TensorSpec(np.array([2, 2, 1]), "int64", differentiable=False)
    start = [make(1, 2, 2, low=-1, high=1) for _ in range(states)]
    params = list(_layer(make, gates, 2, 2, False))
    x = make(5, 2, low=-1, high=1)
    yield call(x, steps, start if gates == 4 else start[0], params, True, 1, 0.0, False, False)


@samples
def lstm_packed(make):
    yield from _packed(make, 4, 2)


@samples
def gru_packed(make):
    yield from _packed(make, 3, 1)


@samples
def rnn_packed(make):
    yield from _packed(make, 1, 1)


def _cell(make, gates, states):
    if not make.is_float:
        return
    start = [make(3, 2, low=-1, high=1) for _ in range(states)]
    yield call(make(3, 2, low=-1, high=1), start if gates == 4 else start[0], *_layer(make, gates, 2, 2, False))


@samples
def fused_lstm_cell(make):
    yield call(make(2, 12), make(2, 12), make(2, 3))
    yield call(make(2, 12), make(2, 12), make(2, 3), make(12), make(12))


@samples
def fused_lstm_cell_backward(make):
    yield call(make(2, 3), make(2, 3), make(2, 3), make(2, 3), make(2, 12), True)
    yield call(make(2, 3), None, make(2, 3), make(2, 3), make(2, 12), False)


@samples
def fused_gru_cell(make):
    yield call(make(2, 9), make(2, 9), make(2, 3))
    yield call(make(2, 9), make(2, 9), make(2, 3), make(9), make(9))


@samples
def fused_gru_cell_backward(make):
    yield call(make(2, 3), make(2, 15), True)
    yield call(make(2, 3), make(2, 15), False)


@samples
def lstm_cell(make):
    yield from _cell(make, 4, 2)


@samples
def gru_cell(make):
    yield from _cell(make, 3, 1)


@samples
def rnn_cell(make):
    yield from _cell(make, 1, 1)


@samples
def polar(make):
    yield call(make(3, low=0.5), make(3))
    yield call(make(2, 1, low=0.5), make(1, 3))


# -------------------- transforms between real and complex numbers --------------------


@samples
def fft_complex(make):
    for normalization in (0, 1, 2):
        yield call(make(2, 4), [1], normalization, True)
    yield call(make(3, 4, layout="transposed"), [0, 1], 0, False)


@samples
def fft_of_reals(make):
    for onesided in (True, False):
        yield call(make(2, 4), [1], 0, onesided)
        yield call(make(3, 5), [0, 1], 1, onesided)


@samples
def fft_to_reals(make):
    for size in (4, 5):
        yield call(make(2, 3), [1], 0, size)
        yield call(make(3, 3), [0, 1], 2, size)

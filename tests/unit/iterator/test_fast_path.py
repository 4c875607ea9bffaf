"""The kernels' fast paths and the iterator give the same values, dtypes, strides, warnings and errors."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import mindtorch
from codegen.keys import POINTWISE
from mindtorch.iterator import Builder, TensorIterator, TensorIteratorConfig
from tests.harness import cpu_kernels
from tests.random_layouts import outcome, part_of, random_layout, random_shape

pointwise = cpu_kernels(*POINTWISE)

CASES = 1000
DTYPES = ("bool", "uint8", "int64", "float32", "float32", "float32", "float64", "complex64")
NUMBERS = (2, 1.5, True, 1 + 2j)


def arithmetic(config: TensorIteratorConfig) -> TensorIteratorConfig:
    promoted = config.promote_inputs_to_common_dtype(True).cast_common_dtype_to_outputs(True)
    return promoted.enforce_safe_casting_to_output(True)


def floating(config: TensorIteratorConfig) -> TensorIteratorConfig:
    return arithmetic(config).promote_integer_inputs_to_float(True)


def comparing(config: TensorIteratorConfig) -> TensorIteratorConfig:
    return config.promote_inputs_to_common_dtype(True).declare_static_dtype(np.dtype(bool))


@dataclass(frozen=True)
class Op:
    kernel: Callable[..., np.ndarray]
    loop: np.ufunc
    configure: Callable[[TensorIteratorConfig], TensorIteratorConfig]
    inputs: int = 2

    def iterator(self, inputs: list[Any], out: np.ndarray | None) -> TensorIterator:
        config = self.configure(TensorIteratorConfig()).add_output(out)
        for each in inputs:
            config.add_input(each)
        return config.build()

    def iterate(self, *inputs: Any, out: np.ndarray | None = None) -> np.ndarray:
        iterator = self.iterator(list(inputs), out)
        with np.errstate(all="ignore"):
            iterator.run(lambda target, *operands: self.loop(*operands, out=target))
        return iterator.output()


OPS = {
    "mul": Op(pointwise.mul, np.multiply, arithmetic),
    "add": Op(pointwise.add, np.add, arithmetic),
    "div": Op(pointwise.div, np.true_divide, floating),
    "sqrt": Op(pointwise.sqrt, np.sqrt, floating, inputs=1),
    "eq": Op(pointwise.eq, np.equal, comparing),
}


@pytest.mark.parametrize("name", OPS)
def test_new_results(name):
    op, rng = OPS[name], random.Random(name)
    for _ in range(CASES):
        inputs = random_inputs(rng, op, random_shape(rng))
        outcome(op.kernel, *inputs).assert_equals(outcome(op.iterate, *inputs), inputs)


@pytest.mark.parametrize("name", OPS)
def test_given_outputs(name):
    """Of any layout, also expanded, of another shape or dtype."""
    op, rng = OPS[name], random.Random(name)
    for _ in range(CASES):
        shape = random_shape(rng)
        inputs = random_inputs(rng, op, shape)
        own = rng.choice([shape, shape, random_shape(rng)])
        layout = random_layout(rng, own, rng.choice(DTYPES), expands=rng.random() < 0.1)
        short, long = [outcome(run, *inputs, out=layout.array()) for run in (op.kernel, op.iterate)]
        short.assert_equals(long, (inputs, layout))


@pytest.mark.parametrize("name", OPS)
def test_in_place(name):
    op, rng = OPS[name], random.Random(name)
    for _ in range(CASES):
        shape = random_shape(rng)
        layout, others = random_layout(rng, shape, rng.choice(DTYPES)), random_inputs(rng, op, shape)[1:]
        targets = layout.array(), layout.array()
        short, long = [
            outcome(run, target, *others, out=target) for run, target in zip((op.kernel, op.iterate), targets)
        ]
        short.assert_equals(long, (layout, others))


@pytest.mark.parametrize("name", OPS)
def test_outputs_over_an_input(name):
    """Parts of one buffer, which may overlap, be the same or lie apart."""
    op, rng = OPS[name], random.Random(name)
    for _ in range(CASES):
        shape, dtype = random_shape(rng), rng.choice(DTYPES)
        layouts = [random_layout(rng, shape, dtype, expands=False) for _ in range(2)]
        others = random_inputs(rng, op, shape)[1:]
        results = []
        for run in (op.kernel, op.iterate):
            buffer = layouts[0].values(at_least=len(layouts[1].values()))
            target, source = [layout.of_array(buffer) for layout in layouts]
            results.append(outcome(run, source, *others, out=target))
        results[0].assert_equals(results[1], (layouts, others))


LARGE = {
    "rows and columns": lambda: (numbers(200, 300), numbers(300, 200).T),
    "row and column": lambda: (numbers(300), numbers(200, 1)),
    "gaps": lambda: (numbers(200, 600)[:, ::2], numbers(200, 300)),
    "in the order of columns": lambda: (numbers(300, 200).T, numbers(300, 200).T),
    "short rows": lambda: (numbers(30_000, 4)[:, 1:3], numbers(2)),
    "three dimensions": lambda: (numbers(20, 30, 40).transpose(1, 2, 0), numbers(30, 1, 20)),
    "a number": lambda: (numbers(300, 200).T, 2.5),
    "a single element": lambda: (numbers(300, 400)[:, ::2], numbers()),
}


def numbers(*shape):
    return np.asarray(np.arange(np.prod(shape)).reshape(shape) % 7 + 1, "float32")


@pytest.mark.parametrize("layout", LARGE)
@pytest.mark.parametrize("dtypes", [("float32",) * 2, ("int64", "float32"), ("float32", "float64"), ("float16",) * 2])
@pytest.mark.parametrize("name", ["mul", "remainder", "eq"])
@pytest.mark.parametrize("threads", [1, 3])
def test_large_arrays(name, dtypes, layout, threads, use_threads):
    """They are walked in parts or by threads; few rows of each are not, and give the same."""
    use_threads(threads)
    inputs = [
        each.astype(dtype) if isinstance(each, np.ndarray) else each for each, dtype in zip(LARGE[layout](), dtypes)
    ]
    kernel = getattr(pointwise, name)
    result = kernel(*inputs)
    few = kernel(*[each[:3] if np.ndim(each) == result.ndim and len(each) > 1 else each for each in inputs])
    assert result.dtype == few.dtype
    np.testing.assert_array_equal(result[:3], few)
    out = np.zeros(result.shape[::-1], "float64" if result.dtype != bool else bool).T
    assert kernel(*inputs, out=out) is out
    np.testing.assert_array_equal(out, result)


@pytest.fixture
def use_threads():
    """Sets the number of threads for one test."""
    before = mindtorch.get_num_threads()
    yield mindtorch.set_num_threads
    mindtorch.set_num_threads(before)


def random_inputs(rng: random.Random, op: Op, shape: tuple[int, ...]) -> list[Any]:
    """Arrays, perhaps a Python number in the second place."""
    arrays = [random_layout(rng, part_of(rng, shape), rng.choice(DTYPES)).array() for _ in range(op.inputs)]
    if len(arrays) > 1 and rng.random() < 0.3:
        arrays[1] = rng.choice(NUMBERS)
    return arrays


WRITTEN = {
    "out of one operand": lambda x, y, out: mindtorch.cos(x, out=out),
    "out of one operand, a function": lambda x, y, out: mindtorch.sigmoid(x, out=out),
    "out of two operands": lambda x, y, out: mindtorch.mul(x, y, out=out),
    "out of a row": lambda x, y, out: mindtorch.maximum(x, y[0], out=out),
    "out of a number": lambda x, y, out: mindtorch.pow(x, 2.5, out=out),
    "out of three operands": lambda x, y, out: mindtorch.addcmul(x, x, y, out=out),
    "out that is an operand": lambda x, y, out: mindtorch.sub(x, out, out=out),
    "out of a comparison": lambda x, y, out: mindtorch.lt(x, y, out=out),
    "out of bool": lambda x, y, out: mindtorch.lt(x, y, out=out.bool()),
    "out of a choice": lambda x, y, out: mindtorch.where(x < y, x, y, out=out),
    "out of a second name": lambda x, y, out: mindtorch.arctan(x, out=out),
    "in place": lambda x, y, out: out.cos_(),
    "in place, a condition": lambda x, y, out: out.logical_not_(),
    "in place with another operand": lambda x, y, out: out.atan2_(y),
    "in place with itself": lambda x, y, out: out.mul_(out),
    "in place with a number": lambda x, y, out: out.remainder_(2),
    "in place, a comparison": lambda x, y, out: out.ge_(y),
}


@pytest.mark.parametrize("memory", ["its own", "a view"])
@pytest.mark.parametrize("write", WRITTEN)
def test_writing_few_plain_elements_needs_no_iterator(write, memory, monkeypatch):
    def refuse(self, outputs, inputs):
        raise AssertionError("an iterator was built")

    out = mindtorch.rand(4, 6) if memory == "its own" else mindtorch.rand(5, 4, 6)[2]
    x, y = mindtorch.rand(4, 6), mindtorch.rand(4, 6)
    monkeypatch.setattr(Builder, "build", refuse)
    WRITTEN[write](x, y, out)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (3, 2), (1, 1, 1)])
@pytest.mark.parametrize("op", ["lt_", "logical_and_", "mul_", "atan2_", "add_", "remainder_", "xlogy_", "fmod_"])
def test_in_place_with_more_dimensions_is_refused(op, shape):
    tensor = mindtorch.ones(2)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        getattr(tensor, op)(mindtorch.zeros(shape))
    assert tensor.tolist() == [1.0, 1.0]

"""Fake quantization, `segment_reduce` and `histogramdd` compute what PyTorch's compute."""

import pytest

from tests.parity.support.programs import assert_same

X = [[-1.3, 0.05, 0.149, 0.25], [0.35, 2.2, 100.0, float("nan")]]
SEGMENTS = [1.0, 2.0, 2.0, 3.0, 0.0, 3.0, 6.0]


def x(T, dtype="float32", **options):
    return T.tensor(X, dtype=getattr(T, dtype), **options)


def scales(T):
    return T.tensor([0.1, 0.3]), T.tensor([0, 3], dtype=T.int32)


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "bfloat16", "int32"))
@pytest.mark.parametrize("numbers", ((0.1, 0, 0, 255), (0.1, 3, -8, 7), (1 / 3, 1, -128, 127), (0.0, 2, 0, 15)))
def test_per_tensor(dtype, numbers):
    assert_same(lambda T: T.fake_quantize_per_tensor_affine(x(T)[:, :3].to(getattr(T, dtype)), *numbers))


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16"))
@pytest.mark.parametrize("axis", (0, -2))
def test_per_channel(dtype, axis):
    assert_same(lambda T: T.fake_quantize_per_channel_affine(x(T, dtype), *scales(T), axis, 0, 15))


def with_gradient(T, quantize):
    start = x(T, requires_grad=True)
    result = quantize(start)
    result[:, :3].sum().backward()
    return result, result.grad_fn.name(), start.grad


QUANTIZED = {
    "tensor": lambda T, start: T.fake_quantize_per_tensor_affine(start, 0.1, 2, 0, 15),
    "tensor numbers": lambda T, start: T.fake_quantize_per_tensor_affine(start, T.tensor(0.1), T.tensor(2), 0, 15),
    "channels": lambda T, start: T.fake_quantize_per_channel_affine(start, *scales(T), 0, 0, 15),
    "transposed": lambda T, start: T.fake_quantize_per_channel_affine(start.t(), *scales(T), 1, 0, 15).t(),
    "float zeros": lambda T, start: T.fake_quantize_per_channel_affine(start, scales(T)[0], T.ones(2) / 2, 0, 0, 15),
}


@pytest.mark.parametrize("name", QUANTIZED)
def test_gradients_of_quantization(name):
    assert_same(lambda T: with_gradient(T, lambda start: QUANTIZED[name](T, start)))


WRONG = {
    "range": lambda T: T.fake_quantize_per_tensor_affine(x(T), 0.1, 2, 5, 3),
    "zero point": lambda T: T.fake_quantize_per_tensor_affine(x(T), 0.1, 20, 0, 15),
    "two scales": lambda T: T.fake_quantize_per_tensor_affine(x(T), T.ones(2), T.tensor([1, 2]), 0, 15),
    "channel axis": lambda T: T.fake_quantize_per_channel_affine(x(T), *scales(T), 1, 0, 15),
    "no axis": lambda T: T.fake_quantize_per_channel_affine(x(T), *scales(T), 5, 0, 15),
    "zeros dtype": lambda T: T.fake_quantize_per_channel_affine(x(T), scales(T)[0], T.tensor([0, 3]), 0, 0, 15),
    "scales dtype": lambda T: T.fake_quantize_per_channel_affine(x(T), scales(T)[0].double(), scales(T)[1], 0, 0, 15),
    "scales dims": lambda T: T.fake_quantize_per_channel_affine(x(T), T.ones(1, 2), scales(T)[1], 0, 0, 15),
    "scales count": lambda T: T.fake_quantize_per_channel_affine(x(T), T.ones(1), scales(T)[1], 0, 0, 15),
    "segments missing": lambda T: T.segment_reduce(T.ones(3), "sum"),
    "segments by indices": lambda T: T.segment_reduce(T.ones(3), "sum", indices=T.tensor([0])),
    "reduction": lambda T: T.segment_reduce(T.ones(3), "bad", lengths=T.tensor([3])),
    "lengths sum": lambda T: T.segment_reduce(T.ones(3), "sum", lengths=T.tensor([2])),
    "negative length": lambda T: T.segment_reduce(T.ones(3), "sum", lengths=T.tensor([-1, 4])),
    "float lengths": lambda T: T.segment_reduce(T.ones(3), "sum", lengths=T.tensor([3.0])),
    "integers": lambda T: T.segment_reduce(T.ones(3).int(), "sum", lengths=T.tensor([3])),
    "axis": lambda T: T.segment_reduce(T.ones(3, 2), "sum", lengths=T.tensor([2]), axis=1),
    "grid dims": lambda T: T.histogramdd(T.ones(3), [2]),
    "grid bins": lambda T: T.histogramdd(T.ones(3, 2), [2]),
    "grid zero": lambda T: T.histogramdd(T.ones(3, 2), [2, 0]),
    "grid range": lambda T: T.histogramdd(T.ones(3, 2), [2, 2], range=[0.0, 1.0]),
    "grid order": lambda T: T.histogramdd(T.ones(3, 2), [2, 2], range=[1.0, 0.0, 0.0, 1.0]),
    "grid infinite": lambda T: T.histogramdd(T.ones(3, 2), [2, 2], range=[0.0, 1.0, 0.0, float("inf")]),
    "grid weight": lambda T: T.histogramdd(T.ones(3, 2), [2, 2], weight=T.ones(2)),
    "grid weight dtype": lambda T: T.histogramdd(T.ones(3, 2), [2, 2], weight=T.ones(3).double()),
    "grid edges": lambda T: T.histogramdd(T.ones(3, 2), [T.ones(2)]),
    "grid edge dims": lambda T: T.histogramdd(T.ones(3, 2), [T.ones(1, 2), T.ones(2)]),
    "grid edge dtype": lambda T: T.histogramdd(T.ones(3, 2), [T.ones(2).double(), T.ones(2)]),
    "grid integers": lambda T: T.histogramdd(T.ones(3, 2).int(), [2, 2]),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes(name):
    assert_same(WRONG[name])


@pytest.mark.parametrize("initial", (None, 2))
@pytest.mark.parametrize("given", ("lengths", "offsets"))
@pytest.mark.parametrize("reduce", ("sum", "mean", "max", "min", "prod"))
def test_segments(reduce, given, initial):
    def program(T):
        data = T.tensor(SEGMENTS, requires_grad=True)
        numbers = [2, 0, 4, 1] if given == "lengths" else [0, 2, 2, 6, 7]
        result = T.segment_reduce(data, reduce, initial=initial, **{given: T.tensor(numbers)})
        result.backward(T.tensor([1.0, 2.0, 3.0, 4.0]))
        return result, data.grad

    assert_same(program)


@pytest.mark.parametrize("reduce", ("sum", "mean", "max", "min", "prod"))
def test_segments_of_rows(reduce):
    def program(T):
        data = T.arange(12.0).reshape(2, 3, 2).requires_grad_()
        result = T.segment_reduce(data, reduce, lengths=T.tensor([[1, 2], [2, 1]]), axis=1)
        (result * T.arange(8.0).reshape(2, 2, 2)).sum().backward()
        return result, data.grad

    assert_same(program)


GRIDS = {
    "counts": lambda T, points, w: T.histogramdd(points, bins=[3, 2]),
    "one count": lambda T, points, w: T.histogramdd(points, 2),
    "weights": lambda T, points, w: T.histogramdd(points, [3, 3], weight=w),
    "range": lambda T, points, w: T.histogramdd(points, [2, 2], range=[0.0, 1.0, 0.0, 1.0]),
    "density": lambda T, points, w: T.histogramdd(points, [2, 3], density=True, weight=w),
    "edges": lambda T, points, w: T.histogramdd(points, [T.tensor([0.0, 1, 2]), T.tensor([0.0, 0.5, 3])]),
    "double": lambda T, points, w: T.histogramdd(points.double(), 2),
    "no points": lambda T, points, w: T.histogramdd(points[:0], [2, 2]),
    "all equal": lambda T, points, w: T.histogramdd(T.ones(3, 2), [2, 2]),
    "more dimensions": lambda T, points, w: T.histogramdd(points.reshape(2, 2, 2), [2, 2]),
}


@pytest.mark.parametrize("name", GRIDS)
def test_grids(name):
    def program(T):
        points = T.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]])
        result = GRIDS[name](T, points, T.tensor([1.0, 2.0, 4.0, 8.0]))
        return repr(result), result.hist, result.bin_edges

    assert_same(program)

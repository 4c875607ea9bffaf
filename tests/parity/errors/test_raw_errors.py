"""Sizes that don't fit get PyTorch's errors, not those of NumPy or Python, and the calls next to them work."""

from tests.parity.support.library_programs import tried
from tests.parity.support.programs import programs

program, test_program = programs()


@program
def scatter_of_other_ranks(T):
    def index(*places):
        return T.tensor(places)

    cases = [
        (T.zeros(3), index(0, 1), T.ones(2, 2)),
        (T.zeros(3), index(0, 1), T.ones(())),
        (T.zeros(3), index(0), T.ones(())),
        (T.zeros(3), T.tensor(0), T.ones(2)),
        (T.zeros(3), T.tensor(0), T.ones(0)),
        (T.zeros(3), index(0, 5), T.ones(2, 2)),
        (T.zeros(()), index(0, 0), T.ones(())),
        (T.zeros(()), index(0, 0), 1.0),
        (T.zeros(3, 3), index([0, 1]), T.ones(())),
        (T.zeros(3, 3), index([0, 1]), T.ones(2)),
        (T.zeros(3, 3), index([0, 1]), T.ones(1, 2, 1)),
        (T.zeros(3, 1), index([0, 1]), T.ones(2)),
    ]
    return [tried(target.scatter, 0, places, values) for target, places, values in cases]


@program
def scatter_that_reduces_other_ranks(T):
    places = T.tensor([0, 1])
    values = [T.ones(2, 2), T.ones(()), T.ones(2)]
    added = [tried(T.zeros(3).scatter_add, 0, places, each) for each in values]
    return added, [tried(T.zeros(3).scatter_reduce, 0, places, each, "sum") for each in values]


@program
def repeated_emptiness(T):
    empty, pairs = T.zeros(0), T.zeros(0, 2)
    cases = [
        (empty, (-1,)),
        (empty, (2,)),
        (empty, (-3, 2)),
        (pairs, (-1, 1)),
        (pairs, (-1, -1)),
        (T.zeros(2), (0, -1)),
    ]
    return [tried(tensor.repeat, *counts) for tensor, counts in cases]


@program
def sizes_of_no_dimensions(T):
    number = T.tensor(1.0)
    return [tried(ask, dim) for ask in (number.size, number.stride) for dim in (0, -1, 1)]


@program
def sequences_without_steps(T):
    layers = [T.nn.RNN(3, 4), T.nn.LSTM(3, 4), T.nn.GRU(3, 4, bidirectional=True)]
    results = [tried(layer, T.ones(shape)) for layer in layers for shape in ((0, 3), (0, 2, 3))]
    return results, tried(T.nn.RNN(3, 4, batch_first=True), T.ones(2, 0, 3))


@program
def words_of_numpy_and_python(T):
    nan, ones = float("nan"), T.ones
    weights = [ones(6, 2)]
    return [
        tried(T.linalg.eigh, T.full((3, 3), nan)),
        tried(T.linalg.eigh, T.full((2, 3, 3), nan)),
        tried(T.round, T.tensor([1.5, 0.0]), decimals=1000000),
        tried(T.binomial, ones(2, 2), ones(3, 3)),
        tried(T.randint, 10, (2,), dtype=T.complex64),
        tried(T.nn.functional.fractional_max_pool2d, ones(1, 2, 5, 5), (2, 2, 2), (1, 1), None, False, ones(1, 2, 2)),
        tried(T.gru, ones(2, 2, 2), ones(1, 2, 2), weights * 3, True, 1, 0.0, False, False, False),
        tried(T.gru, ones(2, 2, 2), ones(1, 2, 2), [], True, 1, 0.0, False, False, False),
        tried(ones(1).transpose, 0, 1 << 40),
    ]


def gradients_of_prelu_in_other_dtypes(T):
    numbers = [T.ones(2, dtype=dtype) for dtype in (T.float32, T.float64, T.int64, T.bool, T.complex64)]
    return [
        tried(T.ops.aten._prelu_kernel_backward, first, second, third)
        for first in numbers
        for second in numbers
        for third in (first, second)
    ]


@program
def deviations_in_other_dtypes(T):
    means, deviations = [T.zeros(2), T.zeros(2, dtype=T.float64)], [T.int64, T.uint8, T.bool, T.complex64, T.float64]
    drawn = [tried(T.normal, mean, T.ones(2, dtype=dtype)) for mean in means for dtype in deviations]
    negative = tried(T.normal, means[0], T.tensor([1, -1]))
    return [each if isinstance(each, str) else each.dtype for each in drawn], negative


def calls(T):
    """Calls with wrong sizes, dtypes, dimensions and indices, by the function."""
    x = T.ones(2, 3)
    aten = T.ops.aten
    whole = [T.int32, T.uint8, T.bool, T.float32]
    return {
        "repeat_interleave": [(T.repeat_interleave, x, T.tensor([1, 2]).to(dtype), 0) for dtype in whole]
        + [(T.repeat_interleave, x, T.tensor(counts), 0) for counts in ([1, -2], [[1, 2]], [1, 2, 3], 2, -1)],
        "vecdot": [(T.linalg.vecdot, x, x.to(dtype)) for dtype in (T.float64, T.int32, T.complex64)],
        "solve": [(T.linalg.solve, T.eye(3), T.tensor(1.0)), (T.linalg.solve, T.ones(()), T.ones(3))],
        "lu_unpack": [(T.lu_unpack, T.ones(shape), T.tensor([1], dtype=T.int32)) for shape in ((), (3,))],
        "pivots that no row has": [
            (function, T.eye(3), T.tensor(pivots, dtype=T.int32), *more)
            for function, more in ((T.lu_unpack, ()), (T.linalg.lu_solve, (T.eye(3),)))
            for pivots in ([0, 1, 1], [1, 2, 4], [-1, 5, 3])
        ],
        "select_backward": [
            (aten.select_backward, T.ones(shape), sizes, 0, 0)
            for shape in ((3,), (2, 6), (1, 3), (1,), (0,), ())
            for sizes in ([2, 3], [2, -3], [2])
        ],
        "slice_backward": [
            (aten.slice_backward, T.ones(shape), [4, 3], 0, 0, 2, 1) for shape in ((2, 3), (4, 3), (1, 2, 3))
        ],
        "diagonal_backward": [
            (aten.diagonal_backward, T.ones(shape), [3, 3], 0, 0, 1) for shape in ((3,), (2,), (1, 3))
        ],
        "trace": [(T.trace, T.ones(shape)) for shape in ((), (3,), (2, 2), (2, 2, 2))],
        "cross": [
            (function, x, T.ones(shape).to(dtype), dim)
            for function in (T.cross, T.linalg.cross)
            for shape, dim in (((1, 3), 1), ((2, 3), 0), ((3,), 1), ((2, 3), 5), ((2, 2), 1))
            for dtype in (T.float32, T.float64, T.int64)
        ],
        "index_add": [
            (x.index_add, dim, T.tensor(places).to(dtype), T.ones(shape))
            for dim in (0, 1, 5)
            for places in ([0, 1], [0, 5], [0, -1], [[0, 1]], 0)
            for shape in ((2, 3), (1, 3), (3, 2), (2,))
            for dtype in (T.int64, T.float32)
        ],
        "scatter_add": [
            (x.scatter_add, dim, T.tensor(places).to(dtype), T.ones(shape))
            for dim in (0, 1, 5)
            for places in ([[0, 1, 0]], [[5, 0, 0]], [[0, -1, 0]], [0, 1], [[0, 0, 0, 0]])
            for shape in ((2, 3), (1, 3), (3,))
            for dtype in (T.int64, T.float32)
        ],
    }


@program
def wrong_sizes_dtypes_and_places(T):
    results = {name: [tried(*each) for each in listed] for name, listed in calls(T).items()}
    nan_means = [tried(T.nanmean, T.ones(2, 3), 0, dtype=dtype) for dtype in (T.float64, T.int64, T.bool)]
    return results, nan_means

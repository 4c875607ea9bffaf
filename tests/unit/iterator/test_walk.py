"""Walking operands: coalesced dimensions, two-dimensional steps, ranges for threads, parts for 32-bit numbers."""

import threading
from math import prod

import numpy as np
import pytest

import mindtorch
from mindtorch._core import threads
from mindtorch.iterator import DimCounter, TensorIteratorConfig, layout, reduced_view

FLOAT = np.dtype(np.float32)


@pytest.fixture
def use_threads():
    """Sets the number of threads for one test."""
    before = mindtorch.get_num_threads()
    yield mindtorch.set_num_threads
    mindtorch.set_num_threads(before)


def strided(shape, strides):
    """An array of ascending numbers with these strides, in elements."""
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    return np.lib.stride_tricks.as_strided(np.arange(last + 1, dtype=FLOAT), shape, [4 * each for each in strides])


def copy_iterator(target, source):
    config = TensorIteratorConfig().add_output(target).add_input(source).resize_outputs(False)
    return config.check_all_same_dtype(False).check_all_same_device(False).build()


def image_copy():
    """From row-major to channels-last: N=1, C=64, H=5, W=4."""
    return copy_iterator(strided((1, 64, 5, 4), (1280, 1, 256, 64)), strided((1, 64, 5, 4), (1280, 20, 4, 1)))


def seen_steps(shape, begin, end):
    """The steps of a counter, and where it was when it took each of them."""
    counter = DimCounter(shape, begin, end)
    steps = []
    while not counter.is_done():
        step = counter.max_2d_step()
        steps.append((counter.offset, list(counter.values), step))
        counter.increment(step)
    return steps, counter.offset, counter.values


# -------------------- the copy of an image batch --------------------


def test_dimensions_are_reordered_by_stride_and_coalesced():
    iterator = image_copy()
    assert iterator.perm == [1, 3, 2, 0]
    assert iterator.shape == (64, 20)
    assert [iterator.strides(0), iterator.strides(1)] == [(4, 256), (80, 4)]
    assert (iterator.ndim, iterator.numel, iterator.noutputs) == (2, 1280, 1)


def test_coalescing_of_the_image_batch():
    before = [(4, 256, 1024, 5120), (80, 4, 16, 5120)]
    assert layout.coalesce((64, 4, 5, 1), before) == ((64, 20), [(4, 256), (80, 4)])


def test_loops_get_the_strides_of_the_image_batch():
    steps = []
    image_copy().for_each(lambda *views: steps.append([(view.shape, view.strides) for view in views]))
    assert steps == [[((20, 64), (256, 4)), ((20, 64), (4, 80))]]


@pytest.mark.parametrize(
    ("shape", "strides", "coalesced"),
    [
        ((), [()], ((), [()])),
        ((5,), [(4,)], ((5,), [(4,)])),
        ((2, 3, 4), [(4, 8, 24)], ((24,), [(4,)])),
        ((2, 3, 4), [(4, 8, 24), (4, 8, 28)], ((6, 4), [(4, 24), (4, 28)])),
        ((1, 3), [(400, 4)], ((3,), [(4,)])),
        ((3, 1), [(4, 400)], ((3,), [(4,)])),
        ((1, 1, 1), [(4, 8, 12)], ((1,), [(12,)])),
        ((2, 3), [(0, 0)], ((6,), [(0,)])),
        ((0, 3), [(4, 4)], ((0, 3), [(4, 4)])),
    ],
)
def test_coalesce(shape, strides, coalesced):
    assert layout.coalesce(shape, strides) == coalesced


def test_can_coalesce():
    iterator = image_copy()
    assert not iterator.can_coalesce(0, 1)
    iterator.narrow(0, 0, 1)
    assert iterator.shape == (20,)


# -------------------- steps --------------------


def test_steps_of_a_part_of_a_range():
    """A thread's part of [64, 2000, 10] begins in the middle of a row, and ends with whole planes."""
    steps, end, values = seen_steps((64, 2000, 10), 1066670, 1280000)
    assert steps == [
        (1066670, [46, 666, 8], (18, 1)),
        (1066688, [0, 667, 8], (64, 1333)),
        (1152000, [0, 0, 9], (64, 2000)),
    ]
    assert (end, values) == (1280000, [0, 0, 0])


def test_where_a_part_of_a_range_begins():
    """The last of six threads; 4266680 bytes are 1066670 elements."""
    assert threads.chunks(0, 1280000, 32768, 6)[-1] == (1066670, 1280000)
    array = strided((10, 2000, 64), (128000, 64, 1))
    first = []
    copy_iterator(array, array).serial_for_each(lambda out, view: first.append(view), 1066670, 1066671)
    assert first[0].__array_interface__["data"][0] - array.__array_interface__["data"][0] == 4266680


def test_steps_of_whole_ranges():
    assert [step for _, _, step in seen_steps((64, 2000, 10), 0, 1280000)[0]] == [(64, 2000)] * 10
    assert seen_steps((3, 2), 0, 5)[0] == [(0, [0, 0], (3, 1)), (3, [0, 1], (2, 1))]
    assert seen_steps((7,), 2, 6)[0] == [(2, [2], (4, 1))]
    assert seen_steps((3, 2), 4, 4)[0] == []


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 5), (2, 3, 4), (1, 4, 1, 3), (2, 1, 2, 5)])
def test_every_range_is_seen_once_in_order(shape):
    gaps = [2 * size + 1 for size in shape]  # so that no dimensions are coalesced
    numbers = np.arange(prod(gaps)).reshape(gaps)[tuple([slice(0, 2 * size, 2) for size in shape])]
    iterator = TensorIteratorConfig().add_output(np.empty_like(numbers)).add_input(numbers).build()
    expected = numbers.ravel().tolist()
    for begin in range(len(expected)):
        for end in range(begin, len(expected) + 1):
            seen = []
            iterator.serial_for_each(lambda out, view, seen=seen: seen.extend(view.ravel().tolist()), begin, end)
            assert seen == expected[begin:end]


# -------------------- whole operands --------------------


def test_numpy_gets_everything_at_once():
    a, b = np.arange(24, dtype=FLOAT).reshape(2, 3, 4).transpose(2, 0, 1), np.ones((2, 3), FLOAT)
    iterator = TensorIteratorConfig().add_output().add_input(a).add_input(b).build()
    calls = []
    iterator.run(lambda out, *operands: calls.append(np.add(*operands, out=out)))
    assert [call.shape for call in calls] == [(6, 4)]
    assert iterator.perm == [0, 2, 1]
    assert np.array_equal(iterator.output(), a + b)
    assert iterator.output().strides == (4, 48, 16)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)])
def test_few_elements(shape):
    iterator = TensorIteratorConfig().add_output().add_input(np.ones(shape, FLOAT)).build()
    calls = []
    iterator.run(lambda *views: calls.append(views))
    iterator.for_each(lambda *views: calls.append(views))
    assert len(calls) == (0 if 0 in shape else 2)
    assert iterator.output().shape == shape


def test_views_of_memory_around_the_operands():
    base = np.arange(60, dtype=FLOAT).reshape(5, 12)
    part = base[1:4, 2:11:3].T
    iterator = TensorIteratorConfig().add_output().add_input(part).build()
    iterator.for_each(lambda out, view: np.negative(view, out=out))
    assert np.array_equal(iterator.output(), -part)


def test_meta_arrays_are_not_walked():
    meta = mindtorch.empty(2, 3, device="meta")._mt_array
    iterator = TensorIteratorConfig().add_output().add_input(meta).build()
    assert type(iterator.output()) is type(meta) and iterator.output().shape == (2, 3)
    with pytest.raises(TypeError, match="only arrays on the CPU can be walked, got MetaArray"):
        iterator.run(np.copyto)


# -------------------- reductions --------------------


def test_dimensions_of_a_reduction_are_innermost():
    source = np.arange(24, dtype=FLOAT).reshape(2, 3, 4)
    target = np.zeros((2, 4), FLOAT)
    config = TensorIteratorConfig().add_output(reduced_view(target, (1,), keepdim=False)).add_input(source)
    iterator = config.is_reduction(True).resize_outputs(False).set_check_mem_overlap(False).build()
    assert iterator.perm == [1, 2, 0]
    assert [iterator.is_dim_reduced(dim) for dim in range(iterator.ndim)] == [True, False, False]
    iterator.run(lambda out, view: np.add.reduce(view, axis=-1, out=out[..., 0]))
    assert np.array_equal(target, source.sum(1))


def test_a_reduction_to_one_element_is_not_divided(use_threads):
    use_threads(4)
    target, source = np.zeros((), FLOAT), np.ones((1000, 100), FLOAT)
    config = TensorIteratorConfig().add_output(reduced_view(target, (0, 1), keepdim=False)).add_input(source)
    iterator = config.is_reduction(True).resize_outputs(False).set_check_mem_overlap(False).build()
    shapes = []
    iterator.run(lambda out, view: shapes.append(view.shape), grain_size=10)
    iterator.for_each(lambda out, view: shapes.append(view.shape), grain_size=10)
    assert shapes == [(100000,), (1, 100000)]


def test_reduced_view():
    out = np.zeros((2, 1, 4), FLOAT)
    assert reduced_view(out, (1,), keepdim=True).strides == (16, 0, 4)
    assert reduced_view(np.zeros((2, 4), FLOAT), (1,), keepdim=False).strides == (16, 0, 4)
    assert np.shares_memory(reduced_view(out, (1,), keepdim=True), out)


# -------------------- threads --------------------


@pytest.mark.parametrize(
    ("begin", "end", "grain_size", "count", "expected"),
    [
        (0, 10, 3, 8, [(0, 3), (3, 6), (6, 9), (9, 10)]),
        (0, 10, 1, 3, [(0, 4), (4, 8), (8, 10)]),
        (5, 10, 100, 4, [(5, 10)]),
        (0, 4, 0, 2, [(0, 2), (2, 4)]),
        (3, 3, 10, 4, []),
    ],
)
def test_chunks(begin, end, grain_size, count, expected):
    assert threads.chunks(begin, end, grain_size, count) == expected


def test_number_of_threads(use_threads):
    use_threads(3)
    assert mindtorch.get_num_threads() == 3
    for wrong, text in [
        (0, "set_num_threads expects a positive integer"),
        (2.5, "set_num_threads expects an int, but got float"),
        (True, "set_num_threads expects an int, but got bool"),
    ]:
        with pytest.raises(RuntimeError, match=text):
            use_threads(wrong)
    assert mindtorch.get_num_threads() == 3


@pytest.mark.parametrize("walk", ["run", "for_each"])
def test_threads_share_the_work(use_threads, walk):
    use_threads(4)
    meeting = threading.Barrier(4, timeout=30)  # no thread goes on until four are here
    source = np.arange(400 * 30, dtype=FLOAT).reshape(400, 30)[:, ::2]
    iterator = copy_iterator(np.zeros((400, 15), FLOAT), source)
    met = threading.local()

    def loop(out, view):
        if not hasattr(met, "once"):
            met.once = meeting.wait()
        np.copyto(out, view)

    getattr(iterator, walk)(loop, grain_size=100)
    assert np.array_equal(iterator.output(), source)


def test_arrays_that_overlap_stay_in_one_call(use_threads):
    """It is not forbidden for arrays with gaps, and NumPy reads what was there before."""
    use_threads(4)
    memory = np.arange(2002, dtype=FLOAT)
    source, target = memory[:2000:2], memory[2::2]
    expected = source.copy()
    copy_iterator(target, source).run(np.copyto, grain_size=10)
    assert np.array_equal(target, expected)


def test_one_thread_does_it_all(use_threads):
    use_threads(1)
    calls = []
    copy_iterator(np.zeros(100, FLOAT), np.ones(100, FLOAT)).for_each(lambda *views: calls.append(views), grain_size=10)
    assert len(calls) == 1


def test_loops_in_loops_stay_in_their_thread(use_threads):
    use_threads(2)
    inner = []

    def outer(begin, end):
        threads.parallel_for(0, 10, 1, lambda *part: inner.append((threading.get_ident(), part)))

    threads.parallel_for(0, 2, 1, outer)
    assert [part for _, part in inner] == [(0, 10), (0, 10)]


def test_the_error_of_a_thread_is_raised_when_all_are_done(use_threads):
    use_threads(3)
    done = []

    def work(begin, end):
        if begin == 1:
            raise ValueError("in the middle")
        done.append(begin)

    with pytest.raises(ValueError, match="in the middle"):
        threads.parallel_for(0, 3, 1, work)
    assert sorted(done) == [0, 2]


def test_threads_have_the_callers_error_state(use_threads):
    use_threads(3)
    zeros = np.zeros(3)
    with np.errstate(all="ignore"):
        threads.parallel_for(0, 3, 1, lambda begin, end: zeros[begin:end] / zeros[begin:end])


# -------------------- parts --------------------


@pytest.mark.parametrize("shape", [(40,), (7, 9), (3, 5, 4), (2, 2, 2, 2)])
@pytest.mark.parametrize("largest", [7, 30, 100, 1000])
def test_parts_are_small_enough_and_make_up_the_whole(shape, largest):
    source = np.arange(2 * prod(shape), dtype=FLOAT).reshape(*shape, 2)[..., 0].T
    iterator = copy_iterator(np.zeros(shape, FLOAT).T, source)
    parts = list(iterator.with_32bit_indexing(largest))
    assert sum(part.numel for part in parts) == iterator.numel
    assert all(part.can_use_32bit_indexing(largest) for part in parts)
    for part in parts:
        part.run(np.copyto)
    assert np.array_equal(iterator.output(), source)


def test_more_elements_than_32_bits_count():
    many = np.broadcast_to(np.zeros(1, np.int8), (3, 2**30))
    config = TensorIteratorConfig().add_input(many).add_input(many)
    iterator = config.build()
    assert iterator.shape == (3 * 2**30,) and not iterator.can_use_32bit_indexing()
    assert [part.shape for part in iterator.with_32bit_indexing()] == [(3 * 2**29,)] * 2


def test_the_dimension_that_reaches_farthest_is_split():
    iterator = image_copy()
    assert iterator.dim_to_split() == 0  # 63 * 80 bytes against 19 * 256
    first = iterator.split(0)
    assert (first.shape, iterator.shape) == ((32, 20), (32, 20))
    assert [operand.offset for operand in first.operands] == [0, 0]
    assert [operand.offset for operand in iterator.operands] == [128, 2560]
    with pytest.raises(ValueError, match=r"cannot split dimension 2 of an iterator of shape \[32, 20\]"):
        iterator.split(2)

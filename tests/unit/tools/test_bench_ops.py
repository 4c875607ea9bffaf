"""The parts of the wide bench that only compute: sizes, inputs, tables and checks; and one case from end to end."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import mindtorch
from benchmarks.ops import layers, results, run
from benchmarks.ops.__main__ import choice_of, options_of
from benchmarks.ops.compare import Times
from benchmarks.ops.planning import Planner, described, growth, next_factor, places_of
from benchmarks.ops.recipes import (
    BACKWARD,
    BFLOAT16,
    FORWARD,
    IN_PLACE,
    OUT,
    STRIDED,
    Dtype,
    Numbers,
    Recipe,
    array_of,
    numbers_in,
    turned,
)
from benchmarks.ops.report import picture, report
from benchmarks.ops.results import Row
from benchmarks.ops.side import NothingToTime, Side
from benchmarks.ops.sizes import DRAWN, ELEMENTS, Scaling, elements_of, scalings
from benchmarks.ops.worker import ROOT, Asked, Refused, Worker
from tests.samples import TensorSpec


def row(op="add", size="small", direction=FORWARD, ours=2.0, theirs=1.0, family="pointwise"):
    return Row(op, family, size, direction, 16, ours, theirs)


# -------------------- sizes --------------------


@pytest.mark.parametrize("size", ELEMENTS)
def test_half_of_the_sizes_are_drawn(size):
    drawn = [elements_of(f"op{number}", size, 3) for number in range(400)]
    usual = drawn.count(ELEMENTS[size])
    assert 140 < usual < 260
    assert all(DRAWN[size][0] <= each <= DRAWN[size][1] for each in drawn)
    assert drawn == [elements_of(f"op{number}", size, 3) for number in range(400)]
    assert drawn != [elements_of(f"op{number}", size, 4) for number in range(400)]


SCALED = [
    (Scaling(None, False, False, False), ((6, 9), (9,), (1, 6)), [2, 3], 5),
    (Scaling({3}, False, False, False), ((2, 9), (9,), (1, 2)), [2, 3], 5),
    (Scaling({3}, True, False, False), ((2, 9), (9,), (1, 2)), [2, 9], 5),
    (Scaling({2}, True, True, False), ((6, 3), (3,), (1, 6)), [6, 3], 5),
    (Scaling({5}, True, True, False), ((2, 3), (3,), (1, 2)), [2, 3], 15),
]


@pytest.mark.parametrize("scaling, shapes, sizes, number", SCALED)
def test_scaling(scaling, shapes, sizes, number):
    recipe = Recipe("op", "view", "op", (Numbers((2, 3)), [Numbers((3,))], [2, 3]), {"n": 5, "x": Numbers((1, 2))})
    larger = scaling(recipe, 3)
    assert tuple(each.shape for each in numbers_in([larger.args, larger.kwargs])) == shapes
    assert larger.args[2] == sizes and larger.kwargs["n"] == number


def test_indices_reach_as_far_as_tensors():
    index = Numbers((2,), "int64", 0, 3)
    recipe = Recipe("index", "indexing", "index", (Numbers((4, 2)), index))
    assert Scaling(None, False, False, True)(recipe, 5).args[1] == replace(index, shape=(10,), high=19)
    assert Scaling(None, False, False, False)(recipe, 5).args[1] == replace(index, shape=(10,))


def test_layers_grow_by_their_first_dimension():
    recipe = Recipe("conv", "conv", "conv", (Numbers((2, 4, 5)), Numbers((3, 4, 3))))
    assert next(scalings(recipe))(recipe, 7).args == (Numbers((14, 4, 5)), Numbers((3, 4, 3)))
    recipe = replace(recipe, family="pointwise")
    assert next(scalings(recipe))(recipe, 7).args[0] == Numbers((14, 28, 35))


GROWING = [(1, 3, 16, 1, 4), (4, 12, 16, 1, 6), (6, 18, 16, 1, 6), (4, 96, 4096, 2, 16), (100, 60000, 90000, 2, 123)]


@pytest.mark.parametrize("factor, reached, wanted, power, expected", GROWING)
def test_growing_by_four_or_what_is_missing(factor, reached, wanted, power, expected):
    assert next_factor(factor, reached, wanted, power) == expected
    assert growth(6, 6 * 4**power) == power


@pytest.mark.parametrize(
    "shape", [layers.rows, layers.images, layers.lines, layers.volumes, layers.sequences, layers.heads]
)
@pytest.mark.parametrize("elements", [16, 4096, 1 << 20, 777, 300_000])
def test_shapes_of_layers_have_as_many_elements(shape, elements):
    assert elements / 2 <= np.prod(shape(elements)) <= elements * 2


# -------------------- what is timed --------------------


@pytest.mark.parametrize(
    "numbers",
    [
        Numbers((50, 20), low=0.25, high=4), Numbers((50,), "int64", 0, 9), Numbers((50,), "bool", 0, 1),
        Numbers((50,), low=-1, high=1, kind="sorted"), Numbers((3, 3), "float64"), Numbers((2, 3), "complex64"),
    ],
)  # fmt: skip
def test_elements(numbers):
    made = array_of(numbers)
    assert made.shape == numbers.shape and made.dtype == numbers.dtype
    assert np.array_equal(made, array_of(numbers))
    if made.dtype.kind in "fiu":
        assert numbers.low <= made.min() and made.max() <= numbers.high
    if numbers.kind == "sorted":
        assert np.array_equal(made, np.sort(made))


@pytest.mark.parametrize("shape", [(3, 3), (100, 100), (2, 5, 5)])
def test_matrices_of_a_kind(shape):
    hermitian, lower, upper = (array_of(Numbers(shape, kind=kind)) for kind in ("hermitian", "lower", "upper"))
    assert np.array_equal(hermitian, hermitian.swapaxes(-1, -2)) and np.linalg.eigvalsh(hermitian).min() > 0
    assert np.array_equal(lower, np.tril(lower)) and np.array_equal(upper, np.triu(upper))


def test_directions_change_what_goes_in():
    given = [Numbers((2,), grad=True), Numbers((2,), "int64"), Dtype("float32"), 3]
    assert turned(given, FORWARD) == [Numbers((2,)), *given[1:]]
    assert turned(given, BACKWARD) == given
    assert turned(given, STRIDED) == [Numbers((2,), strided=True), *given[1:]]
    assert turned(given, BFLOAT16) == [Numbers((2,), "bfloat16"), given[1], Dtype("bfloat16"), 3]


def test_samples_are_described_by_their_bounds():
    assert described(TensorSpec(np.array([[1.0, -2.0]]), "float32")) == Numbers((1, 2), low=-2, high=1, grad=True)
    edges = described(TensorSpec(np.array([1, 3, 3, 7]), "int64"))
    assert (edges.kind, edges.grad) == ("sorted", False)
    assert described(TensorSpec(np.eye(2), "float32", domain="lower")).kind == "lower"


@pytest.mark.parametrize(
    "name, place",
    [("add", "add"), ("linalg_svd", "linalg.svd"), ("fft_fft", "fft.fft"), ("gelu_backward", None), ("_softmax", None)],
)
def test_places(name, place):
    assert next(places_of(name), None) == place


MUL = Recipe("mul", "pointwise", "mul", (Numbers((8,), grad=True), Numbers((8,), grad=True)), {}, "mul_", True)
MAX = Recipe("max", "reduction", "max", (Numbers((2, 3), grad=True), 1), {}, "", True)


@pytest.mark.parametrize(
    "recipe, direction, shapes",
    [
        (MUL, FORWARD, [("torch.float32", (8,))]),
        (MUL, BACKWARD, [("torch.float32", (8,))] * 2),
        (MUL, IN_PLACE, [("torch.float32", (8,))]),
        (MUL, OUT, [("torch.float32", (8,))]),
        (MUL, BFLOAT16, [("torch.bfloat16", (8,))]),
        (MUL, STRIDED, [("torch.float32", (8,))]),
        (MAX, BACKWARD, [("torch.float32", (2, 3))]),
        (MAX, OUT, [("torch.float32", (2,)), ("torch.int64", (2,))]),
    ],
)
def test_a_side_prepares_what_is_timed(recipe, direction, shapes):
    side = Side(mindtorch)
    assert side.prepare(recipe, direction) == shapes
    assert side.calibrate() > 0


@pytest.mark.parametrize(
    "recipe, direction", [(MAX, IN_PLACE), (replace(MUL, has_out=False), OUT), (replace(MUL, place="eq"), BACKWARD)]
)
def test_what_there_is_not_is_not_timed(recipe, direction):
    with pytest.raises(NothingToTime):
        Side(mindtorch).prepare(recipe, direction)


def test_writes_are_as_many_in_every_library_and_begin_with_the_same_values():
    side = Side(mindtorch)
    side.prepare(replace(MUL, args=(Numbers((100,)), 0.5)), IN_PLACE)
    before = side.work.func.__self__.clone()
    side.reset()
    first = side.work.func.__self__.clone()
    side.calibrate()
    assert side.calls == 8
    side.reset()
    assert mindtorch.equal(side.work.func.__self__, first) and not mindtorch.equal(before, first)


@pytest.mark.parametrize("name", layers.BUILDERS)
def test_layers_are_built_and_called(name):
    side = Side(mindtorch)
    side.prepare(Recipe(name, "layers", f"layers.{name}", elements=64), FORWARD)


def test_ops_grow_to_the_size_of_their_class():
    planner = Planner()
    for name in ("add.Tensor", "sum.dim_IntList", "mm", "gather", "linalg_cholesky", "outer", "arange"):
        recipe, reached = planner.sized(planner.grower(name), 4096)
        assert 2048 <= reached <= 8192, name


# -------------------- results --------------------


def test_the_stored_table_is_read_as_it_was_written():
    rows = [row("b", theirs=0.7), row("a", size="large", direction=BACKWARD)]
    head, again = results.read(results.written(rows, "torch; seed 3"))
    assert head == "torch; seed 3" and again == sorted(rows, key=lambda each: each.key)
    assert results.merged(again, [row("b", ours=5.0)]) == [again[0], row("b", ours=5.0)]


def test_means_and_counts():
    rows = [row("a", ours=0.5), row("b", ours=2.0), row("c", size="large", ours=3.0), row("d", direction=OUT)]
    assert results.means(rows)[2:] == ["| forward | 1.00 (2) |  | 3.00 (1) |", "| out= | 2.00 (1) |  |  |"]
    assert results.counted([0.5, 0.6, 1.0, 3.0, 9.0]) == [1, 1, 1, 0, 0, 1, 1]
    assert [each.op for each in results.worst(rows, 2)] == ["c", "b"]


def test_the_page_and_the_picture():
    rows = [row("a", ours=0.5), row("b", ours=2.0), row("c", size="large", ours=3.0), row("d", direction=BACKWARD)]
    page = report(rows, "torch; seed 3")
    assert "torch; seed 3" in page and "| c | large | forward | 16 | 3 | 1 | 3.00 |" in page
    assert picture(rows).count("<polyline") == 6


# -------------------- choosing and checking --------------------


KEYS = [(name, size, FORWARD) for name in ("add", "mul", "sub", "sum") for size in ("small", "large")]


@pytest.mark.parametrize(
    "words, count",
    [
        ([], 8),
        (["--only", "sum, small"], 1),
        (["--only", "^(add|mul), .*ard$"], 4),
        (["--part", "2/2"], 4),
        (["--sample", "3"], 8),
    ],
)
def test_choosing(words, count):
    options = options_of(words)
    assert len(choice_of(options, 1).of(KEYS)) == count
    assert choice_of(options, 1).is_whole == (not words)


def test_parts_are_of_ops_and_together_everything():
    parts = [choice_of(options_of(["--part", f"{number}/3"]), 1).of(KEYS) for number in (1, 2, 3)]
    assert sorted(sum(parts, [])) == sorted(KEYS)
    assert not {key[0] for key in parts[0]} & {key[0] for key in parts[1]}


def test_seeds_draw_an_order():
    orders = [choice_of(options_of(["--quick"]), seed).of(KEYS) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2] and sorted(orders[2]) == sorted(KEYS)


class _Replayed(run.Run):
    """A run whose further attempts are given."""

    def __init__(self, *ratios):
        self.pair, self.left = (), list(ratios)

    def row(self, key, elements=0, patience=1):
        return row(key[0], ours=self.left.pop(0))


@pytest.mark.parametrize(
    "first, again, expected, is_slower",
    [
        (1.1, [], 1.0, False),
        (1.3, [1.1], 1.0, False),
        (1.3, [1.4, 1.5, 1.25, 1.4], 1.0, True),
        (1.3, [1.4, 1.5, 1.3, 1.15], 1.0, False),
        (2.3, [], 2.0, False),
        (2.5, [2.5] * 4, 2.0, True),
    ],
)
def test_what_seems_slow_is_measured_again(first, again, expected, is_slower):
    """The table has the expected ratio; of a case that it does not have, 1 is expected."""
    known = {row().key: expected} if expected != 1 else {}
    found = run.slower_rows(_Replayed(*again), [row(ours=first)], known)
    assert bool(found) == is_slower
    assert not found or found == [row(ours=min(first, *again))]


def test_the_fastest_times_count():
    assert Times(2.0, 3.0).best(Times(1.0, 4.0)) == Times(1.0, 3.0)
    assert run.best_of(row(ours=2, theirs=3), row(ours=1, theirs=4)) == row(ours=1, theirs=3)


# -------------------- processes --------------------


def test_a_worker_answers_refuses_and_starts_again():
    worker = Worker(ROOT, ("mindtorch",))
    asked = Asked(worker, "mindtorch")
    try:
        assert asked.prepare(MUL, BACKWARD) and asked.calibrate() > 0 and asked.seconds() > 0
        with pytest.raises(Refused, match="NothingToTime"):
            asked.prepare(MAX, IN_PLACE)
        with pytest.raises(Refused, match="no_such_op"):
            asked.prepare(replace(MUL, place="no_such_op"), FORWARD)
        worker.process.kill()
        with pytest.raises(Refused, match="died"):
            asked.seconds()
        assert asked.prepare(MUL, FORWARD)
    finally:
        worker.close()


def test_a_worker_has_the_mindtorch_of_the_checkout(tmp_path):
    package = tmp_path / "mindtorch"
    package.mkdir()
    (package / "__init__.py").write_text("class Tensor: pass\n")
    worker = Worker(tmp_path, ("mindtorch",))
    try:
        with pytest.raises(Refused, match="'mindtorch' has no attribute 'mul'"):
            Asked(worker, "mindtorch").prepare(MUL, FORWARD)
    finally:
        worker.close()
    assert "benchmarks.ops.worker" in sys.modules


def test_the_readme_quotes_the_means_of_the_whole_table():
    means = (ROOT / "benchmarks/ops.md").read_text(encoding="utf-8").partition("## Geometric means\n\n")[2]
    quoted = "\n".join(means.splitlines()[:4])
    assert quoted.startswith("| | small | medium | large |") and "| forward + backward |" in quoted
    assert quoted in (ROOT / "README.md").read_text(encoding="utf-8")

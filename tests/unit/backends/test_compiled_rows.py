"""Compiled kernels for rows: what they describe, in all layouts, and many elements at once."""

import re

import numpy as np
import pytest

pytest.importorskip("llvmlite", reason="compiled loops need llvmlite")

from mindtorch.backends.cpu.compiled import building, loading, machine  # noqa: E402
from mindtorch.backends.cpu.compiled.row_kernels import ROW_KERNELS  # noqa: E402
from tests.unit.backends.compiled_loops import DTYPES  # noqa: E402
from tests.unit.backends.test_row_kernels import (
    assert_all_near,
    assert_near,
    computed,
    described,
    operands_of,
)  # noqa: E402


@pytest.fixture(scope="module")
def compiled():
    """All loops, each compiled when it is first asked for."""
    made = {}

    def of(name):
        if name not in made:
            made[name] = loading.as_ufunc(name, building.build(name))
        return made[name]

    return of


LENGTHS = (1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 511, 512, 513, 1025)


@pytest.mark.parametrize("name", ROW_KERNELS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_loops_compute_what_is_described_in_all_lengths(compiled, name, dtype):
    for length in LENGTHS:
        operands = operands_of(name, dtype, length)
        with np.errstate(all="ignore"):
            found = computed(compiled(name), *operands)
        assert_all_near(name, found, described(name, *operands), operands, length)


def spread(array):
    """The same rows with gaps, backwards in memory."""
    wide = np.zeros((2 * array.shape[0], 3 * array.shape[1]), array.dtype)
    view = wide[::-2, ::3]
    view[...] = array
    return view


LAYOUTS = {
    "columns": lambda x: np.asfortranarray(x),
    "spread": spread,
    "rows apart": lambda x: np.repeat(x, 2, 0)[::2],
    "misaligned": lambda x: np.frombuffer(b"\0" + x.tobytes(), x.dtype, offset=1).reshape(x.shape),
    "broadcast": lambda x: np.broadcast_to(x[:, :1], x.shape),
}


@pytest.mark.parametrize("name", ROW_KERNELS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_loops_compute_what_is_described_in_all_layouts(compiled, name, layout):
    for dtype in DTYPES:
        for length in (3, 40, 600):
            operands = [LAYOUTS[layout](each) if each.ndim == 2 else each for each in operands_of(name, dtype, length)]
            with np.errstate(all="ignore"):
                found = computed(compiled(name), *operands)
            assert_all_near(name, found, described(name, *operands), operands, length)


@pytest.mark.parametrize("name", ROW_KERNELS)
def test_rows_of_any_axis(compiled, name):
    shape = (3, 50, 300)
    kernel = ROW_KERNELS[name]
    whole = [np.random.default_rng(each).normal(size=shape) for each in range(kernel.operands)]
    for axis in range(3):
        operands = [each if is_row else each.take(0, axis) ** 2 + 1 for each, is_row in zip(whole, kernel.arguments)]
        found = computed(compiled(name), *operands, axis=axis)
        moved = [
            np.moveaxis(each, axis, -1).copy() if is_row else each for each, is_row in zip(operands, kernel.arguments)
        ]
        found = [
            np.moveaxis(each, axis, -1) if is_row else each
            for each, is_row in zip(found, kernel.arguments[kernel.operands :])
        ]
        assert_all_near(name, found, described(name, *moved), moved, shape[axis])


ROWS_TO_ROWS = [name for name, kernel in ROW_KERNELS.items() if all(kernel.arguments)]


@pytest.mark.parametrize("name", ROWS_TO_ROWS)
def test_the_result_may_be_an_operand_and_nothing_else_is_written(compiled, name):
    operands = [np.random.default_rng(each).normal(size=(300, 40)) for each in range(ROW_KERNELS[name].operands)]
    expected = compiled(name)(*operands)
    wide = np.zeros((300, 80))
    compiled(name)(*operands, wide[:, ::2])
    assert_near(wide[:, ::2], expected, operands, 40)
    assert not wide[:, 1::2].any()
    compiled(name)(*operands, operands[0])
    assert operands[0].tobytes() == expected.tobytes()


def test_columns_share_a_row(compiled):
    """Rows that lie side by side in memory, with what is the same for all of them."""
    grad, x = np.random.default_rng(0).normal(size=(2, 40, 300))
    shared, number = np.random.default_rng(1).normal(size=40), np.random.default_rng(2).normal(size=300)
    operands = {
        "affine_backward": (grad.T, x.T, shared, shared),
        "normalize_rows_backward": (grad.T, x.T, shared, number, number),
    }
    for name, given in operands.items():
        expected = described(name, *[np.ascontiguousarray(each) for each in given])
        assert_all_near(name, computed(compiled(name), *given), expected, [grad.T], 40)


# Vectors that reach beyond the last column compute what lies there: its flags are those of no element.
@pytest.mark.filterwarnings("ignore:invalid value encountered")
@pytest.mark.parametrize("name", ["softmax", "logsumexp", "prod", "cumsum"])
def test_each_row_is_computed_alike(compiled, name):
    """Whatever the rows beside it are, and wherever it lies, so that threads may divide them."""
    x = np.random.default_rng(0).normal(size=(600, 100)).astype(np.float32)
    whole = compiled(name)(x)
    for first, end in ((0, 1), (1, 600), (3, 20), (599, 600)):
        assert compiled(name)(x[first:end].copy()).tobytes() == whole[first:end].tobytes()
    columns = compiled(name)(x, axis=0)
    for first, end in ((0, 3), (5, 100)):
        assert compiled(name)(np.repeat(x, 2, 1)[:, ::2][:, first:end], axis=0).shape[-1] == end - first
        part = compiled(name)(np.ascontiguousarray(x[:, first:end]), axis=0)
        assert part.tobytes() == columns[..., first:end].tobytes()


@pytest.mark.parametrize("name", [name for name, kernel in ROW_KERNELS.items() if not kernel.is_running])
def test_loops_are_vectorized(compiled, name):
    """Rows one by one, and columns: by the type of what is computed in the functions for both."""
    text = machine.optimized(building.text(name))
    for each, layout in [(each, layout) for each in ("float", "double") for layout in ("dense", "columns")]:
        format = {"float": "float32", "double": "float64"}[each]
        (body,) = re.findall(rf'define internal [^\n]*@"?{format}\.{layout}"?\(.*?\n}}', text, re.S)
        assert re.findall(rf"= (?:f\w+|select|tail call|call) [^\n]*<\d+ x {each}>", body), (each, layout)
    called = set(re.findall(r"call [^\n]*@\"?([\w.]+)\"?\(", text))
    assert not [each for each in called if not each.startswith(("llvm.", "float32.", "float64."))]

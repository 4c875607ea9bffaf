"""The evaluators of the simulated NPU against torch: each through the C interface, for several dtypes and layouts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from tests.npu.client import Client
from tests.npu_simulator.evaluate import EVALUATORS
from tests.npu_simulator.generate import signatures
from tests.parity.npu import layer_cases
from tests.parity.npu.cases import BFLOAT16, CASES, DYNAMIC, OUT, Maker, torch_of
from tests.parity.npu.nn_cases import GRIDS, MASK_BYTES, MASKS, MORE_CONVOLUTIONS, RANDOM, _share
from tests.parity.npu.variants import VARIANTS

TABLE = signatures()
PATTERN = 0xA5


def filled(shape: Sequence[int], dtype: np.dtype, layout: str) -> np.ndarray:
    """An array of a layout, of which all bytes, and those around it, are the pattern."""
    if layout == "contiguous":
        base = np.empty(shape, dtype)
        base.reshape(-1).view(np.uint8)[...] = PATTERN
        return base
    size = int(np.prod(shape, dtype=int))
    base = np.empty(2 * size + 3, dtype)
    base.view(np.uint8)[...] = PATTERN
    return _strided(base, shape)


def _strided(base: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    """With an offset, each second element, and the last dimension outermost."""
    strides, step = [], 2 * base.itemsize
    for size in shape:
        strides.append(step)
        step *= size
    return np.ndarray(shape, base.dtype, base, base.itemsize, strides)


def laid_out(array: np.ndarray, layout: str) -> np.ndarray:
    """The same values in another layout."""
    if layout == "contiguous" or not array.size:
        return array.copy()
    found = filled(array.shape, array.dtype, layout)
    found[...] = array
    return found


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """Of each array in an argument."""
    if isinstance(value, list):
        return [mapped(function, each) for each in value]
    return function(value) if isinstance(value, np.ndarray) or value is OUT else value


def flat(values: Any) -> Iterator[Any]:
    """Results one by one."""
    for each in values if isinstance(values, (list, tuple)) else [values]:
        yield from flat(each) if isinstance(each, (list, tuple)) else [each]


def has_output(value: Any) -> bool:
    return value is OUT or (isinstance(value, list) and any(each is OUT for each in value))


def expected_of(
    name: str, function: Callable[..., Any], arguments: Sequence[Any]
) -> tuple[list[np.ndarray], list[Any]]:
    """What torch returns, and the inputs after the call: in-place ops write them."""
    inputs = [torch_of(value) for value in arguments if not has_output(value)]
    result = function(*inputs)
    wants_output = any(has_output(value) for value in arguments)
    found = [each.detach().numpy() for each in flat(result)] if wants_output else []
    return found, [each.numpy() for each in flat(inputs) if isinstance(each, torch.Tensor)]


def output_dtype(expected: np.ndarray, dtype: np.dtype) -> np.dtype:
    """Floating results come in the dtype that is looked at."""
    if expected.dtype == np.complex128:
        return np.dtype("complex64")
    if expected.dtype != np.float64:
        return expected.dtype
    return dtype if dtype.kind not in "iub" else np.dtype("float32")


def close(found: np.ndarray, expected: np.ndarray, dtype: np.dtype) -> None:
    """Exactly, but for the rounding to the dtype, and that of values that were kept in it."""
    assert found.shape == expected.shape
    if found.dtype.kind in "iub" or expected.dtype.kind in "iub":
        np.testing.assert_array_equal(found.astype(expected.dtype), expected)
        return
    tolerance = {"bfloat16": 1e-2, "float16": 2e-3}.get(str(found.dtype), 2e-6)
    if dtype == BFLOAT16:
        tolerance = max(tolerance, 1e-2)
    kind = np.complex128 if found.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(found.astype(kind), expected.astype(kind), rtol=tolerance, atol=tolerance)


def check(client: Client, name: str, build: Any, function: Any, dtype: str, layout: str) -> None:
    """Runs a case, and compares what was written, and that nothing else was."""
    maker = Maker(dtype, name)
    arguments = list(build(maker))
    expected, after = expected_of(name, function, arguments)
    wanted = iter(expected)

    def ready(value: Any) -> np.ndarray:
        if value is not OUT:
            return laid_out(value, layout)
        own = next(wanted)
        kind = output_dtype(own, maker.dtype)
        if name in DYNAMIC:
            return filled((200,) if own.ndim == 1 else own.shape, kind, "contiguous")
        return filled(own.shape, kind, layout)

    values = [mapped(ready, value) for value in arguments]
    outputs = [own for value, own in zip(flat(arguments), flat(values)) if value is OUT]
    inputs = [own for value, own in zip(flat(arguments), flat(values)) if isinstance(value, np.ndarray)]
    if name in DYNAMIC:
        outputs = bounds(name, arguments, expected, values)
    shapes = client.run(name, *values)
    if name in DYNAMIC:
        return check_dynamic(expected, outputs, shapes[-len(expected) :])
    for found, own in zip(outputs, expected, strict=True):
        close(found, own, maker.dtype)
        check_around(found)
    for found, own in zip(inputs, after, strict=True):
        close(found, own, maker.dtype)


def check_around(found: np.ndarray) -> None:
    """Every second element of the storage is not in the view."""
    base = found
    while isinstance(base.base, np.ndarray):
        base = base.base
    if base.size > found.size:
        rest = np.delete(base, np.s_[1 : 1 + 2 * found.size : 2])
        assert (rest.view(np.uint8) == PATTERN).all(), "written beside the view"


def bounds(name: str, arguments: Sequence[Any], expected: Sequence[np.ndarray], values: list[Any]) -> list[np.ndarray]:
    """Outputs as large as they can become, for sizes that depend on the data."""
    size = arguments[0].size
    found = []
    places = [i for i, value in enumerate(arguments) if value is OUT]
    for place, own in zip(places, expected, strict=True):
        fixed = own.shape == arguments[0].shape
        shape = own.shape if fixed else (size, *own.shape[1:])
        values[place] = filled(shape, output_dtype(own, arguments[0].dtype), "contiguous")
        found.append(values[place])
    return found


def check_dynamic(
    expected: Sequence[np.ndarray], outputs: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]]
) -> None:
    for own, out, shape in zip(expected, outputs, shapes, strict=True):
        assert shape == own.shape
        close(out.reshape(-1)[: own.size].reshape(shape), own, out.dtype)


STRICT = {name for name in EVALUATORS if EVALUATORS[name].__qualname__.startswith("_contiguous_only")}
LAYOUTS = ("contiguous", "strided")


def tried(name: str, dtypes: Sequence[str]) -> list[tuple[str, str]]:
    """The dtypes, with layouts in turn, and the first one with both."""
    if name.replace("Inplace", "", 1) in STRICT or name in DYNAMIC:
        return [(dtype, "contiguous") for dtype in dtypes]
    return [*zip(dtypes, itertools.cycle(LAYOUTS)), (dtypes[0], "strided")]


@pytest.mark.parametrize("name", CASES)
def test_an_evaluator_computes_what_torch_computes(client, name):
    build, function, dtypes = CASES[name]
    for dtype, layout in tried(name, dtypes):
        check(client, name, build, function, dtype, layout)


def in_place_of(name: str) -> tuple[Any, Any, tuple[str, ...]] | None:
    """The case of the function that an in-place one is the form of."""
    base = name.replace("Inplace", "", 1) if name.startswith("aclnnInplace") else name.removesuffix("Inplace")
    base = base.replace("ACos", "Acos")
    if base == name or base not in CASES:
        return None
    build, function, dtypes = CASES[base]

    def own_build(maker: Maker) -> list[Any]:
        return [value for value in build(maker) if not has_output(value)]

    def own_function(first: Any, *rest: Any) -> None:
        found = function(first, *rest)
        for own, result in zip(flat([first]), flat([found])):
            own.copy_(result)

    return own_build, own_function, dtypes


IN_PLACE = {name: found for name in EVALUATORS if name not in CASES and (found := in_place_of(name))}


def keeps_dtype(build: Any, function: Any, dtype: str, name: str) -> bool:
    """Whether the result fits where the first argument is, by shape and category."""
    arguments = [torch_of(value) for value in build(Maker(dtype, name))]
    before = list(flat(arguments))[0]
    base = CASES[name.replace("Inplace", "", 1).replace("ACos", "Acos")][1]
    result = next(iter(flat(base(*arguments))))
    ranks = {torch.bool: 0, torch.float64: 2, torch.float32: 2}
    return result.shape == before.shape and ranks.get(result.dtype, 1) <= ranks.get(before.dtype, 1)


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_in_place_form_writes_its_first_argument(client, name):
    build, function, dtypes = IN_PLACE[name]
    fitting = [dtype for dtype in dtypes if keeps_dtype(build, function, dtype, name)]
    assert fitting
    for dtype, layout in tried(name, fitting):
        check(client, name, build, function, dtype, layout)


@pytest.mark.parametrize("number", range(len(VARIANTS)), ids=[f"{each[0]}-{n}" for n, each in enumerate(VARIANTS)])
def test_what_arguments_choose(client, number):
    name, build, function, dtype = VARIANTS[number]
    check(client, name, build, function, dtype, "contiguous")


@pytest.mark.parametrize("build", MORE_CONVOLUTIONS)
def test_convolutions(client, build):
    _, function, _ = CASES["aclnnConvolution"]
    check(client, "aclnnConvolution", build, function, "float32", "contiguous")
    arguments = build(Maker("float32", "more"))
    result = function(*(torch_of(each) for each in arguments if each is not OUT))

    def backward(maker: Maker) -> Any:
        x, w, _, *rest = build(maker)
        channels = (result.shape[1],)
        return maker.x(*result.shape), x, w, channels, *rest[:6], (True,) * 3, 0, OUT, OUT, OUT

    check(client, "aclnnConvolutionBackward", backward, CASES["aclnnConvolutionBackward"][1], "float32", "contiguous")


@pytest.mark.parametrize("options", GRIDS)
def test_grids(client, options):
    for name in ("aclnnGridSampler2D", "aclnnGridSampler2DBackward"):
        build, function, _ = CASES[name]

        def own(maker: Maker, build: Any = build) -> Any:
            arguments = list(build(maker))
            at = next(i for i, value in enumerate(arguments) if isinstance(value, int))
            return [*arguments[:at], *options, *arguments[at + 3 :]]

        check(client, name, own, function, "float32", "contiguous")


@pytest.mark.parametrize("name", RANDOM)
def test_random_numbers_are_of_their_distribution(client, name):
    arguments, holds = RANDOM[name]
    dtype = "int64" if name in ("aclnnRandperm", "aclnnMultinomial") else "float32"
    samples = []
    for _ in range(2):
        out = np.zeros(4000, dtype)
        client.run(name, *arguments(out))
        samples.append(out)
    assert holds(samples[0])
    np.testing.assert_array_equal(*samples)


@pytest.mark.parametrize("name", MASKS)
def test_masks_have_a_bit_for_each_element(client, name):
    mask = np.zeros(MASK_BYTES, np.uint8)
    arguments = MASKS[name](mask)
    client.run(name, *arguments)
    assert abs(_share(mask, 4000) - 0.75) < 0.05
    for out in (each for each in arguments[1:] if isinstance(each, np.ndarray) and each.dtype == np.float32):
        kept = np.unpackbits(mask, bitorder="little")[:4000].reshape(out.shape)
        np.testing.assert_allclose(out, kept / np.float32(0.75), rtol=1e-6)


def test_the_mask_of_a_pool_leads_back_to_its_maxima(client):
    x = np.random.default_rng(0).permutation(84).reshape(1, 2, 7, 6).astype("f4")
    sizes = (3, 2), (2, 1), (1, 0), (1, 1), False
    expected = torch.nn.functional.max_pool2d(torch_of(x).requires_grad_(), *sizes)
    out, mask = np.empty(expected.shape, "f4"), np.zeros((1, 2, 6, 96), np.int8)
    client.run("aclnnMaxPool2dWithMask", x, *sizes, out, mask)
    np.testing.assert_array_equal(out, expected.detach())
    leaf = torch_of(x).requires_grad_()
    torch.nn.functional.max_pool2d(leaf, *sizes).sum().backward()
    found = np.empty(x.shape, "f4")
    client.run("aclnnMaxPool2dWithMaskBackward", np.ones(out.shape, "f4"), x, mask, *sizes, found)
    np.testing.assert_array_equal(found, leaf.grad)


def test_singular_vectors_have_any_sign(client):
    x = np.random.default_rng(0).normal(size=(2, 4, 3)).astype("f4")
    sigma, u, v = np.empty((2, 3), "f4"), np.empty((2, 4, 3), "f4"), np.empty((2, 3, 3), "f4")
    client.run("aclnnSvd", x, False, True, sigma, u, v)
    np.testing.assert_allclose(u * sigma[:, None] @ v.swapaxes(1, 2), x, atol=1e-5)
    np.testing.assert_allclose(sigma, torch.linalg.svdvals(torch.from_numpy(x)), atol=1e-5)
    np.testing.assert_allclose(v.swapaxes(1, 2) @ v, np.broadcast_to(np.eye(3), (2, 3, 3)), atol=1e-5)


def test_times_and_states_of_a_sequence(client):
    scores, targets, times, lengths = layer_cases.sequences()
    losses, alpha = torch.ops.aten._ctc_loss(*map(torch_of, (scores, targets)), times, lengths)
    found, room = np.empty(3, "f8"), np.zeros((3, 6, 8))
    client.run("aclnnCtcLoss", scores, targets, tuple(times), tuple(lengths), 0, False, found, room)
    np.testing.assert_allclose(found, losses)
    for own, expected, count, labels in zip(room, alpha, times, lengths):
        used = slice(count), slice(2 * labels + 1)
        np.testing.assert_allclose(own[used], expected[used])


def test_what_a_younger_chip_saves_of_a_batch(client, monkeypatch):
    monkeypatch.setenv("NPU_SIMULATOR_SOC", "Ascend950PR")
    x = np.random.default_rng(0).normal(size=(4, 3, 2)).astype("f4")
    expected = torch.native_batch_norm(torch_of(x), None, None, None, None, True, 0.1, 0.01)
    outs = [np.empty(each.shape, "f4") for each in expected]
    client.run("aclnnBatchNorm", x, None, None, None, None, True, 0.1, 0.01, *outs)
    for own, other in zip(outs, expected):
        np.testing.assert_allclose(own, other, rtol=1e-5, atol=1e-5)


def test_every_evaluator_is_tested():
    special = {"aclnnSvd", "aclnnMaxPool2dWithMask", "aclnnMaxPool2dWithMaskBackward", "aclnnAddCustom"}
    tested = {*CASES, *IN_PLACE, *RANDOM, *MASKS, *special}
    assert EVALUATORS.keys() - tested == set()
    assert tested - EVALUATORS.keys() == set()

"""Sizes beyond all memory end with torch's words, not with NumPy's or Python's; tests/parity compares them."""

import re

import numpy as np
import pytest

import mindtorch
from mindtorch._core import aligned
from tests.harness import arguments_of, dtypes_of, function_of, sampled_ops, samples_of
from tests.harness import outcome as outcome_of
from tests.huge_calls import CALLS, OWN_LIMITS, outcome

# What torch may say of a size that is too large, by the type of the error.
WORDS = {
    "RuntimeError": (
        r"std::bad_alloc|"
        r"\[enforce fail at alloc_cpu.cpp:127\] err == 0\. DefaultCPUAllocator: can't allocate memory: you tried to "
        r"allocate \d+ bytes\. Error code 12 \(Cannot allocate memory\)"
        r"|Storage size calculation overflowed with sizes=\[[\d, ]*\]( and strides=\[[\d, ]*\])?"
        r"|numel: integer multiplication overflow"
        r"|shape '.*' is invalid for input of size 1"
        r"|only tensors with up to 64 dims are supported"
        r"|setStorage: sizes .* are out of bounds for storage of size 4"
        r"|start \(0\) \+ length \(1\) exceeds dimension size \(1\)\."
        r"|value cannot be converted to type int32_t without overflow"
        r"|unsupported operation: more than one element of the written-to tensor refers to a single memory location.*"
    ),
    "TypeError": r'\w+\(\): argument \'\w+\' failed to unpack the object at pos \d with error "Overflow when unpacking '
    "long long",
    "ValueError": "Overflow when unpacking long long",
    "OverflowError": "int too big to convert",
    "none": r"\([0-3, ]+\)",
    "IndexError": r"(Dimension|start) out of range \(expected to be in range of \[-?\d, \d\], but got \d+\)",
}


@pytest.mark.parametrize(("call", "n"), [*CALLS, *OWN_LIMITS])
def test_torchs_words(call, n):
    kind, text = outcome(mindtorch, call, n)
    assert re.fullmatch(WORDS.get(kind, "no such error"), text), (kind, text)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_ints_of_more_than_64_bits_lead_to_no_result():
    """Each int among the arguments of each op, in turn."""
    taken, n = [], 1 << 63
    for op in sampled_ops():
        dtype = "float32" if "float32" in dtypes_of(op) else dtypes_of(op)[0]
        sample = next(iter(samples_of(op, dtype)), None)
        ints = [] if sample is None or op.name in _OWN_NUMBERS else _ints_of(op, sample)
        for place in ints:
            args = arguments_of(mindtorch, [*sample.args[:place], n, *sample.args[place + 1 :]])
            found = outcome_of(function_of(mindtorch, op), args, arguments_of(mindtorch, sample.kwargs))
            if found.error is None:
                taken.append(f"{op.name}: {op.schema.inputs[place].name}")
    assert not taken


# A slice ends where the tensor does.
_OWN_NUMBERS = ("slice.Tensor",)


def _ints_of(op, sample):
    types = [str(argument.type).removesuffix("?") for argument in op.schema.inputs]
    return [place for place, kind in enumerate(types[: len(sample.args)]) if kind in ("int", "SymInt")]


def test_bytes_are_those_of_the_result():
    with pytest.raises(RuntimeError, match="you tried to allocate 9007199254740992 bytes"):
        mindtorch.zeros(1 << 50, dtype=mindtorch.float64)
    with pytest.raises(RuntimeError, match="you tried to allocate 18014398509481984 bytes"):
        mindtorch.ones(1).expand(1 << 52) * 2


def test_memory_that_fits_is_only_asked_for_when_there_is_much_of_it(monkeypatch):
    asked = []
    monkeypatch.setattr(aligned, "empty", lambda shape, dtype: asked.append(shape))
    aligned.check_fits((1 << 10, 1 << 10), np.dtype(np.uint8))
    assert not asked
    aligned.check_fits((1 << 15, 1 << 15), np.dtype(np.uint8))
    assert asked == [(1 << 15, 1 << 15)]


@pytest.mark.parametrize("start", [(1 << 53) - 2, (1 << 53) - 1, (1 << 62) - 3, -(1 << 63)])
def test_ranges_that_doubles_do_not_count(start):
    assert mindtorch.arange(start, start + 3).tolist() == [start, start + 1, start + 2]


@pytest.mark.parametrize("end", [(1 << 63) - 1, 1 << 63, 1 << 64])
def test_ranges_without_an_end(end):
    with pytest.raises((RuntimeError, OverflowError)):
        mindtorch.arange(end)


def test_sizes_without_data_are_counted_too():
    with pytest.raises(RuntimeError, match="negative dimension"):
        mindtorch.ones(2, device="meta").repeat(-1)
    with pytest.raises(RuntimeError, match="Storage size calculation overflowed"):
        mindtorch.empty(1 << 40, 1 << 40, device="meta")
    with pytest.raises(RuntimeError, match="numel: integer multiplication overflow"):
        mindtorch.sparse_coo_tensor((1 << 40, 1 << 40))

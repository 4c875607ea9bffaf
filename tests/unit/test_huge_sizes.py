"""Sizes beyond all memory end with torch's words, not with NumPy's or Python's; tests/parity compares them."""

import re

import numpy as np
import pytest

import mindtorch
from mindtorch import aligned
from tests.huge_calls import CALLS, outcome

# What torch may say of a size that is too large, by the type of the error.
WORDS = {
    "RuntimeError": (
        r"\[enforce fail at alloc_cpu.cpp:127\] err == 0\. DefaultCPUAllocator: can't allocate memory: you tried to "
        r"allocate \d+ bytes\. Error code 12 \(Cannot allocate memory\)"
        r"|Storage size calculation overflowed with sizes=\[[\d, ]*\]( and strides=\[[\d, ]*\])?"
        r"|numel: integer multiplication overflow"
        r"|shape '.*' is invalid for input of size 1"
        r"|setStorage: sizes .* are out of bounds for storage of size 4"
        r"|start \(0\) \+ length \(1\) exceeds dimension size \(1\)\."
        r"|value cannot be converted to type int32_t without overflow"
        r"|unsupported operation: more than one element of the written-to tensor refers to a single memory location.*"
    ),
    "TypeError": r'\w+\(\): argument \'\w+\' failed to unpack the object at pos \d with error "Overflow when unpacking '
    "long long",
    "ValueError": "Overflow when unpacking long long",
    "OverflowError": "int too big to convert",
    "IndexError": r"(Dimension|start) out of range \(expected to be in range of \[-?\d, \d\], but got \d+\)",
}


@pytest.mark.parametrize(("call", "n"), CALLS)
def test_torchs_words(call, n):
    kind, text = outcome(mindtorch, call, n)
    assert re.fullmatch(WORDS.get(kind, "no such error"), text), (kind, text)


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

"""Calls of an op with wrong inputs: samples with one argument changed, and what both libraries make of them.

PyTorch trusts the arguments of some ops so far that it reads beyond their memory: calls run in their own process.
"""

import contextlib
import io
import os
import pickle
import signal
import warnings
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import torch

import mindtorch
from codegen.model import Op
from tests.harness import (
    Outcome,
    TensorSpec,
    arguments_of,
    dtypes_of,
    error_difference,
    function_of,
    outcome,
    result_difference,
    samples_of,
)

_DTYPES = ("float32", "float64", "int64", "bool", "complex64", "float16")
_SECONDS = 20

# By kind of difference, from the worst to the least.
ACCEPTED, VALUE, REFUSED, TYPE, TEXT, CRASHED = "accepted", "value", "refused", "type", "text", "crashed"


def _reshaped(data: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    yield "one more dimension", data[None]
    if data.ndim:
        yield "one dimension less", data[0] if len(data) else np.zeros(data.shape[1:], data.dtype)
        yield "a longer first dimension", np.concatenate([data, data[-1:]])
        yield "a shorter first dimension", data[:-1]
    if data.ndim > 1:
        yield "a longer last dimension", np.concatenate([data, data[..., -1:]], axis=-1)
        yield "no dimensions", data.reshape(-1)[:1].reshape(()) if data.size else np.zeros((), data.dtype)


def _tensors(spec: TensorSpec) -> Iterator[tuple[str, TensorSpec]]:
    plain = replace(spec, layout="plain")
    for what, data in _reshaped(spec.data):
        yield what, replace(plain, data=np.ascontiguousarray(data) if data.ndim else data)
    for dtype in _DTYPES:
        if dtype != spec.dtype:
            data = spec.data.real if not dtype.startswith("complex") else spec.data
            yield dtype, replace(plain, data=data, dtype=dtype)
    if spec.dtype == "int64" and spec.data.size:
        yield "an index of 100", replace(plain, data=np.where(spec.data == spec.data.max(), 100, spec.data))
        yield "an index of -100", replace(plain, data=np.where(spec.data == spec.data.min(), -100, spec.data))


def _numbers(value: int) -> Iterator[tuple[str, int]]:
    yield from ((f"{value} -> {other}", other) for other in (100, -100, -1, 0) if other != value)


def _lists(value: list) -> Iterator[tuple[str, list]]:
    if value:
        yield "a longer list", [*value, value[-1]]
        yield "a shorter list", value[:-1]
        yield "no elements", []
        for what, other in _wrong(value[-1]):
            yield f"last: {what}", [*value[:-1], other]
        if len(value) > 1:
            for what, other in _wrong(value[0]):
                yield f"first: {what}", [other, *value[1:]]


def _wrong(value: Any) -> Iterator[tuple[str, Any]]:
    """An argument as it should not be."""
    if isinstance(value, TensorSpec):
        yield from _tensors(value)
    elif isinstance(value, (list, tuple)):
        yield from _lists(list(value))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield from _numbers(value)


def _dtype(op: Op) -> str:
    return next((dtype for dtype in ("float32", "int64") if dtype in dtypes_of(op)), dtypes_of(op)[0])


def calls(op: Op, samples: int = 2) -> Iterator[tuple[str, list, dict]]:
    """What is wrong, and the arguments."""
    for number, sample in enumerate(islice(samples_of(op, _dtype(op)), samples)):
        args, named = list(sample.args), list(sample.kwargs.items())
        for place, value in enumerate(args):
            for what, wrong in _wrong(value):
                yield f"#{number} argument {place}: {what}", args[:place] + [wrong] + args[place + 1 :], sample.kwargs
        for name, value in named:
            for what, wrong in _wrong(value):
                yield f"#{number} {name}: {what}", args, {**sample.kwargs, name: wrong}


def _kind(own: Outcome, peer: Outcome) -> tuple[str, str] | None:
    """How two outcomes differ, and in words."""
    text = error_difference(own.error, peer.error) if own.error or peer.error else None
    if own.error and peer.error:
        same = type(own.error).__name__ == type(peer.error).__name__
        return (TEXT if same else TYPE, text) if text else None
    if text:
        return REFUSED if own.error else ACCEPTED, text
    text = result_difference(mindtorch, torch, own.result, peer.result)
    return (VALUE, text) if text else None


def _compare(op: Op, args: list, kwargs: dict) -> tuple[str, str] | None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = [outcome(function_of(T, op), *arguments_of(T, [args, kwargs])) for T in (mindtorch, torch)]
        try:
            return _kind(*found)
        except (NotImplementedError, RuntimeError, TypeError) as error:
            return VALUE, f"cannot be compared: {error}"


def _write_all(op: Op, pipe: io.RawIOBase, first: int, given: list) -> None:
    for number, (_, args, kwargs) in enumerate(given):
        if number >= first:
            signal.alarm(_SECONDS)
            pickle.dump((number, None), pipe)
            pipe.flush()
            pickle.dump((number, (_compare(op, args, kwargs))), pipe)
            pipe.flush()


def _in_child(op: Op, first: int, given: list) -> Iterator[tuple[int, Any]]:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        code = 1
        with contextlib.suppress(KeyboardInterrupt):
            try:
                with os.fdopen(write, "wb") as pipe:
                    _write_all(op, pipe, first, given)
                code = 0
            finally:
                os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as pipe, contextlib.suppress(EOFError):
        while True:
            yield pickle.load(pipe)
    os.waitpid(child, 0)


def differences(op: Op, samples: int = 2) -> Iterator[tuple[str, str, str]]:
    """What is wrong, the kind of difference and the difference in words."""
    given, first = list(calls(op, samples)), 0
    while first < len(given):
        begun = None
        for number, found in _in_child(op, first, given):
            if begun is None or begun != number:
                begun = number
                continue
            begun, first = None, number + 1
            if found:
                yield given[number][0], *found
        if first < len(given):
            yield given[first][0], CRASHED, "the process ended"
            first += 1

"""Reads programs from files. No code is stored in them, and nothing that a file names is called but ops.

Everything is checked before a program is made, so that one that loads has values for all its references.
"""

import io
import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from os import PathLike
from typing import Any, BinaryIO

from mindtorch import serialization
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.versions import UnknownVersion, check_version
from mindtorch.program.codec import BadValue, decode
from mindtorch.program.model import Program, Step
from mindtorch.program.structure import ProgramError, Ref, leaves
from mindtorch.program.writer import CONSTANTS, FORMAT, FORMAT_VERSION, PROGRAM

# What zip archives, JSON and above all pickles raise when bytes of them have changed.
_DAMAGED = (
    zipfile.BadZipFile, pickle.UnpicklingError, struct.error, ArithmeticError, AttributeError, EOFError, LookupError,
    MemoryError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
_MOST_INPUTS = 100_000  # a file of a few bytes must not take up all memory


def load(file: str | PathLike | BinaryIO) -> Program:
    """The program that `Program.save` wrote. One that means ops or versions that this release has not is refused."""
    is_path = isinstance(file, (str, PathLike))
    if not is_path and not hasattr(file, "seek"):
        raise TypeError(f"load() takes a path or an open file, not {type(file).__name__}")
    name = str(file) if is_path else "the program"
    try:
        with zipfile.ZipFile(file) as archive:
            document = json.loads(_member(archive, PROGRAM))
            tensors = serialization.load(io.BytesIO(_member(archive, CONSTANTS)))
    except _DAMAGED as error:
        raise ProgramError(f"{name} is no saved program: {error}") from None
    try:
        return _Reader(name).program(document, tensors)
    except RecursionError:
        raise ProgramError(f"{name}: it is nested too deeply") from None


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """A file of the archive. `save` compresses none: a compressed one could be of any size."""
    if name not in archive.namelist():
        raise zipfile.BadZipFile(f"there is no {name} in it")
    if archive.getinfo(name).compress_type != zipfile.ZIP_STORED:
        raise zipfile.BadZipFile(f"{name} is compressed")
    return archive.read(name)


class _Reader:
    """Makes a program of the document of one file; `_refuse` says where it is wrong."""

    def __init__(self, name: str) -> None:
        self._name = name

    def program(self, document: Any, tensors: Any) -> Program:
        self._check_format(document)
        inputs = self._number(document, "inputs", "")
        if inputs > _MOST_INPUTS:
            raise self._refuse("inputs", f"{inputs} are too many")
        constants = self._constants(document, tensors)
        known = {*range(inputs), *constants}
        steps = []
        for place, data in enumerate(self._list(document, "steps", "")):
            step = self._step(data, f"steps[{place}]", known)
            known.update(step.results)
            steps.append(step)
        scratch = frozenset(self._numbers(document, "scratch", "")) & constants.keys()
        result = self._value(document.get("result"), "result", known)
        return Program(inputs, constants, scratch, tuple(steps), result)

    def _refuse(self, place: str, problem: str) -> ProgramError:
        return ProgramError(f"{self._name}: {place}{': ' if place else ''}{problem}")

    def _check_format(self, document: Any) -> None:
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise self._refuse("", "it is no saved program")
        version = document.get("format_version")
        if version != FORMAT_VERSION:
            raise self._refuse("", f"its format has version {version!r}, and only {FORMAT_VERSION} is known here")

    def _constants(self, document: Any, tensors: Any) -> dict[int, Tensor]:
        numbers = self._numbers(document, "constants", "")
        is_right = isinstance(tensors, list) and all(isinstance(tensor, Tensor) for tensor in tensors)
        if not is_right or len(tensors) != len(numbers):
            raise self._refuse("constants", f"{CONSTANTS} does not hold {len(numbers)} tensors")
        return dict(zip(numbers, tensors))

    def _step(self, data: Any, place: str, known: set[int]) -> Step:
        op = self._get(data, "op", place, lambda value: isinstance(value, str), "a name")
        version = self._number(data, "version", place)
        try:
            check_version(op, version)
        except UnknownVersion as error:
            raise self._refuse(place, str(error)) from None
        given = self._get(data, "arguments", place, lambda value: isinstance(value, dict), "an object")
        arguments = {name: self._value(value, f"{place}.arguments.{name}", known) for name, value in given.items()}
        results = tuple(self._numbers(data, "results", place))
        return Step(op, version, arguments, results, data.get("without_grad") is True)

    def _value(self, data: Any, place: str, known: set[int]) -> Any:
        try:
            value = decode(data)
        except BadValue as error:
            raise self._refuse(place, str(error)) from None
        missing = [leaf for leaf in leaves(value) if isinstance(leaf, Ref) and leaf.number not in known]
        if missing:
            raise self._refuse(place, f"there is no {missing[0]} yet")
        return value

    def _get(self, data: Any, key: str, place: str, is_right: Callable[[Any], bool], wanted: str) -> Any:
        value = data.get(key) if isinstance(data, dict) else None
        if not is_right(value):
            raise self._refuse(f"{place}.{key}".lstrip("."), f"it must be {wanted}, not {value!r}")
        return value

    def _list(self, data: Any, key: str, place: str) -> list:
        return self._get(data, key, place, lambda value: isinstance(value, list), "a list")

    def _number(self, data: Any, key: str, place: str) -> int:
        return self._get(data, key, place, _is_number, "a number")

    def _numbers(self, data: Any, key: str, place: str) -> list[int]:
        return self._get(
            data, key, place, lambda value: isinstance(value, list) and all(map(_is_number, value)), "a list of numbers"
        )


def _is_number(value: Any) -> bool:
    return type(value) is int and value >= 0

"""A call as the kernel of an op sees it, put back into the form of the op's schema, as torch hands it to modes.

When a kernel is called everything is converted: ints stand in tuples, dtypes are dtypes, defaults are filled in. Only
the tensors are arrays. `schema_call` puts the tensors back, and leaves out what has its default, as torch does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from mindtorch._core.device import as_device
from mindtorch._core.tensor import Tensor, WrappedNumber, wrap
from mindtorch._support.lazy import lazy
from mindtorch._support.op_names import base_of
from mindtorch.dispatch.parameters import parameters_of
from mindtorch.dispatch.registry import OpEntry, find_op

if TYPE_CHECKING:
    from mindtorch.dispatch.schema.syntax import Declaration, Parameter

_syntax: Any = lazy("mindtorch.dispatch.schema.syntax")
_NUMBERS = (int, float, bool, complex)


@cache
def declaration_of(schema_text: str) -> Declaration:
    return _syntax.parse_declaration(schema_text)


class Originals:
    """The tensors of a call, found again by their arrays."""

    def __init__(self, values: Iterable[Any]) -> None:
        self._by_array: dict[int, list[Tensor]] = {}
        for tensor in tensors_among(values):
            self._by_array.setdefault(id(tensor._mt_array), []).append(tensor)

    def tensor(self, array: Any) -> Tensor:
        """The tensor of an array, a fresh one if the call made the array. Tensors on one array come in their order."""
        found = self._by_array.get(id(array))
        if not found:
            return wrap(array)
        return found.pop(0) if len(found) > 1 else found[0]


def tensors_among(values: Iterable[Any]) -> list[Tensor]:
    """The tensors of arguments, those in lists included."""
    found: list[Tensor] = []
    for value in values:
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found += tensors_among(value)
    return found


def schema_call(
    entry: OpEntry, kernel_op: str, args: Sequence[Any], out: Any, originals: Originals
) -> tuple[OpEntry, tuple, dict[str, Any]]:
    """The overload, the positional and the keyword arguments of a call of the kernel of `kernel_op`."""
    kernel_entry = find_op(kernel_op) or entry
    given = dict(zip(_parameters_of(kernel_entry.schema_text).names, args))
    entry = _with_numbers(entry, given)
    parameters = _parameters_of(entry.schema_text)
    given.update(zip(parameters.written, out if isinstance(out, tuple) else (out,)))
    values = {each.name: _restored(each, given.get(each.name), originals) for each in parameters.all}
    if is_factory(entry):
        _complete_options(parameters, values)
    elif not values.get("pin_memory", True):
        values["pin_memory"] = None
    return entry, *_without_defaults(parameters, values)


class _Parameters:
    """The parameters of a schema, sorted once and for all."""

    __slots__ = ("all", "names", "positional", "keyword_only", "written", "take_tensors")

    def __init__(self, declaration: Declaration) -> None:
        self.all = declaration.arguments
        self.names = [each.name for each in self.all]
        self.positional = [each for each in self.all if not each.keyword_only]
        self.keyword_only = [each for each in self.all if each.keyword_only]
        self.written = [each.name for each in self.keyword_only if each.written]
        self.take_tensors = any(each.type.base == "Tensor" for each in self.all)


@cache
def _parameters_of(schema_text: str) -> _Parameters:
    return _Parameters(declaration_of(schema_text))


def arguments_in_order(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """The arguments of a generated function in the order of its schema; ints given one by one become a tuple."""
    names, variadic, *_ = parameters_of(function)
    given = dict(zip(names, args)) | dict(kwargs)
    rest = args[len(names) :]
    if rest or (variadic and type(given[names[-1]]) is int):
        given[names[-1]] = (given[names[-1]], *rest)
    names_in_schema = _parameters_of(function.op.schema_text).names
    return [given.get("input" if name == "self" else name) for name in names_in_schema]


def _with_numbers(entry: OpEntry, given: Mapping[str, Any]) -> OpEntry:
    """The overload for numbers, if `other` is one and torch has that overload in Python."""
    if not entry.takes_numbers or type(given.get("other")) not in _NUMBERS:
        return entry
    for_numbers = find_op(f"{base_of(entry.name)}.Scalar")
    return entry if for_numbers is None or for_numbers.absent_in_torch else for_numbers


def _restored(parameter: Parameter, value: Any, originals: Originals) -> Any:
    if value is None:
        return None
    if isinstance(value, (tuple, list)):
        return [_restored(parameter, item, originals) for item in value]
    if type(value) is WrappedNumber:
        return value._mt_array
    if parameter.type.base != "Tensor" or isinstance(value, (Tensor, *_NUMBERS)):
        return value
    return originals.tensor(value)


@cache
def is_factory(entry: OpEntry) -> bool:
    """Whether an op makes a tensor with options of its own (`zeros`, `zeros_like`, `new_zeros`)."""
    arguments = declaration_of(entry.schema_text).arguments
    if all(each.name != "pin_memory" for each in arguments):
        return False
    takes_tensors = any(each.type.base == "Tensor" for each in arguments)
    return not takes_tensors or entry.base.startswith("new_") or entry.base.endswith("_like")


def _complete_options(parameters: _Parameters, values: dict[str, Any]) -> None:
    """Factories are told where to make their tensor, even if the user didn't say."""
    values["pin_memory"] = bool(values["pin_memory"])
    if not parameters.take_tensors:
        values["device"] = as_device(values["device"])


def _without_defaults(parameters: _Parameters, values: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
    """What differs from its default, and the positional arguments in front of that."""
    positional = parameters.positional
    count = len(positional)
    while count and _is_default(positional[count - 1], values[positional[count - 1].name]):
        count -= 1
    keywords = {
        each.name: values[each.name] for each in parameters.keyword_only if not _is_default(each, values[each.name])
    }
    return tuple([values[each.name] for each in positional[:count]]), keywords


def _is_default(parameter: Parameter, value: Any) -> bool:
    if not parameter.has_default or isinstance(value, Tensor):
        return False
    default = parameter.default
    return value is default or (type(value) is type(default) and value == default)

"""torch's list of the overloads of a function, for calls that fit none of them.

torch makes it from the printed overloads: it splits them at the commas again, and what stands in front of the last
space of a part is the type to compare with. So `Tensor out = None` is an argument called `None`, which nothing fits.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from mindtorch._support import errors
from mindtorch.dispatch.arguments.keyword_order import in_torch_order

_ALSO_FITS = {"float": ("float", "int"), "int": ("int",)}


def no_overload(function: str, overloads: Sequence[Sequence[str]], args: tuple, kwargs: Mapping[str, Any]) -> TypeError:
    """The error of a call, with the overloads given by their printed arguments."""
    kwargs = {name: kwargs[name] for name in in_torch_order(kwargs)}
    if len(overloads) == 1:
        shown = _alone(overloads[0], args, kwargs)
    else:
        expected = "".join(f" * {_explained(parts, args, kwargs)}" for parts in overloads)
        shown = f"got {_given(args, kwargs)}, but expected one of:\n{expected}"
    return TypeError(f"{function}() received an invalid combination of arguments - {shown}")


def _alone(parts: Sequence[str], args: tuple, kwargs: Mapping[str, Any]) -> str:
    """What was given and what the only overload expects."""
    unknown = _unknown(parts, kwargs)
    if unknown:
        got = f"unrecognized keyword arguments: {', '.join(unknown)}"
    else:
        got = _compared(parts, args, kwargs) if _has_room(parts, args, kwargs) else _given(args, kwargs)
    return f"got {got}, but expected ({', '.join(parts)})"


def _explained(parts: Sequence[str], args: tuple, kwargs: Mapping[str, Any]) -> str:
    """A line of the list, and why the overload wasn't taken."""
    line = f"({', '.join(parts)})\n"
    if not _has_room(parts, args, kwargs):
        return line
    unknown = _unknown(parts, kwargs)
    if unknown:
        return f"{line}      didn't match because some of the keywords were incorrect: {', '.join(unknown)}\n"
    compared = _compared(parts, args, kwargs)
    return f"{line}      didn't match because some of the arguments have invalid types: {compared}\n"


def _has_room(parts: Sequence[str], args: tuple, kwargs: Mapping[str, Any]) -> bool:
    return max(len(parts), 1) == len(args) + len(kwargs)


def _unknown(parts: Sequence[str], kwargs: Mapping[str, Any]) -> list[str]:
    """The keywords that are not among the last arguments, which are the only ones that torch looks at."""
    names = [part.rpartition(" ")[2] for part in parts]
    last = names[max(len(names) - len(kwargs), 0) :]
    return [name for name in kwargs if name not in last]


def _compared(parts: Sequence[str], args: tuple, kwargs: Mapping[str, Any]) -> str:
    """The types that were given, those that don't fit between exclamation marks."""
    shown = [_marked(part.rpartition(" ")[0], "", value) for part, value in zip(parts or [""], args)]
    for part in parts[len(args) :]:
        kind, _, name = part.rpartition(" ")
        shown.append(_marked(kind, f"{name}=", kwargs[name]))
    return _in_brackets(shown, args)


def _marked(kind: str, label: str, value: Any) -> str:
    name = errors.type_name(value)
    shown = label + name
    if isinstance(value, (tuple, list)):
        shown += f" of {_types_of_elements(value)}"
    return shown if name in _ALSO_FITS.get(kind, (kind,)) else f"!{shown}!"


def _types_of_elements(values: Sequence[Any]) -> str:
    names = ", ".join(map(errors.type_name, values))
    if isinstance(values, list):
        return f"[{names}]"
    return f"({names}{',' if len(values) == 1 else ''})"


def _given(args: tuple, kwargs: Mapping[str, Any]) -> str:
    got = [errors.type_name(value) for value in args]
    return _in_brackets(got + [f"{name}={errors.type_name(value)}" for name, value in kwargs.items()], args)


def _in_brackets(shown: list[str], args: tuple) -> str:
    """torch removes the last comma if there are positional arguments, and only then."""
    return f"({', '.join(shown)}{', ' if shown and not args else ''})"

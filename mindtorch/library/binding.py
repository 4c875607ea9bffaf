"""The arguments of a call, bound to a schema and converted as torch does it."""

from collections.abc import Mapping, Sequence
from typing import Any

from mindtorch.dispatch.schema.syntax import Declaration, Parameter
from mindtorch.library.casting import Cast, CastError, cast_for

Bound = tuple[list[Any], dict[str, Any]]


class Binder:
    """Binds calls to one schema.

    As in torch, kernels do not get arguments that have their default: the positional ones at the end, and the
    keyword-only ones. So a kernel may leave such parameters out, or have defaults of its own for them.
    """

    def __init__(self, name: str, declaration: Declaration) -> None:
        self._name = name
        self._text = str(declaration)
        self._positional = tuple(each for each in declaration.arguments if not each.keyword_only)
        self._keyword_only = tuple(each for each in declaration.arguments if each.keyword_only)
        self._casts = [cast_for(each.type) for each in self._positional]
        self._slots = [(each, cast_for(each.type)) for each in (*self._positional, *self._keyword_only)]
        self._has_defaults = any(each.has_default for each in self._positional)
        self._required = sum(not each.has_default for each in self._positional)
        self._required_keywords = {each.name for each in self._keyword_only if not each.has_default}

    def __call__(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Bound:
        """The arguments for a kernel; a RuntimeError with torch's text if they do not fit."""
        count = len(args)
        if count > len(self._casts):
            raise self._too_many(count)
        try:
            values = [cast(value) for cast, value in zip(self._casts, args)]
        except CastError:
            raise self._first_misfit(args) from None
        keywords: dict[str, Any] = {}
        if kwargs or count < self._required or self._required_keywords:
            keywords = self._complete(values, kwargs)
        if self._has_defaults:
            self._drop_defaults(values)
        return values, keywords

    def parameters_of(self, count: int, names: Sequence[str]) -> list[Parameter] | None:
        """What a call with so many positional and these keyword-only arguments gives; None if it is another call."""
        if not self._required <= count <= len(self._casts) or not self._required_keywords <= set(names):
            return None
        keywords = [each for name in names for each in self._keyword_only if each.name == name]
        return [*self._positional[:count], *keywords] if len(keywords) == len(names) else None

    def with_defaults(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The bound arguments together with those that were dropped."""
        missing = [each.default for each in self._positional[len(args) :]]
        return (*args, *missing), {each.name: kwargs.get(each.name, each.default) for each in self._keyword_only}

    def _complete(self, values: list[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Add what was given by keyword or has a default; returns the keyword-only arguments."""
        first = len(values)
        keywords = {}
        used = 0
        for place, (parameter, cast) in enumerate(self._slots[first:], first):
            name = parameter.name
            if name in kwargs:
                used += 1
                value = self._converted(parameter, place, cast, kwargs[name])
            else:
                value = self._default(parameter)
            if not parameter.keyword_only:
                values.append(value)
            elif not _has_default(parameter, value):
                keywords[name] = value
        if used < len(kwargs):
            raise self._unknown(first, kwargs)
        return keywords

    def _converted(self, parameter: Parameter, place: int, cast: Cast, value: Any) -> Any:
        try:
            return cast(value)
        except CastError as error:
            raise self._misfit(parameter, place, value, error) from None

    def _default(self, parameter: Parameter) -> Any:
        if parameter.has_default:
            return parameter.default
        raise RuntimeError(
            f"{self._name}() is missing value for argument '{parameter.name}'. Declaration: {self._text}"
        )

    def _drop_defaults(self, values: list[Any]) -> None:
        while values and _has_default(self._positional[len(values) - 1], values[-1]):
            values.pop()

    # -------------------- errors --------------------

    def _first_misfit(self, args: Sequence[Any]) -> RuntimeError:
        for place, (parameter, cast, value) in enumerate(zip(self._positional, self._casts, args)):
            try:
                cast(value)
            except CastError as error:
                return self._misfit(parameter, place, value, error)
        raise AssertionError("all arguments fit")

    def _misfit(self, parameter: Parameter, place: int, value: Any, error: CastError) -> RuntimeError:
        return RuntimeError(
            f"{self._name}() Expected a value of type '{parameter.type.python_name}' for argument '{parameter.name}' "
            f"but instead found type '{type(value).__name__}'.\nPosition: {place}\nValue: {value!r}\n"
            f"Declaration: {self._text}\n{error.for_argument()}"
        )

    def _too_many(self, count: int) -> RuntimeError:
        most = len(self._positional)
        if self._keyword_only:
            given = f"takes {most} positional argument(s) but {count} was/were given. "
        else:
            given = f"expected at most {most} argument(s) but received {count} argument(s)."
        return RuntimeError(f"{self._name}() {given} Declaration: {self._text}")

    def _unknown(self, positional: int, kwargs: Mapping[str, Any]) -> RuntimeError:
        for parameter in self._positional[:positional]:
            if parameter.name in kwargs:
                return RuntimeError(
                    f"Argument '{parameter.name}' specified both as positional and keyword argument. "
                    f"Schema: {self._text}"
                )
        known = {parameter.name for parameter, _ in self._slots}
        name = next(name for name in kwargs if name not in known)
        return RuntimeError(f"Unknown keyword argument '{name}' for operator '{self._name}'. Schema: {self._text}")


def _has_default(parameter: Parameter, value: Any) -> bool:
    default = parameter.default
    return parameter.has_default and (value is default or (type(value) is type(default) and bool(value == default)))

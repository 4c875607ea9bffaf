"""The signatures of generated functions as `help` and editors show them: how programs call the function.

Their `def` lines have more: what only old calls give, NumPy's spellings, and what may be absent in one of the forms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from inspect import CO_VARARGS, Parameter, Signature
from types import FunctionType, MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from mindtorch.dispatch.registry import overloads_of

if TYPE_CHECKING:
    from mindtorch.dispatch.schema.function_schema import Argument

F = TypeVar("F")

_REST = "more_"  # begins the name of the parameter that collects the ints of `view(2, 3)`
_ADDED = frozenset(("out", "requires_grad", "generator"))  # to the arguments of a schema, in Python


class _NoValue:
    """The default of what some forms of a function do not have."""

    def __repr__(self) -> str:
        return "<no value>"


NO_VALUE = _NoValue()


class ShownSignature(Signature):
    """A signature that is made when it is first looked at: importing the library makes none."""

    __slots__ = ("_function", "_is_method")

    def __init__(self, function: FunctionType, is_method: bool = False) -> None:
        self._function = function
        self._is_method = is_method

    @property
    def parameters(self) -> MappingProxyType[str, Parameter]:
        return self._made().parameters

    @property
    def return_annotation(self) -> Any:
        return self._function.__annotations__.get("return", Signature.empty)

    def replace(self, **changes: Any) -> Signature:  # type: ignore[override]
        return self._made().replace(**changes)

    def __reduce__(self) -> tuple[Any, ...]:
        return _signature, (tuple(self.parameters.values()), self.return_annotation)

    def _made(self) -> Signature:
        function = self._function
        parameters = whole_signature(function).parameters
        op = getattr(function, "op", None)
        overloads = op.overloads if op is not None else overloads_of(function.__name__)
        forms = [entry.schema.arguments for entry in overloads if not entry.schema.is_out]
        shown = _bindable(_shown(list(_joined(parameters.values())), forms, self._is_method))
        return _signature(list(shown), self.return_annotation)


def whole_signature(function: Any) -> Signature:
    """Everything that a function takes, as its `def` line says."""
    if not isinstance(function, FunctionType):
        return Signature.from_callable(function)
    bare = FunctionType(function.__code__, {}, function.__name__, function.__defaults__, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    bare.__annotations__ = function.__annotations__
    return Signature.from_callable(bare)


def show_signatures(module: ModuleType) -> None:
    """Have the functions of a module show how they are called. Those that take no more than they show need nothing."""
    functions = (value for value in vars(module).values() if isinstance(value, FunctionType))
    for function in functions:
        if function.__defaults__ or function.__kwdefaults__ or function.__code__.co_flags & CO_VARARGS:
            function.__signature__ = ShownSignature(function)  # type: ignore[attr-defined]


def as_called(method: F) -> F:
    """A method that is written by hand, and has `...` for what a call must give so that torch's error can be raised."""
    method.__signature__ = ShownSignature(method, is_method=True)  # type: ignore[attr-defined, arg-type]
    return method


def _signature(parameters: Sequence[Parameter], return_annotation: Any) -> Signature:
    return Signature(parameters, return_annotation=return_annotation)


def _joined(parameters: Iterable[Parameter]) -> Iterator[Parameter]:
    """A position of several names, `_dim`, and the first of them, which is a keyword there, are one parameter."""
    given = list(parameters)
    keywords = {f"_{each.name}" for each in given if each.kind is Parameter.KEYWORD_ONLY}
    shared = {each.name for each in given if each.kind is Parameter.POSITIONAL_OR_KEYWORD} & keywords
    for each in given:
        if each.name in shared:
            yield each.replace(name=each.name[1:])
        elif f"_{each.name}" not in shared:
            yield each


def _shown(parameters: list[Parameter], forms: list[tuple[Argument, ...]], is_method: bool) -> Iterator[Parameter]:
    known = {argument.name for form in forms for argument in form} | _ADDED | {"input"}
    if not forms:  # written by hand
        known.update(each.name for each in parameters)
    rest = next((each.name for each in parameters if each.kind is Parameter.VAR_POSITIONAL), "")
    for place, each in enumerate(parameters):
        if is_method and place == 0:
            yield each.replace(name="self", default=Parameter.empty)
        elif is_method and each.name == "out":
            continue
        elif each.name in known and _REST + each.name == rest and place == is_method:
            yield Parameter(each.name, Parameter.VAR_POSITIONAL)
        elif each.name in known:
            yield each.replace(default=_default(each, forms)) if each.default is ... else each


def _default(parameter: Parameter, forms: list[tuple[Argument, ...]]) -> Any:
    """Of a parameter that may be absent, as another spelling can stand for it, or as there are forms without it."""
    found = [argument for form in forms for argument in form if argument.name == parameter.name]
    if len(found) == len(forms) and all(argument.default is None for argument in found):
        return Parameter.empty
    if {argument.default for argument in found} == {"False"}:
        return False
    return None if any(argument.optional for argument in found) else NO_VALUE


def _bindable(parameters: Iterable[Parameter]) -> Iterator[Parameter]:
    """What follows something optional is optional, too: `arange(end)` and `arange(start, end)` are one function."""
    has_default = False
    for each in parameters:
        is_positional = each.kind is Parameter.POSITIONAL_OR_KEYWORD
        needs_one = has_default and is_positional and each.default is Parameter.empty
        has_default |= is_positional and each.default is not Parameter.empty
        yield each.replace(default=NO_VALUE) if needs_one else each

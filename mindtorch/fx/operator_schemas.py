"""The signatures of functions, ops and modules, and the arguments of calls as they have them."""

from __future__ import annotations

import inspect
import numbers
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any, NamedTuple, Optional, Union

from mindtorch._core.device import device
from mindtorch._core.dtype import dtype
from mindtorch._core.generator import Generator
from mindtorch._core.tensor import Tensor
from mindtorch._functions.inspection import typename
from mindtorch._functions.overridable import OverridableFunction
from mindtorch._support.lazy import lazy
from mindtorch._support.warnings import warn
from mindtorch.dispatch.overloads import OpOverload, OpOverloadPacket
from mindtorch.dispatch.registry import overloads_of
from mindtorch.dispatch.schema.function_schema import Schema, parse_schema
from mindtorch.fx._compatibility import compatibility

__all__ = [
    "ArgsKwargsPair", "check_for_mutable_operation", "create_type_hint", "get_signature_for_torch_op",
    "normalize_function", "normalize_module", "type_matches",
]  # fmt: skip

_nn: Any = lazy("mindtorch.nn")
_TYPES: dict[str, Any] = {
    "Tensor": Tensor, "int": int, "SymInt": int, "float": float, "bool": bool, "str": str, "complex": complex,
    "Scalar": numbers.Number, "ScalarType": int, "Layout": int, "MemoryFormat": int, "Device": device,
    "Generator": Generator, "Dimname": str,
}  # fmt: skip
_CONSTANTS: dict[str, Any] = {"None": None, "True": True, "False": False, "Mean": 1, "[]": []}


@compatibility(is_backward_compatible=False)
class ArgsKwargsPair(NamedTuple):
    """The arguments of a call."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


# -------------------- signatures of ops --------------------


def _type_of(argument: Any) -> Any:
    found = _TYPES.get(argument.element, Any)
    if argument.is_list:
        found = types.GenericAlias(list, (found,))
    return Optional[found] if argument.optional else found  # noqa: UP045


def _default_of(argument: Any) -> Any:
    text = argument.default
    if text is None:
        return Parameter.empty
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] in "'\"":
        return text[1:-1]
    if text[0] == "[":
        return [_number(each) for each in text[1:-1].split(",")]
    return _number(text)


def _number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return 0 if text == "contiguous_format" else text


def _signature_of(schema: Schema) -> Signature:
    """The signature of an overload. A parameter called `from` can only be given by position, and those before it."""
    parameters: list[Parameter] = []
    for argument in schema.arguments:
        kind: Any = Parameter.KEYWORD_ONLY if argument.keyword_only else Parameter.POSITIONAL_OR_KEYWORD
        name = "input" if argument.name == "self" else argument.name
        if name in ("from", "from_"):
            parameters = [each.replace(kind=Parameter.POSITIONAL_ONLY) for each in parameters]
            name, kind = "from_", Parameter.POSITIONAL_ONLY
        parameters.append(Parameter(name, kind, default=_default_of(argument), annotation=_type_of(argument)))
    # Where a default stands before a parameter without one, Python has no such signature.
    seen = False
    fixed = []
    for each in parameters:
        seen = seen or (each.default is not Parameter.empty and each.kind is not Parameter.KEYWORD_ONLY)
        lacks = seen and each.default is Parameter.empty and each.kind is not Parameter.KEYWORD_ONLY
        fixed.append(each.replace(default=None) if lacks else each)
    return Signature(fixed)


def arguments_in_order(overload: OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """All arguments of a call of an overload, with defaults, in the order of its schema."""
    found = []
    for place, argument in enumerate(overload._schema.arguments):
        name = "self" if argument.name == "input" else argument.name
        if name in kwargs or argument.name in kwargs:
            found.append(kwargs[name] if name in kwargs else kwargs[argument.name])
        elif not argument.keyword_only and place < len(args):
            found.append(args[place])
        else:
            default = _default_of(argument)
            found.append(None if default is Parameter.empty else default)
    return found


def _schemas_of(op: Any) -> list[Schema] | None:
    """The schemas of an op or of torch's function of it; None for other callables."""
    if isinstance(op, OpOverload):
        return [op._schema]
    if isinstance(op, OpOverloadPacket):
        return [getattr(op, name)._schema for name in op.overloads()]
    function = op.function if isinstance(op, OverridableFunction) else op
    entry = getattr(function, "op", None)
    if entry is None or not hasattr(entry, "base"):
        return None
    return [parse_schema(each.schema_text) for each in overloads_of(entry.base, entry.namespace)]


@compatibility(is_backward_compatible=False)
def get_signature_for_torch_op(op: Callable[..., Any], return_schemas: bool = False) -> Any:
    """The signatures of all overloads of an op, None if the function is none; with `return_schemas` the schemas."""
    schemas = _schemas_of(op)
    signatures = None if schemas is None else [_signature_of(schema) for schema in schemas]
    return (signatures, schemas) if return_schemas else signatures


def _fits(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


@compatibility(is_backward_compatible=False)
def check_for_mutable_operation(target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise an error if a call writes one of its arguments, as far as that is clear."""
    signatures, schemas = get_signature_for_torch_op(target, return_schemas=True)
    fitting = [schema for each, schema in zip(signatures or (), schemas or ()) if _fits(each, args, kwargs)]
    if len(fitting) == 1 and fitting[0].is_mutable:
        raise RuntimeError(
            f"Tried to trace mutable operation {fitting[0]}. FX only supports functional "
            "code, so operations that mutate operands in-place (e.g. via `out` arguments) are not supported"
        )


# -------------------- types --------------------


@compatibility(is_backward_compatible=False)
def create_type_hint(x: Any) -> Any:
    """The type of a list or tuple of types: that of its elements, if one of them is a base of all."""
    if not isinstance(x, (list, tuple)):
        return x
    base = x[0] if x else Any
    for each in x:
        try:
            if issubclass(each, base):
                continue
            base = each if issubclass(base, each) else Any
        except TypeError:
            warn(f"We were not able to successfully create type hint from the type {x}", UserWarning)
            return x
        if base is Any:
            break
    return types.GenericAlias(list, (base,)) if isinstance(x, list) else types.GenericAlias(tuple, (base, ...))


@compatibility(is_backward_compatible=False)
def type_matches(signature_type: Any, argument_type: Any) -> bool:
    """Whether an argument of one type may be given where a signature has another."""
    origin = getattr(signature_type, "__origin__", signature_type)
    if signature_type is argument_type:
        return True
    if origin is Union and signature_type != argument_type:
        return any(type_matches(each, argument_type) for each in typing.get_args(signature_type))
    if origin is list:
        return _is_list_of(typing.get_args(signature_type)[0], argument_type)
    if signature_type is int and argument_type is dtype:
        return True
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    return (
        inspect.isclass(argument_type) and inspect.isclass(signature_type) and issubclass(argument_type, signature_type)
    )


def _is_list_of(element: Any, argument_type: Any) -> bool:
    if argument_type is int and element is int:  # one number stands for as many as there are
        return True
    if not inspect.isclass(element):
        warn(f"Does not support nested parametric types, got {list[element]}. Please file a bug.", UserWarning)
        return False
    origin = typing.get_origin(argument_type)
    if origin is list:
        return issubclass(typing.get_args(argument_type)[0], element)
    if origin is not tuple:
        return False
    inside = typing.get_args(argument_type)
    return inside in ((), ((),)) or all(each is ... or issubclass(each, element) for each in inside)


# -------------------- arguments of calls --------------------


@compatibility(is_backward_compatible=False)
def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of a call as the signature of its function has them, with defaults; None if there is no one
    signature that they fit. Types of the arguments help where overloads differ in these only."""
    kwargs = kwargs or {}
    signatures = None if isinstance(target, types.BuiltinFunctionType) else get_signature_for_torch_op(target)
    if isinstance(target, types.BuiltinFunctionType):
        return None
    if signatures is None:
        function = target.function if isinstance(target, OverridableFunction) else target
        return _normalized(inspect.signature(inspect.unwrap(function)), args, kwargs, normalize_to_only_use_kwargs)
    fitting = [each for each in signatures if _fits(each, args, kwargs)]
    if not fitting:
        return None
    if len(fitting) == 1:
        return _normalized(fitting[0], args, kwargs, normalize_to_only_use_kwargs)
    if arg_types is None and kwarg_types is None:
        shown = "\n".join([str(each) for each in fitting])
        raise RuntimeError(
            f"Tried to normalize arguments to {typename(target)} but the schema match was ambiguous! Please provide "
            f"argument types to the normalize_arguments() call. Available schemas:\n{shown}"
        )
    for signature in signatures:
        if _has_types(signature, arg_types or (), kwarg_types or {}):
            return _normalized(signature, args, kwargs, normalize_to_only_use_kwargs)
    return None


def _has_types(signature: Signature, arg_types: tuple[Any, ...], kwarg_types: dict[str, Any]) -> bool:
    try:
        bound = signature.bind(*arg_types, **kwarg_types)
    except TypeError:
        return False
    return all(type_matches(signature.parameters[name].annotation, each) for name, each in bound.arguments.items())


@compatibility(is_backward_compatible=False)
def normalize_module(
    root: Any,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """The arguments of the call of a module of `torch.nn` as its `forward` has them; None for other modules."""
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not have that target!"
        ) from error
    if getattr(_nn, type(module).__name__, None) is not type(module):
        return None
    signature = inspect.signature(inspect.unwrap(module.forward))
    return _normalized(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _normalized(
    signature: Signature, args: tuple[Any, ...], kwargs: dict[str, Any], only_kwargs: bool
) -> ArgsKwargsPair | None:
    plain = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    if any(each.kind not in plain for each in signature.parameters.values()):
        if list(signature.parameters) != ["input", "from_", "to", "generator"]:
            return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    positional, keywords = [], {}
    for place, (name, value) in enumerate(bound.arguments.items()):
        if not only_kwargs and place < len(args):
            positional.append(value)
        else:
            keywords[name] = value
    return ArgsKwargsPair(tuple(positional), keywords)

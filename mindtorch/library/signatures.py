"""`infer_schema`: the schema of a function, from its annotations."""

import collections.abc
import inspect
import typing
from collections.abc import Callable, Iterable
from types import GenericAlias
from typing import Any, NoReturn

from mindtorch._core.device import device
from mindtorch._core.dtype import dtype
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.schema.tags import Tag, listed_tags
from mindtorch.types import Number


def infer_schema(
    prototype_function: Callable,
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Any = (),
) -> str:
    """The schema of an annotated function: `"(Tensor x, SymInt n=2) -> Tensor"`."""
    tags = listed_tags(tags)
    if Tag.inplace in tags and Tag.out in tags:
        raise AssertionError("torch.Tag.inplace and torch.Tag.out are mutually exclusive")
    written = mutates_args if isinstance(mutates_args, str) else tuple(mutates_args)
    signature = _Signature(prototype_function, written, tags)
    arguments = ", ".join(signature.arguments())
    return f"{op_name or ''}({arguments}) -> {signature.returned()}"


# -------------------- annotations --------------------


def _lists_of(kind: Any) -> tuple:
    """The four ways to write a list."""
    return (
        typing.Sequence[kind],  # noqa: UP006
        typing.List[kind],  # noqa: UP006
        GenericAlias(collections.abc.Sequence, (kind,)),
        GenericAlias(list, (kind,)),
    )


def _variants(kind: Any, name: str, *marks: str) -> dict[Any, str]:
    """A type, its optional form, and the forms with these marks."""
    found = {kind: name, typing.Optional[kind]: f"{name}?"}  # noqa: UP045
    if "[]" in marks:
        found |= dict.fromkeys(_lists_of(kind), f"{name}[]")
    if "?[]" in marks:
        found |= dict.fromkeys(_lists_of(typing.Optional[kind]), f"{name}?[]")  # noqa: UP045
    if "[]?" in marks:
        found |= {typing.Optional[each]: f"{name}[]?" for each in _lists_of(kind)}  # noqa: UP045
    return found


_PARAMETER_TYPES: dict[Any, str] = (
    _variants(Tensor, "Tensor", "[]", "?[]")
    | _variants(int, "SymInt", "[]", "[]?")
    | _variants(float, "float", "[]", "[]?")
    | _variants(bool, "bool", "[]", "[]?")
    | _variants(str, "str")
    | _variants(Number, "Scalar", "[]")
    | _variants(dtype, "ScalarType")
    | _variants(device, "Device")
)
_RETURN_TYPES: dict[Any, str] = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",  # noqa: UP006
    list[Tensor]: "Tensor[]",
    int: "SymInt",
    float: "float",
    bool: "bool",
    Number: "Scalar",
}


def _default_text(default: Any) -> str | None:
    """A default as schemas write it; None for one that schemas cannot have."""
    if default is None or isinstance(default, (int, float)):
        return str(default)
    if isinstance(default, (str, device)):
        return f'"{default}"'
    return repr(default).removeprefix("torch.") if isinstance(default, dtype) else None


class _Signature:
    """A function's signature, turned into the parts of a schema."""

    def __init__(self, function: Callable, written: str | tuple[str, ...], tags: tuple[Tag, ...]) -> None:
        self._globals = function.__globals__
        self._signature = inspect.signature(function)
        self._written = written
        self._tags = tags
        self._parameters = list(self._signature.parameters.values())
        self._outs: dict[str, str] = {}  # the alias of each argument that `Tag.out` speaks of

    def fail(self, what: str) -> NoReturn:
        raise ValueError(f"infer_schema(func): {what} Got func with signature {self._signature})")

    # -------------------- arguments --------------------

    def arguments(self) -> list[str]:
        parts: list[str] = []
        for place, parameter in enumerate(self._parameters):
            if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
                self.fail("We do not support positional-only args, varargs, or varkwargs.")
            if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
                parts.append("*")
            parts.append(self._argument(place, parameter))
        self._check_written()
        self._check_tags()
        return parts

    def _argument(self, place: int, parameter: inspect.Parameter) -> str:
        kind = self._with_alias(place, parameter, self._type_of(parameter))
        if parameter.default is parameter.empty:
            return f"{kind} {parameter.name}"
        default = _default_text(parameter.default)
        if default is None:
            self.fail(
                f"Parameter {parameter.name} has an unsupported default value type {type(parameter.default)}. "
                "Please file an issue on GitHub so we can prioritize this."
            )
        return f"{kind} {parameter.name}={default}"

    def _type_of(self, parameter: inspect.Parameter) -> str:
        if parameter.annotation is parameter.empty:
            self.fail(f"Parameter {parameter.name} must have a type annotation.")
        annotation = self._evaluated(parameter.annotation)
        if annotation in _PARAMETER_TYPES:
            return _PARAMETER_TYPES[annotation]
        advice = ""
        if typing.get_origin(annotation) is tuple:
            advice = (
                "We do not support Tuple inputs in schema. As a workaround, please try to use List instead. "
                f"{_list_advice(annotation)}"
            )
        self.fail(
            f"Parameter {parameter.name} has unsupported type {parameter.annotation}. {advice}"
            f"The valid types are: {_PARAMETER_TYPES.keys()}."
        )

    def _with_alias(self, place: int, parameter: inspect.Parameter, kind: str) -> str:
        """The type, marked if the argument is written."""
        if isinstance(self._written, str):
            if self._written != "unknown":
                raise ValueError(
                    "mutates_args must either be a sequence of the names of the arguments that are mutated or the "
                    "string 'unknown'. "
                )
            is_written = kind.startswith("Tensor")
        else:
            is_written = parameter.name in self._written
        if not is_written:
            return kind
        if not kind.startswith("Tensor"):
            self.fail(
                f"Parameter {parameter.name} is in mutable_args but only Tensors or collections of Tensors can be "
                "mutated"
            )
        if Tag.out in self._tags:
            self._note_out(place, parameter, kind)
        return f"Tensor(a{place}!){kind.removeprefix('Tensor')}"

    def _note_out(self, place: int, parameter: inspect.Parameter, kind: str) -> None:
        if parameter.kind is not parameter.KEYWORD_ONLY:
            self.fail("torch.Tag.out requires mutable arguments to be keyword-only.")
        if kind != "Tensor":
            self.fail("torch.Tag.out only supports mutable keyword-only Tensor arguments.")
        self._outs[parameter.name] = f"a{place}"

    def _check_written(self) -> None:
        if self._written == "unknown":
            return
        unknown = set(self._written) - set(self._signature.parameters)
        if unknown:
            self.fail(
                f"{unknown} in mutates_args were not found in the custom op's signature. mutates_args should contain "
                "the names of all args that the custom op mutates, or just the string 'unknown' if you don't know."
            )

    def _check_tags(self) -> None:
        if Tag.inplace in self._tags:
            self._check_inplace()
        if Tag.out in self._tags and not self._outs:
            self.fail("torch.Tag.out requires at least one mutable keyword-only Tensor argument.")

    def _check_inplace(self) -> None:
        first = next((each for each in self._parameters if each.kind is each.POSITIONAL_OR_KEYWORD), None)
        if first is None:
            self.fail("torch.Tag.inplace requires a positional Tensor argument.")
        if self._type_of(first) != "Tensor":
            self.fail("torch.Tag.inplace requires the first positional argument to be a Tensor.")
        if isinstance(self._written, str) or set(self._written) != {first.name}:
            self.fail(
                "torch.Tag.inplace requires mutates_args to contain exactly the first positional argument, "
                f"got {self._written}."
            )

    # -------------------- results --------------------

    def returned(self) -> str:
        annotation = self._evaluated(self._signature.return_annotation)
        if Tag.out in self._tags:
            return self._returned_outs(annotation)
        result = self._returned(annotation)
        if Tag.inplace not in self._tags:
            return result
        if result != "Tensor":
            self.fail("torch.Tag.inplace requires the return annotation to be torch.Tensor.")
        return "Tensor(a0!)"

    def _returned(self, annotation: Any) -> str:
        if annotation is None:
            return "()"
        if annotation is inspect.Parameter.empty:
            self.fail("No return type annotation was provided. Please add one.")
        several = typing.get_origin(annotation) is tuple
        kinds = typing.get_args(annotation) if several else (annotation,)
        if any(kind not in _RETURN_TYPES for kind in kinds):
            self.fail(f"Return has unsupported type {annotation}. The valid types are: {_RETURN_TYPES}.")
        shown = ", ".join(_RETURN_TYPES[kind] for kind in kinds)
        if not several:
            return shown
        return f"(({shown}))" if len(kinds) == 1 else f"({shown})"

    def _returned_outs(self, annotation: Any) -> str:
        count = len(self._outs)
        is_tuple = typing.get_origin(annotation) is tuple
        kinds = typing.get_args(annotation) if is_tuple else (annotation,)
        if kinds != (Tensor,) * count or is_tuple != (count > 1):
            self.fail(
                "torch.Tag.out requires the return annotation to match the mutable keyword-only Tensor arguments "
                f"{tuple(self._outs)}."
            )
        shown = ", ".join(f"Tensor({alias}!)" for alias in self._outs.values())
        return shown if count == 1 else f"({shown})"

    # -------------------- annotations that are strings --------------------

    def _evaluated(self, annotation: Any) -> Any:
        """The annotation with strings, also those inside of a generic type, replaced by what they name."""
        if isinstance(annotation, str):
            return self._named(annotation)
        arguments = typing.get_args(annotation)
        if not any(isinstance(each, str) for each in arguments):
            return annotation
        return GenericAlias(typing.get_origin(annotation), tuple(self._evaluated(each) for each in arguments))

    def _named(self, annotation: str) -> Any:
        start = f"Unsupported type annotation {annotation}. It is not a type. "
        try:
            return eval(annotation, self._globals)
        except NameError as error:
            self.fail(
                f"{start}({error}). If you are using 'from __future__ import annotations', note that annotations are "
                "evaluated lazily as strings; make sure all types referenced in annotations are importable at module "
                "scope, not only inside a local function."
            )
        except (AttributeError, ArithmeticError, LookupError, SyntaxError, TypeError, ValueError) as error:
            self.fail(f"{start}({type(error).__name__}: {error})")


def _list_advice(annotation: Any) -> str:
    """The list to use instead of a tuple, if there is one."""
    arguments = typing.get_args(annotation)
    if not arguments:
        kind: Any = list
    elif len(arguments) == 1 or arguments[1:] == (...,):
        kind = list[arguments[0]]  # type: ignore[valid-type]
    else:
        kind = list[typing.Union[arguments]]  # type: ignore[valid-type]  # noqa: UP007
    return f"For example, {kind}.\n\n" if kind in _PARAMETER_TYPES else "\n\n"

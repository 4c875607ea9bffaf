"""Deprecated calls: the `deprecated:` entries of ops.yaml at run time.

A generated function comes here with a call that is not in its present form. If the call is in a deprecated one, it
warns, once for each line of code that makes such calls (also where the filter is "always": a training loop
would repeat it for ever), and the new call is made. Where the filter is "error", every such call raises.

Calls that PyTorch itself has deprecated get PyTorch's `UserWarning`, those of ours a `FutureWarning`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.op_names import ATEN
from mindtorch._support.warnings import warn_once_a_line
from mindtorch.dispatch.arguments.errors import Signature, refusal
from mindtorch.dispatch.arguments.given import as_given, without_defaults
from mindtorch.dispatch.methods import is_method
from mindtorch.dispatch.parameters import parameters_of
from mindtorch.dispatch.registry import OpEntry
from mindtorch.dispatch.schema.old_forms import OldForm
from mindtorch.dispatch.torch_function import handle_torch_function, overriding_arguments

_FUNCTION_OF_X = re.compile(r"^[\w.]+\.(\w+)\(x(?:, |(?=\)))")


class OldCall(OldForm):
    """A deprecated form of calls. `since` is empty where PyTorch has deprecated it, and so are the other texts then."""

    __slots__ = ("function", "since", "removal", "old", "new", "as_method")

    def __init__(
        self,
        schema_text: str,
        meaning: Callable,
        function: Callable,
        since: str = "",
        removal: str = "",
        old: str = "",
        new: str = "",
        as_method: str = "",
    ) -> None:
        super().__init__(schema_text, meaning)
        self.function = function
        self.since = since
        self.removal = removal
        self.old = old
        self.new = new
        self.as_method = as_method or schema_text  # the schema with self in the first place

    def entry(self, method: bool, takes_numbers: bool = False) -> OpEntry:
        """The form as an op of its own, for the matching of arguments and for texts."""
        text = self.as_method if method else self.schema_text
        return OpEntry(text, self.function, takes_numbers=takes_numbers)

    def warning(self, present: Iterable[OpEntry], method: bool) -> Warning:
        if self.since:
            package = "mindtorch" if self.schema.namespace == ATEN else self.schema.namespace
            old, new = (_as_method(text) if method else text for text in (self.old, self.new))
            return FutureWarning(
                f"`{old}` is deprecated since {package} {self.since} and will be removed in {self.removal}; "
                f"use `{new}` instead."
            )
        instead = "".join(f"\n\t{_shown(entry, method)}" for entry in present)
        return UserWarning(
            f"This overload of {self.schema.base} is deprecated:\n\t{_shown(self.entry(method), method)}"
            f"\nConsider using one of the following signatures instead:{instead}"
        )


def _as_method(call: str) -> str:
    """`x.roll(dims=...)` for `torch.roll(x, dims=...)`; a call of something else than a function of x stays."""
    return _FUNCTION_OF_X.sub(r"x.\1(", call)


def _shown(entry: OpEntry, method: bool) -> str:
    return f"{entry.base}({', '.join(Signature(entry, method).parts)})"


def register_old_calls(table: Iterable[tuple[Callable, tuple[OldCall, ...]]]) -> None:
    """Make the deprecated forms of calls known: each function with its own."""
    for function, forms in table:
        function.old_calls = forms  # type: ignore[attr-defined]


def old_call(function: Callable, overloads: Iterable[Callable], args: tuple, kwargs: dict[str, Any]) -> Any:
    """The end of a call that is in no present form of `function`, which calls this itself."""
    overriders = overriding_arguments((*args, *kwargs.values()))
    if any(not isinstance(value, Tensor) for value in overriders):
        return handle_torch_function(function, overriders, args, kwargs)
    method = is_method(function)
    given, keywords = without_defaults(function, args, kwargs)
    present: list[OpEntry] = [overload.op for overload in overloads]  # type: ignore[attr-defined]
    forms: tuple[OldCall, ...] = function.old_calls  # type: ignore[attr-defined]
    takes_numbers = any(entry.takes_numbers for entry in present)
    for form in forms:
        for values, named in _readings(function, given, keywords):
            arguments = _bound(Signature(form.entry(method, takes_numbers), method), values, named, method)
            if arguments is not None:
                _warn(form, present, method, function.__module__)
                return form.call(form.function, arguments)
    entries = present or [form.entry(method) for form in forms]
    is_torchs = any(not form.since for form in forms)
    error = refusal(entries, *as_given(function, args, kwargs), method, has_hidden=is_torchs)
    raise error or TypeError(f"{function.__name__}(): invalid arguments")


def _warn(form: OldCall, present: Iterable[OpEntry], method: bool, module: str) -> None:
    warn_once_a_line(lambda: form.warning(present, method), form.schema_text, module)


def _readings(function: Callable, given: tuple, keywords: dict[str, Any]) -> Iterator[tuple[tuple, dict[str, Any]]]:
    """How a call may have been written: what stands in the places of `function` was perhaps given by name."""
    yield given, keywords
    names = parameters_of(function).names
    if len(given) <= len(names):
        yield given[:1], dict(zip(names[1:], given[1:])) | keywords
        yield (), dict(zip(names, given)) | keywords


def _bound(signature: Signature, values: tuple, named: dict[str, Any], method: bool) -> dict[str, Any] | None:
    """The arguments of a call by name, None if it is not in this form."""
    names = ["input"] * method + [argument.name for argument in signature.positional]
    by_position = dict(zip(names, values))
    is_twice = bool(by_position.keys() & named.keys())
    if is_twice or (method and not values) or signature.mismatch(values[method:], named) is not None:
        return None
    return by_position | named

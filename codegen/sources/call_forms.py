"""What calls in formulas may look like: the parameters of helpers, of ops and of the methods of tensors."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..errors import did_you_mean
from ..model import FunctionSchema

_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class CallForm:
    """The parameters of one function.

    ``rest``  what collects any number of positional arguments; "" if nothing does
    ``more``  whether it takes any keywords
    """

    positional: tuple[str, ...] = ()
    keyword_only: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()
    rest: str = ""
    more: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return *self.positional, *self.keyword_only

    def accepts(self, positional: int, keywords: Collection[str]) -> bool:
        given = {*self.positional[:positional], *keywords}
        is_once = len(given) == min(positional, len(self.positional)) + len(keywords)
        is_known = self.more or given <= set(self.names)
        is_complete = set(self.names) - self.optional <= given
        return is_once and is_known and is_complete and (bool(self.rest) or positional <= len(self.positional))

    def spelled(self, function: str) -> str:
        """``sum(input, dim, keepdim=..., *, dtype=...)``"""
        words = [self._spelled(name) for name in self.positional if name != self.rest]
        keywords = [self._spelled(name) for name in self.keyword_only]
        star = [f"*{self.rest}"] if keywords or self.rest else []
        return f"{function}({', '.join([*words, *star, *keywords])})"

    def _spelled(self, name: str) -> str:
        return f"{name}=..." if name in self.optional else name


# The ways in which a name can be called, those of all its overloads. None at all: it is an attribute and no method.
CallForms: TypeAlias = tuple[CallForm, ...]
# Of what nothing is known but that it is there.
ANY_CALL: CallForms = (CallForm(rest="arguments", more=True),)


def form_of_schema(schema: FunctionSchema, *, method: bool) -> CallForm:
    """How an op is called, as a function or behind the dot of ``self``. All outputs of an ``out=`` op are ``out``."""
    arguments = [each for each in schema.inputs if not (method and each.name == "self")]
    out = ("out",) if schema.out_arguments else ()
    separate = schema.separate_ints if method or schema.self_argument is None else None
    return CallForm(
        positional=tuple(each.python_name for each in arguments if not each.kwarg_only),
        keyword_only=(*(each.python_name for each in arguments if each.kwarg_only), *out),
        optional=frozenset(each.python_name for each in arguments if each.default is not None),
        rest=separate.python_name if separate else "",
    )


def forms_by_name(schemas: Iterable[FunctionSchema], *, method: bool) -> dict[str, CallForms]:
    """The forms of all overloads of each name."""
    forms: dict[str, CallForms] = {}
    for schema in schemas:
        forms[schema.name] = *forms.get(schema.name, ()), form_of_schema(schema, method=method)
    return forms


def form_of_function(arguments: ast.arguments, *, method: bool = False) -> CallForm:
    """How a function is called that Python source defines."""
    positional = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    keyword_only = [argument.arg for argument in arguments.kwonlyargs]
    optional = positional[len(positional) - len(arguments.defaults) :]
    optional += [name for name, default in zip(keyword_only, arguments.kw_defaults) if default is not None]
    return CallForm(
        positional=tuple(positional[1:] if method else positional),
        keyword_only=tuple(keyword_only),
        optional=frozenset(optional),
        rest=arguments.vararg.arg if arguments.vararg else "",
        more=arguments.kwarg is not None,
    )


def form_of_member(member: ast.stmt) -> CallForms:
    """How an attribute of a class is called: not at all, if it is a property."""
    if not isinstance(member, ast.FunctionDef):
        return ANY_CALL
    decorators = [node.id for node in member.decorator_list if isinstance(node, ast.Name)]
    if "property" in decorators:
        return ()
    return ANY_CALL if member.decorator_list else (form_of_function(member.args, method=True),)


def is_surely_method(name: str, attributes: Mapping[str, CallForms]) -> bool:
    """Whether an attribute is worth nothing until it is called."""
    forms = attributes.get(name, ())
    return bool(forms) and forms != ANY_CALL


def mistakes(function: str, forms: CallForms, call: ast.Call) -> Iterator[tuple[str, ast.keyword | None, str]]:
    """What is wrong with a call that no form takes: the message, the keyword that is to blame, and the remedy.

    What a call unpacks (``*sizes``) is not known.
    """
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    is_visible = not starred and len(keywords) == len(call.keywords)
    if not is_visible or any(form.accepts(len(call.args), keywords) for form in forms):
        return
    hint, known = f"it is {_spelled(function, forms)}", {name for form in forms for name in form.names}
    unknown = [keyword for keyword in call.keywords if keyword.arg not in known]
    for keyword in unknown:
        meant = did_you_mean(keyword.arg or "", known)
        yield f"{function}() has no argument '{keyword.arg}'", keyword, meant or hint
    if not unknown:
        given = f"{len(call.args)} positional" + (f" and keywords {', '.join(keywords)}" if keywords else "")
        yield f"wrong arguments for {function}(): {given}", None, hint


def _spelled(function: str, forms: CallForms) -> str:
    """The forms as they are written, short ones first."""
    ordered = sorted(forms, key=lambda form: len(form.names))
    shown = list(dict.fromkeys(form.spelled(function) for form in ordered))
    return " or ".join(shown[:_MOST_SHOWN]) + (" or others" if len(shown) > _MOST_SHOWN else "")

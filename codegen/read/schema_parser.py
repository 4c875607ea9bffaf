"""The grammar of schema strings: a tokenizer and a recursive-descent parser; ``str(parse_schema(s)) == s``.

schema    = name ["." overload] "(" [arguments] ")" "->" returns
arguments = argument {"," argument}, with one "*" before the keyword-only ones
argument  = type name ["=" default]
returns   = type [name] | "(" [type [name] {"," type [name]}] ")"
type      = base ["(" alias ")"] {"?" | "[" [size] "]"}
alias     = set ["!"] ["->" set],  set = letter {"|" letter} | "*"
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from ..errors import Problems, did_you_mean
from ..model import Alias, Argument, BaseType, FunctionSchema, ListType, Location, OptionalType, Return, Type
from .yaml_source import Scalar

BASE_TYPES = frozenset(
    "Tensor Scalar int SymInt float bool SymBool str complex ScalarType Layout Device DeviceIndex MemoryFormat"
    " Generator Dimname QScheme Storage Stream".split()
)
_TOKEN = re.compile(
    r"""(?P<space>\s+) | (?P<arrow>->) | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    | (?P<number>-?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?) | (?P<word>[A-Za-z_]\w*) | (?P<mark>[()\[\],*?!=.|])""",
    re.VERBOSE | re.ASCII,
)
_OP_NAME = re.compile("_*[a-z][A-Za-z0-9_]*")
_NAME_HINT = "it starts with a small letter, behind '_' at most, and is no word of Python itself"
_T = TypeVar("_T")
_MOST_BRACKETS = 8  # of one type
# What types are called in C++, in Python and in signatures of PyTorch's documentation.
_OTHER_SPELLINGS = {
    "tensorlist": "Tensor[]",
    "intlist": "int[]",
    "intarrayref": "int[]",
    "long": "int",
    "int64_t": "int",
    "double": "float",
    "boolean": "bool",
    "string": "str",
    "number": "Scalar",
    "dtype": "ScalarType",
    "list": "int[] for a list of ints",
    "sequence": "int[] for a list of ints",
    "tuple": "int[2] for two ints",
    "optional": "int? for an optional int",
    "union": "Scalar for any number, or an overload for each type",
    "any": "the type of each overload",
    "size": "SymInt[]",
}
_FORM_HINT = "a schema is written name.overload(Type name, Type name=default, *, Type name) -> Type"


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class SchemaError(Exception):
    """A schema string that does not parse; ``offset`` is where."""

    def __init__(self, code: str, message: str, offset: int, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.offset, self.hint = code, message, offset, hint


def parse_any_spelling(source: Scalar) -> FunctionSchema:
    """Parse a schema string; raises SchemaError."""
    return _Parser(source).schema()


def parse_schema(source: Scalar) -> FunctionSchema:
    """Parse a schema string that is spelled as ours are; raises SchemaError."""
    schema = parse_any_spelling(source)
    if str(schema) != source.text:
        offset = next(i for i, (a, b) in enumerate(zip(source.text + "\0", f"{schema}\1")) if a != b)
        raise SchemaError("E029", "the schema is not spelled in the canonical way", offset, f"write it as '{schema}'")
    return schema


def read_schema(source: Scalar, problems: Problems) -> FunctionSchema | None:
    """Parse a schema string; None, with a diagnostic, when it is wrong."""
    try:
        return parse_schema(source)
    except SchemaError as error:
        problems.add(error.code, error.message, source.at(error.offset), error.hint)
        return None


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise SchemaError("E020", f"unexpected character {text[position]!r} in the schema", position, _FORM_HINT)
        if match.lastgroup != "space":
            yield Token(str(match.lastgroup), match.group(), position)
        position = match.end()
    yield Token("end", "", len(text))


class _Parser:
    """One method per rule of the grammar."""

    def __init__(self, source: Scalar) -> None:
        self._source = source
        self._tokens = tuple(_tokens(source.text))
        self._position = 0

    # reading tokens

    @property
    def _next(self) -> Token:
        return self._tokens[self._position]

    def _advance(self) -> Token:
        token = self._next
        self._position += token.kind != "end"
        return token

    def _accept(self, text: str) -> bool:
        found = self._next.text == text and self._next.kind in ("mark", "arrow")
        if found:
            self._advance()
        return found

    def _expect(self, text: str, after: str) -> None:
        if not self._accept(text):
            raise self._unexpected(f"'{text}' {after}")

    def _word(self, what: str) -> Token:
        if self._next.kind != "word":
            raise self._unexpected(what)
        return self._advance()

    def _unexpected(self, wanted: str) -> SchemaError:
        found = f"'{self._next.text}'" if self._next.text else "the end"
        return SchemaError("E020", f"expected {wanted}, found {found}", self._next.start, _FORM_HINT)

    def _location(self, token: Token) -> Location:
        return self._source.at(token.start)

    # the grammar

    def schema(self) -> FunctionSchema:
        name = self._word("the op's name")
        overload = self._word("an overload name behind '.'").text if self._accept(".") else ""
        self._expect("(", "before the arguments")
        arguments = tuple(self._arguments())
        self._expect("->", "before the returns")
        tuple_return = self._next.text == "("
        returns = self._return_tuple() if tuple_return else (self._return(),)
        if self._next.kind != "end":
            raise self._unexpected("the end of the schema")
        base, inplace = _split_name(name.text)
        self._check_name(name, base)
        return FunctionSchema(base, inplace, overload, arguments, returns, self._location(name), tuple_return)

    def _check_name(self, name: Token, base: str) -> None:
        """An op is a function, and its kernels have its name; `Gap` would be a class."""
        if not _is_name(base):
            hint = f"write '{name.text.casefold()}': {_NAME_HINT}" if _is_name(base.casefold()) else _NAME_HINT
            raise SchemaError("E028", f"'{name.text}' cannot be the name of an op", name.start, hint)

    def _separated(self, item: Callable[[], _T]) -> Iterator[_T]:
        """Items between commas, up to and with the closing bracket."""
        if self._accept(")"):
            return
        yield item()
        while self._accept(","):
            yield item()
        self._expect(")", "or ','")

    def _arguments(self) -> Iterator[Argument]:
        self._kwarg_only = self._defaulted = False
        seen: set[str] = set()
        for argument, start in self._separated(self._argument):
            if argument is None:
                continue
            if argument.name in seen:
                raise SchemaError("E023", f"duplicate argument '{argument.name}'", start, "rename one of the two")
            seen.add(argument.name)
            yield argument

    def _argument(self) -> tuple[Argument | None, int]:
        if self._next.text == "*":
            return None, self._star()
        type_, alias = self._type()
        name = self._word("an argument name")
        default = self._default(type_) if self._accept("=") else None
        self._check_order(name, default)
        return Argument(name.text, type_, self._location(name), default, alias, self._kwarg_only), name.start

    def _star(self) -> int:
        star = self._advance()
        if self._kwarg_only:
            raise SchemaError("E023", "a second '*' among the arguments", star.start, "remove it")
        if self._next.text != ",":
            raise SchemaError("E023", "no keyword-only argument behind '*'", star.start, "write '*, Type name'")
        self._kwarg_only = True
        return star.start

    def _check_order(self, name: Token, default: str | None) -> None:
        """Python allows a required argument behind a defaulted one only among the keyword-only ones."""
        if default is not None:
            self._defaulted = True
        elif self._defaulted and not self._kwarg_only:
            message = f"argument '{name.text}' has no default but follows one that has"
            raise SchemaError("E023", message, name.start, "give it a default, or move it to the front")

    def _return_tuple(self) -> tuple[Return, ...]:
        self._advance()
        return tuple(self._separated(self._return))

    def _return(self) -> Return:
        type_, alias = self._type()
        name = self._advance().text if self._next.kind == "word" else None
        return Return(type_, name, alias)

    def _type(self) -> tuple[Type, Alias | None]:
        token = self._word("a type")
        if token.text not in BASE_TYPES:
            meant = _OTHER_SPELLINGS.get(token.text.casefold())
            hint = (
                f"write {meant}"
                if meant
                else did_you_mean(token.text, BASE_TYPES) or f"for example: {', '.join(_EXAMPLES)}, Tensor"
            )
            raise SchemaError("E021", f"unknown type '{token.text}'", token.start, hint)
        type_: Type = BaseType(token.text)
        alias = self._alias() if self._accept("(") else None
        last = self._position + _MOST_BRACKETS
        while self._next.text in ("?", "["):
            if self._position > last:
                raise SchemaError("E021", "such a deeply nested type", token.start, "such as Tensor?[]?, but no deeper")
            type_ = OptionalType(type_) if self._accept("?") else self._list(type_)
        return type_, alias

    def _list(self, element: Type) -> Type:
        self._expect("[", "")
        size = int(self._advance().text) if self._next.text.isdigit() else None
        self._expect("]", "behind the list size")
        return ListType(element, size)

    def _alias(self) -> Alias:
        before = self._alias_set()
        write = self._accept("!")
        after = self._alias_set() if self._accept("->") else ()
        self._expect(")", "behind the alias annotation")
        return Alias(before, write, after)

    def _alias_set(self) -> tuple[str, ...]:
        names = [self._alias_name()]
        while self._accept("|"):
            names.append(self._alias_name())
        return tuple(names)

    def _alias_name(self) -> str:
        return "*" if self._accept("*") else self._word("an alias name such as 'a'").text

    def _default(self, type_: Type) -> str:
        if self._next.text != "[" and self._next.kind not in ("word", "number", "string"):
            raise self._unexpected("a default")
        first = self._advance()
        text = first.text + (self._list_items() if first.text == "[" else "")
        if not is_default(type_, text):
            message = f"the default {text} does not fit type {type_}"
            raise SchemaError("E022", message, first.start, _default_hint(type_))
        return text

    def _list_items(self) -> str:
        """What follows '[', up to and with ']'."""
        start = self._position
        while self._next.text not in ("]", ")", ""):
            self._advance()
        self._expect("]", "behind the default list")
        return "".join(token.text for token in self._tokens[start : self._position])


def _is_name(base: str) -> bool:
    return _OP_NAME.fullmatch(base) is not None and not keyword.iskeyword(base)


def _split_name(name: str) -> tuple[str, bool]:
    """``mul_`` is the in-place form of ``mul``; ``__and__`` is a name of its own, and ``__iand__`` too."""
    if name.endswith("_") and not name.endswith("__"):
        return name[:-1], True
    return name, False


# -------------------- defaults --------------------

_SYMBOLS = {
    "int": {"Mean"},
    "ScalarType": {"long"},
    "MemoryFormat": {"contiguous_format"},
}
_LITERALS: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "SymInt": (int,),
    "float": (int, float),
    "Scalar": (int, float),
    "complex": (int, float),
    "bool": (bool,),
    "str": (str,),
}
_EXAMPLES = {
    "bool": "True or False",
    "str": "a quoted text",
    "int": "an integer",
    "SymInt": "an integer",
    "float": "a number",
    "Scalar": "a number",
}


def is_default(type_: Type, text: str) -> bool:
    """Whether ``text`` can be the default of an argument of that type."""
    if isinstance(type_, OptionalType):
        return text == "None" or is_default(type_.element, text)
    if isinstance(type_, ListType):
        return _is_list_default(type_, text)
    if text in _SYMBOLS.get(type_.base, ()):
        return True
    return type(_literal(text)) in _LITERALS.get(type_.base, ())


def _is_list_default(type_: ListType, text: str) -> bool:
    """A list of element defaults; a fixed-size list also takes one element for all."""
    if text.startswith("["):
        items = [item.strip() for item in text[1:-1].split(",")] if text != "[]" else []
        return all(is_default(type_.element, item) for item in items)
    return type_.size is not None and is_default(type_.element, text)


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None


def _default_hint(type_: Type) -> str:
    if isinstance(type_, OptionalType):
        return "write None, or a default of the type without '?'"
    if isinstance(type_, ListType):
        return "write a list such as [] or [0,1]" + (", or one value for all elements" if type_.size else "")
    if type_.holds_tensors:
        return "a tensor has no default: make it 'Tensor? name=None', or remove the default"
    return f"write {_EXAMPLES.get(type_.base, 'a value of that type')}"

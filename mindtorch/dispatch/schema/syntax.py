"""The schema strings that users write: parsed strictly, with torch's errors, and printed as torch prints them.

The generator has checked the schemas of the library's own ops, which `mindtorch.dispatch.schema.function_schema`
therefore reads without asking many questions. This module is for `mindtorch.library`, where a schema comes from a user.
"""

import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

from mindtorch._core.device import device
from mindtorch.dispatch.schema.types import ESCAPES, PLAIN_TYPES, SchemaType, default_text, named_default

_TOKEN = re.compile(
    r"\s*(?:(?P<ident>[A-Za-z_]\w*)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<string>'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")"
    r"|(?P<arrow>->)|(?P<dots>\.\.\.)|(?P<mark>::|[^\s]))"
)
_COMMENT = re.compile(r"#[^\n]*")
_NO_TOKENS = frozenset("\"'`$;\\")
_ESCAPED = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_UNESCAPED = {letter: character for character, letter in ESCAPES.items()}
_UNKNOWN_TYPE = (
    "\nunknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full "
    "list, please see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func "
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a schema, or one of the values it returns, which may have no name."""

    type: SchemaType
    name: str
    alias: str = ""  # what stands in the brackets of `Tensor(a!)`
    keyword_only: bool = False
    has_default: bool = False
    default: Any = None

    @property
    def written(self) -> bool:
        return "!" in self.alias

    def __str__(self) -> str:
        name = f" {self.name}" if self.name else ""
        default = f"={default_text(self._shown_default)}" if self.has_default else ""
        return f"{self.type.with_alias(self.alias)}{name}{default}"

    @property
    def _shown_default(self) -> Any:
        """The default, of which torch writes `int[2] stride=1` if all of its elements are the same."""
        default = self.default
        is_same = self.type.base == "int" and isinstance(default, list) and len(default) > 1 and len({*default}) == 1
        return default[0] if is_same else default


@dataclass(frozen=True, slots=True)
class Declaration:
    """A schema: the name of the op and of its overload, what it takes and what it returns."""

    name: str  # as written, with the namespace if there was one
    overload: str
    arguments: tuple[Parameter, ...]
    returns: tuple[Parameter, ...]
    returns_tuple: bool = False  # `((Tensor))`: one value, which comes in a tuple

    @property
    def full_name(self) -> str:
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def is_mutable(self) -> bool:
        return any(argument.written for argument in self.arguments)

    @property
    def is_view(self) -> bool:
        """Whether a result shares memory with an argument that is not written."""
        return self.returns_alias and not self.is_mutable

    @property
    def returns_alias(self) -> bool:
        return any(result.alias for result in self.returns)

    def __str__(self) -> str:
        parts = [str(argument) for argument in self.arguments]
        first = next((place for place, argument in enumerate(self.arguments) if argument.keyword_only), None)
        if first is not None:
            parts.insert(first, "*")
        return f"{self.full_name}({', '.join(parts)}) -> {self._returned()}"

    def _returned(self) -> str:
        shown = ", ".join(str(result) for result in self.returns)
        if self.returns_tuple:
            return f"(({shown}))"
        return shown if len(self.returns) == 1 else f"({shown})"


def parse_declaration(text: str) -> Declaration:
    """The declaration of a schema string; a RuntimeError with torch's text for anything else."""
    return _Parser(text).declaration()


@dataclass(slots=True)
class _Token:
    kind: str  # ident, number, string, arrow, eof, or the mark itself
    text: str
    start: int


def _tokens(text: str) -> list[_Token]:
    tokens = []
    for found in _TOKEN.finditer(_COMMENT.sub(lambda comment: " " * len(comment[0]), text)):
        kind = found.lastgroup or ""
        word = found[kind]
        shown = {"mark": word, "dots": "...", "arrow": "arrow", "string": "string_literal"}.get(kind, kind)
        tokens.append(_Token("None" if word == "None" else shown, word, found.start(kind)))
    return [*tokens, _Token("eof", "", len(text))]


@dataclass(slots=True)
class _Parser:
    """Reads the tokens from left to right; `at` is the place of the next one."""

    text: str
    at: int = 0
    written: int = 0  # how many arguments and results are written and have no alias with a name
    tokens: list[_Token] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tokens = _tokens(self.text)

    # -------------------- tokens --------------------

    @property
    def next(self) -> _Token:
        return self.tokens[self.at]

    def take(self, kind: str) -> bool:
        """Step over the next token if it is of this kind."""
        if self.next.kind != kind:
            return False
        self.at += 1
        return True

    def text_of(self, kind: str) -> str:
        """The text of the next token, which is stepped over, or nothing if it is of another kind."""
        token = self.next
        return token.text if self.take(kind) else ""

    def expect(self, kind: str) -> _Token:
        token = self.next
        if token.kind != kind:
            wanted = "a valid token" if token.kind in _NO_TOKENS else kind
            raise RuntimeError(f"expected {wanted} but found '{token.kind}' here{self.place(token)}")
        self.at += 1
        return token

    def fail(self, message: str, token: _Token) -> NoReturn:
        raise RuntimeError(message + self.place(token))

    def place(self, token: _Token) -> str:
        """The schema with the token underlined."""
        if token.kind == "eof":
            return f":\n{self.text}"
        return f":\n{self.text}\n{' ' * token.start}{'~' * len(token.text)} <--- HERE\n"

    # -------------------- the grammar --------------------

    def declaration(self) -> Declaration:
        name = self.expect("ident").text
        while self.take("::"):
            name += "::" + self.expect("ident").text
        overload = self.overload_name() if self.take(".") else ""
        if self.next.kind != "(":
            self.expect("eof")
            raise RuntimeError("Tried to parse a function schema but only the operator name was given")
        arguments = self.arguments()
        self.expect("arrow")
        returns, is_tuple = self.returns()
        self.expect("eof")
        declaration = Declaration(name, overload, arguments, returns, is_tuple)
        _check_order(declaration)
        return declaration

    def overload_name(self) -> str:
        name = self.expect("ident").text
        if name == "default":
            raise RuntimeError("default is not a legal overload name for aten operators")
        return name

    def arguments(self) -> tuple[Parameter, ...]:
        self.expect("(")
        found: list[Parameter] = []
        keyword_only = False
        while not self.take(")"):
            if found or keyword_only:
                self.expect(",")
            if self.take("*"):
                keyword_only = True
            else:
                found.append(self.argument(keyword_only))
            if self.next.kind not in (",", ")"):
                self.expect(")")
        return tuple(found)

    def argument(self, keyword_only: bool) -> Parameter:
        kind, alias = self.type()
        name = self.expect("ident").text
        if not self.take("="):
            return Parameter(kind, name, alias, keyword_only)
        return Parameter(kind, name, alias, keyword_only, True, self.default(kind))

    def returns(self) -> tuple[tuple[Parameter, ...], bool]:
        """What is returned, and whether it is a tuple of one."""
        if not self.take("("):
            return (self.result(),), False
        is_tuple = self.take("(")
        found: list[Parameter] = []
        while not self.take(")"):
            if found:
                self.expect(",")
            found.append(self.result())
            if self.next.kind not in (",", ")"):
                self.expect(")")
        if is_tuple:
            self.expect(")")
        return tuple(found), is_tuple

    def result(self) -> Parameter:
        kind, alias = self.type()
        return Parameter(kind, self.text_of("ident"), alias)

    def type(self) -> tuple[SchemaType, str]:
        token = self.expect("ident")
        if token.text not in PLAIN_TYPES:
            self.fail(_UNKNOWN_TYPE, token)
        alias = self.alias() if self.take("(") else self.own_alias() if self.take("!") else ""
        marks: list[str] = []
        while self.next.kind in ("?", "["):
            marks.append("?" if self.take("?") else self.list_mark())
        return SchemaType(token.text, tuple(marks)), alias

    def list_mark(self) -> str:
        self.expect("[")
        if self.take("]"):
            return "[]"
        size = self.expect("number").text
        self.expect("]")
        return f"[{size}]"

    def alias(self) -> str:
        """What stands between the brackets behind `Tensor`: `a`, `a!`, `a|b`, `a -> *`, `*`."""
        if self.take("*"):
            self.expect(")")
            return "*"
        names = [self.expect("ident").text]
        while self.take("|"):
            names.append(self.expect("ident").text)
        mark = "!" if self.take("!") else ""
        after = ""
        if self.take("arrow"):
            after = " -> " + ("*" if self.take("*") else self.expect("ident").text)
        self.expect(")")
        return "|".join(sorted(names, reverse=True)) + mark + after

    def own_alias(self) -> str:
        """The alias of `Tensor!`, which is written and is like no other: torch numbers them."""
        self.written += 1
        return f"${self.written - 1}! -> "

    # -------------------- defaults --------------------

    def default(self, kind: SchemaType) -> Any:
        if kind.marks and not kind.optional:
            return self.list_default(kind)
        if self.take("None"):
            return None
        if kind.base in ("Tensor", "Generator"):
            return self.expect("None")
        return self.plain_default(kind)

    def list_default(self, kind: SchemaType) -> Any:
        if kind.size and self.next.kind != "[":
            return [self.plain_default(kind)] * kind.size  # int[2] x=0
        start = self.expect("[")
        if kind.base not in ("int", "SymInt", "float", "bool", "complex") or len(kind.marks) > 1:
            self.fail("\nlists are only supported for float, int and complex types", start)
        values: list[Any] = []
        while not self.take("]"):
            if values:
                self.expect(",")
            values.append(self.plain_default(kind))
        return values

    def plain_default(self, kind: SchemaType) -> Any:
        token = self.next
        if kind.base == "str":
            return self.string()
        if kind.base == "Device":
            return device(self.string())
        if token.kind == "ident":
            self.at += 1
            value = named_default(token.text)
            if value is None:
                self.fail("\ninvalid numeric default value", self.next)
            return value
        return self.number(kind)

    def string(self) -> str:
        token = self.expect("string_literal")

        def unescaped(found: re.Match) -> str:
            code = found[1]
            if code.isdigit():
                return chr(int(code, 8))
            if code not in _UNESCAPED:
                self.fail("\nunsupported hex specifier" if code == "x" else "\n ill formed octal specifier", token)
            return _UNESCAPED[code]

        return _ESCAPED.sub(unescaped, token.text[1:-1])

    def number(self, kind: SchemaType) -> Any:
        sign = -1 if self.take("-") else 1
        text = self.expect("number").text
        value = sign * (int(text) if text.isdigit() else float(text))
        return float(value) if kind.base == "float" else value


def _check_order(declaration: Declaration) -> None:
    """Positional arguments without a default come first."""
    seen = False
    for argument in declaration.arguments:
        if seen and not argument.has_default and not argument.keyword_only:
            raise RuntimeError(
                "Non-default positional argument follows default argument. "
                f"Parameter {argument.name} in {declaration}"
            )
        seen = seen or argument.has_default

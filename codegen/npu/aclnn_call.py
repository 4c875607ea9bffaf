"""The call that `aclnn` of ops.yaml is: a small language, read into values that know where they are written.

    aclnnAdd(self, other, alpha, out)
    aclnnMean(self, dims(dim), keepdim, dtype, out)
    aclnnEmbedding(weight, indices, out) without padding_idx, scale_grad_by_freq, sparse
    aclnnIndex(self, indices, out); masks become indices first

The position of a value decides which argument of the function it is. What follows `without` are the op's arguments that
the call does not need. A reason behind `;` says why the kernel is written by hand: the call is only a part of it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

Constant: TypeAlias = bool | int | float | str | None

FUNCTIONS = ("dims", "sizes", "or", "code", "tensor", "clone")
_TOKEN = re.compile(
    r"\s*(?:(?P<constant>-?\d+(?:\.\d+)?(?:e-?\d+)?\b|'[^']*'|(?:None|True|False)\b)|(?P<name>[A-Za-z]\w*)|(?P<sign>[(),=]))"
)
_FORM = "write aclnnAdd(self, other, alpha, out): the function, and its arguments in order"


class NotACall(Exception):
    """A text is no call: why, and where in it."""

    def __init__(self, message: str, offset: int, hint: str = _FORM) -> None:
        super().__init__(message)
        self.message, self.offset, self.hint = message, offset, hint


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a call. ``text`` is what is written, ``offset`` where.

    ``name``       what it is about: an argument or result of the op, or a word such as ``dtype``; "" for a constant
    ``constant``   a number, a text, True, False or None, if there is no name
    ``function``   what is done with the name: "" for nothing
    ``otherwise``  what stands for None in ``or`` and ``code``
    ``codes``      the second half of ``code``: a constant for each word
    """

    text: str
    offset: int
    name: str = ""
    constant: Constant = None
    function: str = ""
    otherwise: Value | None = None
    codes: tuple[tuple[str, Value], ...] = ()

    @property
    def is_constant(self) -> bool:
        return not self.name and not self.function

    @property
    def names(self) -> tuple[Value, ...]:
        """The names in it, each as a value of its own."""
        own = (self,) if self.name else ()
        return (*own, *(self.otherwise.names if self.otherwise else ()))


@dataclass(frozen=True, slots=True)
class AclnnCall:
    function: str
    values: tuple[Value, ...]
    without: tuple[Value, ...] = ()
    reason: str = ""


def parse_call(text: str) -> AclnnCall:
    """Raises NotACall."""
    call, _, reason = text.partition(";")
    return _Parser(call).call(reason.strip())


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._end = len(text.rstrip())
        self._at = 0

    def call(self, reason: str) -> AclnnCall:
        name = self._take("name")
        if not re.fullmatch(r"aclnn[A-Z]\w*", name):
            self._fail(f"'{self._text.strip()}' is no call of an ACLNN function", 0)
        self._take("sign", "(")
        values = tuple(self._values())
        without = tuple(self._words()) if self._at < self._end else ()
        if self._at < self._end:
            self._fail(f"'{self._text[self._at:].strip()}' is more than a call", self._next())
        return AclnnCall(name, values, without, reason)

    def _values(self) -> Iterator[Value]:
        """Up to the closing bracket."""
        yield self._value()
        while self._take("sign") == ",":
            yield self._value()
        self._expect_before(")")

    def _value(self) -> Value:
        start = self._next()
        if constant := self._peek("constant"):
            self._take("constant")
            return Value(constant, start, constant=ast.literal_eval(constant))
        name = self._take("name")
        if self._peek("sign") != "(":
            return Value(name, start, name)
        if name not in FUNCTIONS:
            self._fail(
                f"'{name}' is nothing that can be done with an argument", start, f"there are {', '.join(FUNCTIONS)}"
            )
        self._take("sign", "(")
        return self._function(name, start)

    def _function(self, function: str, start: int) -> Value:
        if function == "dims" and self._peek("sign") == ")":
            self._take("sign")
            return Value("dims()", start, function=function)
        name = self._take("name")
        otherwise, codes = None, []
        while self._take("sign") == ",":
            before = self._at
            if self._peek("name") and self._sign_after_name() == "=":
                word = self._take("name")
                self._take("sign")
                codes.append((word, self._value()))
            else:
                self._at = before
                otherwise = self._value()
        self._expect_before(")")
        is_right = {"or": otherwise is not None, "code": True}.get(function, otherwise is None)
        if not is_right or bool(codes) != (function == "code"):
            self._fail(f"'{self._text[start:self._at]}' is not how '{function}' is written", start, _HOW[function])
        return Value(self._text[start : self._at], start, name, None, function, otherwise, tuple(codes))

    def _words(self) -> Iterator[Value]:
        """What follows `without`."""
        self._take("name", "without")
        while True:
            start = self._next()
            name = self._take("name")
            yield Value(name, start, name)
            if self._peek("sign") != ",":
                return
            self._take("sign")

    # ---- tokens ----

    def _next(self) -> int:
        """Where the next token begins."""
        rest = self._text[self._at :]
        return min(self._at + len(rest) - len(rest.lstrip()), self._end)

    def _peek(self, kind: str) -> str:
        found = _TOKEN.match(self._text, self._at)
        return found[kind] or "" if found else ""

    def _sign_after_name(self) -> str:
        found = _TOKEN.match(self._text, self._at)
        after = _TOKEN.match(self._text, found.end()) if found else None
        return after["sign"] or "" if after else ""

    def _take(self, kind: str, wanted: str = "") -> str:
        token = self._peek(kind)
        if not token or wanted and token != wanted:
            self._fail(f"'{self._text.strip()}' is no call of an ACLNN function", self._next())
        found = _TOKEN.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return token

    def _expect_before(self, sign: str) -> None:
        if self._text[self._at - 1] != sign:
            self._fail(f"'{self._text.strip()}' is no call of an ACLNN function", self._at - 1)

    def _fail(self, message: str, offset: int, hint: str = _FORM) -> NoReturn:
        raise NotACall(message, offset, hint)


_HOW = {
    "dims": "write dims(dim), or dims() for all dimensions",
    "sizes": "write sizes(stride): a number for each dimension of an image, where one stands for all",
    "tensor": "write tensor(other): a number, as a tensor",
    "or": "write or(eps, -1.0): the argument, and what it is if it is None",
    "code": "write code(approximate, none=0, tanh=1): the argument, and a constant for each word that it may be",
    "clone": "write clone(self): the result, which begins as a copy of the argument",
}

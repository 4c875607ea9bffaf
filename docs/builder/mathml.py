"""The elements of MathML that formulas need, as text. Browsers show them without JavaScript."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "eps": "ε", "lambd": "λ", "theta": "θ"}


def element(tag: str, *content: str, **attributes: str) -> str:
    words = "".join(f' {name}="{escape(value)}"' for name, value in attributes.items())
    return f"<{tag}{words}>{''.join(content)}</{tag}>"


def identifier(name: str) -> str:
    """A variable or a function: a single letter is set in italics, a word upright."""
    return element("mi", escape(_GREEK.get(name, name)))


def operator(sign: str) -> str:
    return element("mo", escape(sign))


def number(text: str) -> str:
    return element("mn", escape(text))


def words(text: str) -> str:
    return element("mtext", escape(text))


def space() -> str:
    return element("mspace", width="0.4em")


def row(*content: str) -> str:
    return content[0] if len(content) == 1 else element("mrow", *content)


def fraction(numerator: str, denominator: str) -> str:
    return element("mfrac", numerator, denominator)


def power(base: str, exponent: str) -> str:
    return element("msup", base, exponent)


def index(base: str, below: str) -> str:
    return element("msub", base, below)


def root(content: str) -> str:
    return element("msqrt", content)


def tangent(content: str) -> str:
    """The tangent of a value; no accent, which fonts without mathematics put in the wrong place."""
    return row(identifier("δ"), content)


def under(base: str, below: str) -> str:
    return element("munder", base, below)


def listed(items: Iterable[str]) -> str:
    return row(*_between(list(items), operator(",")))


def fenced(left: str, content: str, right: str) -> str:
    return row(operator(left), content, operator(right))


def call(function: str, arguments: Iterable[str]) -> str:
    return row(function, operator("\u2061"), fenced("(", listed(arguments), ")"))


def cases(branches: Iterable[tuple[str, str]]) -> str:
    """Values with the conditions under which they hold, behind a brace."""
    rows = (element("mtr", element("mtd", value), element("mtd", condition)) for value, condition in branches)
    return row(element("mo", "{", stretchy="true", form="prefix"), element("mtable", *rows))


def math(content: str) -> str:
    """A whole formula."""
    return element("math", content, display="block")


def _between(items: list[str], separator: str) -> list[str]:
    return [piece for item in items for piece in (separator, item)][1:]

"""Reads the entries of a file: a list of mappings whose keys and forms of value the key table states."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import Problems, did_you_mean
from ..keys import FORMS, Form, Key
from .yaml_source import Mapping, Node, Scalar, Sequence, read_yaml

_RELEASE = re.compile(r"(0|[1-9]\d{0,5})(\.(0|[1-9]\d{0,5})){1,3}")
_NUMBER = re.compile(r"[1-9]\d{0,5}")


def read_entries(path: Path, file: str, problems: Problems) -> Iterator[Mapping]:
    """The entries of a YAML file, called ``file`` in reports; whatever is no mapping is reported and left out."""
    document = read_yaml(path, file, problems)
    if document is None:
        return
    if not isinstance(document, Sequence):
        hint = "start every entry with '- '"
        problems.add("E010", f"{file} must be a list of entries", document.location, hint)
        return
    for item in document.items:
        if isinstance(item, Mapping):
            yield item
        else:
            problems.add("E010", "an entry must be a mapping", item.location, "write '- key: value'")


class Checker:
    """Checks the values of an entry against the key table. A value that fails is left out of ``values``."""

    def __init__(self, keys: tuple[Key, ...], problems: Problems) -> None:
        self._keys = {key.name: key for key in keys}
        self._problems = problems

    def values(self, entry: Mapping) -> dict[str, Node]:
        """The values of the keys that the table knows and that have the right form."""
        for key in self._keys.values():
            if key.required and entry.get(key.name) is None:
                self._missing(key, entry)
        known = ((name, value) for name, value in entry.items if name.text in self._keys)
        return {name.text: value for name, value in known if self._has_form(self._keys[name.text], value)}

    def _missing(self, key: Key, entry: Mapping) -> None:
        """A required key is not there: it is misspelt, or forgotten."""
        misspelt = [name for name, _ in self.unknown_keys(entry) if did_you_mean(name.text, [key.name])]
        if misspelt:
            self.report_unknown(misspelt[0])
        else:
            hint = f"add '{key.name}': {key.description}"
            self._problems.add("E013", f"the entry has no '{key.name}'", entry.location, hint)

    def unknown_keys(self, entry: Mapping) -> Iterator[tuple[Scalar, Node]]:
        return ((name, value) for name, value in entry.items if name.text not in self._keys)

    def report_unknown(self, name: Scalar) -> None:
        hint = did_you_mean(name.text, self._keys) or "the keys are listed at the head of the file"
        self._problems.add("E012", f"unknown key '{name.text}'", name.location, hint)

    def _has_form(self, key: Key, value: Node) -> bool:
        return _FORM_CHECKS[key.form](self, key, value)

    def _wrong_form(self, key: Key, value: Node, hint: str = "") -> bool:
        message = f"'{key.name}' must be {FORMS[key.form]}"
        self._problems.add("E014", message, value.location, hint or f"it is {key.description}")
        return False

    def _is_text(self, key: Key, value: Node) -> bool:
        return isinstance(value, Scalar) and value.text != "" or self._wrong_form(key, value)

    def _is_word(self, key: Key, value: Node) -> bool:
        if not isinstance(value, Scalar) or not is_identifier(value.text):
            return self._wrong_form(key, value)
        return self._is_allowed(key, value)

    def _is_words(self, key: Key, value: Node) -> bool:
        if not isinstance(value, Scalar):
            return self._wrong_form(key, value, f"write {key.name}: a, b")
        words = list(value.words())
        if not all(is_identifier(word.text) for word in words):
            return self._wrong_form(key, value)
        return all([self._is_allowed(key, word) and self._is_first(key, word, words) for word in words])

    def _is_allowed(self, key: Key, word: Scalar) -> bool:
        if not key.values or word.text in key.values:
            return True
        hint = did_you_mean(word.text, key.values) or f"it is one of: {', '.join(key.values)}"
        self._problems.add("E015", f"unknown value '{word.text}' of '{key.name}'", word.location, hint)
        return False

    def _is_first(self, key: Key, word: Scalar, words: list[Scalar]) -> bool:
        first = next(other for other in words if other.text == word.text)
        if first is not word:
            self._problems.add("E016", f"'{word.text}' is given twice in '{key.name}'", word.location, "remove one")
        return first is word

    def _is_flag(self, key: Key, value: Node) -> bool:
        is_true = isinstance(value, Scalar) and value.text == "true"
        return is_true or self._wrong_form(key, value, "leave it out, or write true")

    def _is_backends(self, key: Key, value: Node) -> bool:
        if not isinstance(value, Mapping):
            return self._wrong_form(key, value, f"write {key.name}: {{CPU: name}}")
        return all([self._is_backend(key, name, function) for name, function in value.items])

    def _is_backend(self, key: Key, name: Scalar, function: Node) -> bool:
        if name.text not in key.values:
            hint = did_you_mean(name.text, key.values) or f"it is one of: {', '.join(key.values)}"
            self._problems.add("E015", f"unknown backend '{name.text}'", name.location, hint)
            return False
        return isinstance(function, Scalar) and is_identifier(function.text) or self._wrong_form(key, function)

    def _is_renames(self, key: Key, value: Node) -> bool:
        if not isinstance(value, Mapping):
            return self._wrong_form(key, value)
        wrong = [name for _, name in value.items if not isinstance(name, Scalar) or not is_identifier(name.text)]
        return not wrong or self._wrong_form(key, wrong[0])

    def _is_booleans(self, key: Key, value: Node) -> bool:
        if not isinstance(value, Sequence):
            return self._wrong_form(key, value)
        allowed = ("True", "False", "true", "false")
        wrong = [item for item in value.items if not isinstance(item, Scalar) or item.text not in allowed]
        return not wrong or self._wrong_form(key, wrong[0])

    def _is_release(self, key: Key, value: Node) -> bool:
        right = isinstance(value, Scalar) and (value.text in key.values or _RELEASE.fullmatch(value.text))
        return bool(right) or self._wrong_form(key, value)

    def _is_number(self, key: Key, value: Node) -> bool:
        right = isinstance(value, Scalar) and _NUMBER.fullmatch(value.text)
        return bool(right) or self._wrong_form(key, value)

    def _is_entries(self, key: Key, value: Node) -> bool:
        """A list of mappings; what is in them is checked where they are read."""
        if not isinstance(value, Sequence) or not value.items:
            return self._wrong_form(key, value, f"write below it, indented: '- {key.keys[0].name}: ...'")
        wrong = [item for item in value.items if not isinstance(item, Mapping)]
        return not wrong or self._wrong_form(key, wrong[0], f"write '- {key.keys[0].name}: ...'")


_FORM_CHECKS: dict[Form, Callable[[Checker, Key, Node], bool]] = {
    "schema": Checker._is_text,
    "word": Checker._is_word,
    "words": Checker._is_words,
    "names": Checker._is_words,
    "flag": Checker._is_flag,
    "backends": Checker._is_backends,
    "renames": Checker._is_renames,
    "text": Checker._is_text,
    "expression": Checker._is_text,
    "booleans": Checker._is_booleans,
    "release": Checker._is_release,
    "number": Checker._is_number,
    "entries": Checker._is_entries,
    "rule": Checker._is_text,
    "day": Checker._is_text,
}


def is_identifier(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)

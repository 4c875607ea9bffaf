"""The rule about ``aclnn``, the call behind an NPU kernel: a function of CANN with its arguments.

CANN has names of its own (``keepDim``, ``gradInput``, ``cubeMathType``), which are listed here. Any other name that the
schema does not have is a mistake; one that is nearly an argument that the call leaves out is a misspelt one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from .errors import Problems
from .kernels import HandWritten
from .model import FunctionSchema
from .ops import OpEntry
from .yaml_source import Scalar

_CALL = re.compile(r"(aclnn[A-Z]\w*)\((\w+(?:, \w+)*)\)")
_WORD = re.compile(r"\w+")
# What CANN adds to the name of an argument, and what it calls the result of a backward step.
_ADDED = re.compile("(?:Out|Optional|Ref)+$")
_OWN_NAMES = ("out", "gradInput")
# Arguments that PyTorch's schemas do not have, or that other overloads of the op have.
CANN_NAMES = frozenset(
    "clipValueMax clipValueMin cubeMathType dim from grad gradBias gradWeight gridGrad indices input inputGrad"
    " inputScale keepDim keepdim m max meanOutOptional min mode offset output prob reduce rstdOutOptional saveInvstd"
    " saveMean seed selfOrResult splitSections src stable tensors to valuesOut x".split()
)
_NEARLY = 0.75


def aclnn_names_arguments(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """It is written as a call, and what it names are arguments and outputs of the op, as CANN spells them."""
    source = entry.scalar("aclnn")
    if source is None:
        return
    call = _CALL.fullmatch(source.text)
    if call is None:
        hint = "write aclnnAdd(self, other, alpha, out): the function, and its arguments in order"
        problems.add("E043", f"'{source.text}' is no call of an ACLNN function", source.location, hint)
        return
    words = list(_words(source, call.start(2)))
    for number, word in enumerate(words):
        if any(word.text == earlier.text for earlier in words[:number]):
            problems.add("E043", f"'{word.text}' is given twice in the ACLNN call", word.location, "remove one")
    for word, hint in _strange(words, entry.op.schema, sources.project.is_library):
        problems.add("E043", f"'{word.text}' is no argument or output of {entry.op.name}", word.location, hint)


def _words(source: Scalar, start: int) -> Iterator[Scalar]:
    for found in _WORD.finditer(source.text, start):
        yield Scalar(found.group(), source.at(found.start()))


def _strange(words: list[Scalar], schema: FunctionSchema, is_library: bool) -> Iterator[tuple[Scalar, str]]:
    """The words that neither the schema nor CANN has, with advice. Another package may call what is not listed here."""
    names = {_plain(name): name for name in (*(each.name for each in schema.arguments), *schema.result_names)}
    named = {spelling for word in words for spelling in _spellings(word)}
    free = sorted(names.keys() - named)
    for word in words:
        if word.text in _OWN_NAMES or _spellings(word) & names.keys():
            continue
        close = [name for each in sorted(_spellings(word)) for name in get_close_matches(each, free, 1, _NEARLY)]
        if close:
            yield word, f"did you mean '{names[close[0]]}'?"
        elif is_library and word.text not in CANN_NAMES:
            known = ", ".join([*(each.name for each in schema.inputs), *_OWN_NAMES[:1]])
            yield word, f"it has {known}; if CANN calls an argument so, add it to CANN_NAMES in codegen/aclnn.py"


def _spellings(word: Scalar) -> set[str]:
    return {_plain(word.text), _plain(_ADDED.sub("", word.text))}


def _plain(name: str) -> str:
    """A name as schemas (``grad_output``) and CANN (``gradOut``, ``dims``) both spell it."""
    return name.replace("_", "").lower().replace("output", "out").rstrip("s")

"""The rules about ``aclnn``, the call behind an NPU kernel: what it gives is what the function takes.

The function is one of the table of signatures (aclnn_table.py); names are those of the op's schema, and a call leaves
out no argument of the op, for then it would compute something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from ..errors import Problems, did_you_mean
from ..model import Argument, FunctionSchema, Type
from ..read.op_entries import OpEntry
from ..read.variants import result_argument_names
from ..read.yaml_source import Scalar
from ..sources.hand_written import HandWritten
from .aclnn_call import AclnnCall, NotACall, Value, parse_call
from .aclnn_signature import KINDS, Signature

# What stands for a value that no argument of the op has: the kind that it is for.
WORDS = {"dtype": "d", "seed": "lq", "offset": "lq", "cubeMathType": "c", "convMathType": "c"}
_INTEGERS = "chiulq"
_POINTERS = "TLSRIFBz"
# The kinds that an argument of a type can be given to: of one value, and of a list of them.
_OF_ONE = {"Tensor": "T", "Scalar": "S", "int": f"S{_INTEGERS}", "float": "Sgf", "bool": "Sb", "str": "z"}
_OF_LISTS = {"Tensor": "L", "Scalar": "R", "int": "I", "float": "F", "bool": "B"}
_OF_CONSTANTS = {bool: "Sb", int: f"S{_INTEGERS}", float: "Sgf", str: "z", type(None): _POINTERS}
# What decides where and of which dtype a result is made: no call needs it.
_OF_RESULTS = ("ScalarType", "Layout", "Device", "MemoryFormat")
# What CANN adds to the name of an argument.
_ADDED = re.compile("(?:Out|Optional|Ref)+$")


def aclnn_call_fits(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """It is a call of a function that there is, with what this takes."""
    source = entry.scalar("aclnn")
    if source is None:
        return
    try:
        call = parse_call(source.text)
    except NotACall as error:
        problems.add("E043", error.message, source.at(error.offset), error.hint)
        return
    _Check(entry.op.schema, source, call, problems).all(sources.signatures, _where_to_list(sources))


def takes(schema: FunctionSchema, text: str, table: Mapping[str, Signature]) -> bool:
    """Whether a text is a call of a function of the table with what it takes, for an op of that schema."""
    problems = Problems()
    try:
        call = parse_call(text)
    except NotACall:
        return False
    _Check(schema, Scalar(text, schema.location), call, problems).all(table, "")
    return not problems


class _Check:
    def __init__(self, schema: FunctionSchema, source: Scalar, call: AclnnCall, problems: Problems) -> None:
        self._schema = schema
        self._source = source
        self._call = call
        self._problems = problems
        self._results = result_names(self._schema)

    def all(self, table: Mapping[str, Signature], where_to_list: str) -> None:
        if self.names_are_known():
            self.against(table, where_to_list)
            self.nothing_is_left_out()

    def _report(self, code: str, message: str, value: Value | None, hint: str) -> None:
        self._problems.add(code, message, self._source.at(value.offset if value else 0), hint)

    def names_are_known(self) -> bool:
        known = [argument.name for argument in self._schema.inputs]
        used = [name.name for value in self._call.values for name in value.names]
        wrong = [name for value in self._call.values for name in value.names if self._is_unknown(name, known)]
        for name in wrong:
            hint = did_you_mean(name.name, [*known, *self._results, *WORDS])
            hint = hint or f"it has {', '.join([*known, *self._results])}; besides there are {', '.join(WORDS)}"
            self._report("E043", f"'{name.name}' is no argument or output of {self._schema.full_name}", name, hint)
        for name in self._call.without:
            if name.name not in known or name.name in used:
                hint = "remove it" if name.name in used else did_you_mean(name.name, known) or "remove it"
                state = "given" if name.name in used else "no argument of the op"
                self._report("E043", f"the call cannot be without '{name.name}': it is {state}", name, hint)
        return not wrong

    def _is_unknown(self, name: Value, known: list[str]) -> bool:
        return name.name not in known and name.name not in self._results and name.name not in WORDS

    def against(self, table: Mapping[str, Signature], where_to_list: str) -> None:
        signature = table.get(self._call.function)
        if signature is None:
            close = close_signature(self._call.function, table)
            hint = f"did you mean {close}? otherwise {where_to_list}" if close else where_to_list
            self._report("E130", f"there is no ACLNN function '{self._call.function}'", None, hint)
        elif len(self._call.values) != len(signature.kinds):
            counts = f"{len(self._call.values)} arguments, and it takes {len(signature.kinds)}"
            self._report("E131", f"{signature.name} is given {counts}", None, f"it is {signature}")
        else:
            self._check_values(signature)

    def _check_values(self, signature: Signature) -> None:
        misplaced = dict(_misplaced(self._call.values, signature, self._named(), self._results))
        for place, (kind, value) in enumerate(zip(signature.kinds, self._call.values, strict=True)):
            remedy = self._misfit(kind, value)
            parameter = signature.parameters[place]
            if remedy is not None:
                message = f"'{value.text}' is no {KINDS[kind]}, which {signature.name} takes as '{parameter}'"
                self._report("E133", message, value, f"{remedy + '; ' if remedy else ''}it is {signature}")
            elif place in misplaced:
                message = f"'{value.text}' is where {signature.name} takes '{parameter}'"
                self._report("E132", message, value, f"{misplaced[place]}; it is {signature}")

    def _named(self) -> dict[str, str]:
        """The arguments and results of the op, as schemas and CANN both spell them."""
        return {plain(name): name for name in (*(each.name for each in self._schema.inputs), *self._results)}

    # ---- kinds ----

    def _misfit(self, kind: str, value: Value) -> str | None:
        """None if a value is of a kind; else what to do, as far as that can be told."""
        if value.is_constant:
            return None if kind in _OF_CONSTANTS[type(value.constant)] else _literal_of(kind)
        if value.function == "dims":
            return None if kind == "I" else "write the argument itself"
        if value.function in ("sizes", "tensor"):
            return self._converted_misfit(kind, value)
        if value.function == "code":
            constants = [each for _, each in value.codes] + ([value.otherwise] if value.otherwise else [])
            wrong = [each for each in constants if not each.is_constant or self._misfit(kind, each) is not None]
            return "its constants are of another kind" if wrong else None
        if value.name in WORDS and self._schema.argument(value.name) is None or value.name == "dtype":
            return None if kind in WORDS[value.name] else ""
        if value.name in self._results and self._schema.argument(value.name) is None:
            types = [result.type for result in self._schema.returns]
            return None if kind == ("L" if types[self._results.index(value.name)].is_list else "T") else ""
        argument = self._schema.argument(value.name)
        return self._argument_misfit(kind, value, argument) if argument else ""

    def _converted_misfit(self, kind: str, value: Value) -> str | None:
        """``sizes`` is for lists of integers, ``tensor`` for numbers."""
        argument = self._schema.argument(value.name)
        is_right = argument and (kind, *_kinds_of(argument.type)[:1]) == (
            ("I", "I") if value.function == "sizes" else ("T", "S")
        )
        return None if is_right else "write the argument itself"

    def _argument_misfit(self, kind: str, value: Value, argument: Argument) -> str | None:
        if value.function == "or" and value.otherwise is not None:
            if not argument.type.is_optional and not argument.type.is_list:
                return f"'{argument.name}' is never None: write {argument.name}"
            if self._misfit(kind, value.otherwise) is not None:
                return f"'{value.otherwise.text}' is of another kind"
        elif argument.type.is_optional and kind not in _POINTERS.replace("z", ""):
            return f"'{argument.name}' may be None: write or({argument.name}, ...)"
        if kind in _kinds_of(argument.type.without_optional):
            return None
        if kind == "I" and argument.type.base in ("int", "SymInt"):
            return f"write dims({argument.name})"
        return f"write code({argument.name}, word=0)" if argument.type.base == "str" else ""

    # ---- what is missing ----

    def nothing_is_left_out(self) -> None:
        """A part of what a hand-written kernel does may be about a part of the arguments."""
        used = {name.name for value in (*self._call.values, *self._call.without) for name in value.names}
        if self._call.reason:
            return
        if "seed" in used:
            used |= {argument.name for argument in self._schema.inputs if argument.type.base == "Generator"}
        for argument in self._schema.inputs:
            if argument.name not in used and argument.type.base not in _OF_RESULTS and argument.name != "pin_memory":
                hint = f"if the call is right without it, write '... without {argument.name}'; "
                hint += "if the kernel has more to do, say why behind a ';'"
                self._report("E134", f"the call leaves out '{argument.name}'", None, hint)
        is_cloned = any(value.function == "clone" for value in self._call.values)
        for name in () if self._schema.inplace or is_cloned else self._results:
            if name not in used:
                self._report(
                    "E134", f"the call does not write the result '{name}'", None, "name it where it is written"
                )


def result_names(schema: FunctionSchema) -> list[str]:
    """What calls name the results: as the `out=` variant does, ``out`` or ``values``."""
    return [] if schema.inplace else result_argument_names(schema)


def close_signature(name: str, table: Mapping[str, Signature]) -> Signature | None:
    """The function whose name is most like one: what all names begin with makes none like another."""
    close = get_close_matches(name.removeprefix("aclnn"), [each.removeprefix("aclnn") for each in table], n=1)
    return table[f"aclnn{close[0]}"] if close else None


def _where_to_list(sources: HandWritten) -> str:
    project = sources.project
    if project.is_library or project.aclnn_signatures:
        file = project.aclnn_signatures or "codegen/aclnn_signatures.tsv"
        return f"if a header has it, add its signature to {file}"
    return 'list your own functions in a file, and name it in pyproject.toml: aclnn_signatures = "aclnn.tsv"'


def _misplaced(
    values: tuple[Value, ...], signature: Signature, named: Mapping[str, str], results: list[str]
) -> Iterator[tuple[int, str]]:
    """The arguments that are where another one belongs, which CANN's names show, and what to do.

    A result may be in the place of what CANN writes under the name of an input.
    """
    parameters = [plain(name) for name in signature.parameters]
    given = [plain(value.name) for value in values]
    for place, (parameter, name) in enumerate(zip(parameters, given, strict=True)):
        if (
            not name
            or name == parameter
            or values[place].name in results
            and signature.parameters[place].endswith("Ref")
        ):
            continue
        own = next((index for index, each in enumerate(parameters) if each == name), None)
        is_free = own is None or given[own] == name or values[own].name in results
        if own is not None and not is_free and signature.kinds[own] == signature.kinds[place]:
            yield place, f"'{signature.parameters[own]}' is the argument number {own + 1}"
        elif parameter in named and parameter not in given:
            yield place, f"the op has '{named[parameter]}'"


def _kinds_of(type_: Type) -> str:
    base = "int" if type_.base == "SymInt" else type_.base
    return (_OF_LISTS if type_.is_list else _OF_ONE).get(base, "")


def _literal_of(kind: str) -> str:
    literals = {"b": "False", "g": "0.0", "f": "0.0", "z": "'text'"} | dict.fromkeys(_INTEGERS, "0")
    return f"write a constant such as {literals[kind]}" if kind in literals else ""


def plain(name: str) -> str:
    """A name as schemas (``grad_output``) and CANN (``gradOut``, ``dims``) both spell it."""
    plain = _ADDED.sub("", name).replace("_", "").lower()
    return plain if plain == "output" else plain.replace("output", "out").rstrip("s")

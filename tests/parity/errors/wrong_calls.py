"""Wrong calls of everything in the op table: one argument, or two of them, of another type than the schema says.

A call is text that both libraries run, because it matters how it is written: by position, by keyword, as a method.
"""

from collections.abc import Iterator
from keyword import iskeyword
from random import Random

import torch

import mindtorch
from mindtorch.dispatch.registry import OpEntry, all_ops
from mindtorch.dispatch.schema.function_schema import Argument

PLACES = {
    "torch": lambda base: base,
    "torch.linalg": lambda base: base.removeprefix("linalg_"),
    "torch.fft": lambda base: base.removeprefix("fft_"),
    "torch.special": lambda base: base.removeprefix("special_"),
    "torch.nn.functional": lambda base: base,
}

GOOD = {
    "Tensor": "x",
    "Scalar": "1",
    "int": "1",
    "SymInt": "1",
    "float": "0.5",
    "bool": "True",
    "str": "'sum'",
    "ScalarType": "torch.float32",
    "Layout": "torch.strided",
    "Device": "'cpu'",
    "MemoryFormat": "torch.contiguous_format",
    "Generator": "None",
}

WRONG = {
    "Tensor": ("3", "'a'", "None", "[x]", "1.5", "array"),
    "Scalar": ("'a'", "None", "x", "[1]"),
    "int": ("'a'", "1.5", "None", "True", "x", "[1]"),
    "float": ("'a'", "None", "x", "1j"),
    "bool": ("3", "'a'", "None", "x", "0"),
    "str": ("3", "None"),
    "ScalarType": ("3", "'a'", "x"),
    "Layout": ("3", "'a'"),
    "Device": ("1.5", "x", "True"),
    "MemoryFormat": ("3",),
    "Generator": ("1", "'a'"),
}

WRONG_LISTS = {
    "Tensor": ("3", "'a'", "None", "x", "[x, 2]", "[2, x]"),
    "int": ("'a'", "1.5", "None", "True", "x", "(1.5,)", "('a', 1)", "(True,)"),
    "bool": ("3", "'a'"),
    "float": ("'a'", "3"),
    "Scalar": ("'a'",),
}


def wrong_values(argument: Argument) -> tuple[str, ...]:
    element = "int" if argument.element == "SymInt" else argument.element
    return (WRONG_LISTS if argument.is_list else WRONG).get(element, ())


def good_value(argument: Argument) -> str | None:
    value = GOOD.get(argument.element)
    if value is None or not argument.is_list:
        return value
    return f"[{value}, {value}]" if argument.element == "Tensor" else f"({value},)"


def _exists(path: str) -> bool:
    for library in (torch, mindtorch):
        found = library
        for name in path.split(".")[1:]:
            found = getattr(found, name, None)
        if found is None or (library is torch and hasattr(found, "__code__")):  # what torch has written in Python
            return False
    return True


def functions_of(entry: OpEntry) -> list[str]:
    """How a program names the functions of an op."""
    paths = [f"{place}.{name(entry.base)}" for place, name in PLACES.items() if place in _places(entry.base)]
    return [path for path in paths if _exists(path)]


def _places(base: str) -> list[str]:
    own = f"torch.{base.partition('_')[0]}"
    return [own] if own in PLACES else ["torch", "torch.nn.functional"]


def is_method(entry: OpEntry) -> bool:
    first = entry.schema.arguments[0].name if entry.schema.arguments else ""
    return first == "input" and all(hasattr(T.Tensor, entry.base) for T in (torch, mindtorch))


def callable_ops() -> list[OpEntry]:
    """All but the ops on lists of tensors, of which torch has overloads that the table has not."""
    return [
        entry
        for entry in all_ops()
        if entry.namespace == "aten" and not entry.base.startswith("_foreach") and not entry.boxed
        if entry.schema.arguments and not entry.schema.is_out
    ]


def calls_with(entry: OpEntry, random: Random, count: int) -> Iterator[str]:
    """Calls with `count` wrong arguments, in a way of writing that is drawn."""
    arguments = entry.schema.arguments
    wrong = random.sample(range(len(arguments)), min(count, len(arguments)))
    values = [good_value(argument) for argument in arguments]
    for place in wrong:
        values[place] = random.choice(wrong_values(arguments[place]) or (None,))
    needed = [place for place, each in enumerate(arguments) if each.default is None or place in wrong]
    if any(values[place] is None for place in needed):
        return
    positional = _positional(arguments, values, random.randint(0, max(needed) + 1))
    named = [place for place in needed if place >= positional]
    if any(iskeyword(arguments[place].name) for place in named):
        return
    keywords = [f"{arguments[place].name}={values[place]}" for place in named]
    written = [str(value) for value in values[:positional]] + keywords
    yield from (f"{function}({', '.join(written)})" for function in functions_of(entry))
    if positional and 0 not in wrong and is_method(entry):
        yield f"x.{entry.base}({', '.join(written[1:])})"


def _positional(arguments: tuple[Argument, ...], values: list[str | None], most: int) -> int:
    """How many arguments can be given by position."""
    count = 0
    while count < min(most, len(arguments)) and not arguments[count].keyword_only and values[count] is not None:
        count += 1
    return count


def wrong_calls(count: int, rounds: int) -> Iterator[tuple[str, str]]:
    """The base names of ops, and calls of them."""
    random = Random(count)
    for entry in callable_ops():
        for _ in range(rounds):
            for call in calls_with(entry, random, count):
                yield entry.base, call

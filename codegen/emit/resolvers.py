"""The functions that choose among overloads: ``sum`` for ``sum_default`` and ``sum_dim_IntList``.

Three forms, from quick to general:
- *plain*: the parameters of all overloads merged into one signature; tests on what is present and on types;
- *shifted*: one overload has the arguments of another without the first, like ``range``: ``arange(end)``;
- *matching*: overloads that use the same position for different things, or types for which there is no quick test, are
  tried one after the other.
``...`` as a default means: not given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword

from ..model import Argument, Model, Op
from ..render import tuple_of
from .docstrings import documentation
from .names import comma_separated, function_name, visible_overloads
from .old_calls import OldCalls, old_calls_of
from .signatures import ABSENT, Parameter, Signature, alias_parameters, signature_of
from .type_tests import has_test, is_of_type


@dataclass(frozen=True, slots=True)
class Overload:
    """One overload: its function, and the signature of that."""

    op: Op
    function: str
    signature: Signature

    @property
    def positional(self) -> tuple[Argument, ...]:
        return self.op.schema.positional

    def argument(self, name: str) -> Argument | None:
        return next((a for a in self.op.schema.inputs if a.python_name == name), None)

    def requires(self, name: str) -> bool:
        argument = self.argument(name)
        return argument is not None and argument.default is None

    def takes(self, name: str) -> bool:
        return any(parameter.name == name for parameter in self.signature.parameters)


@dataclass(frozen=True, slots=True)
class Branch:
    """What leads to an overload, and the call of it. Without a condition it is taken."""

    condition: str
    call: str


@dataclass(frozen=True, slots=True)
class Resolver:
    """Everything the template needs to write one resolver."""

    name: str
    form: str
    documentation: tuple[str, ...]
    signature: Signature
    functions: str
    moves: tuple[str, ...]
    branches: tuple[Branch, ...]
    no_overload: str
    shifted: tuple[str, ...] = ()
    old_calls: OldCalls | None = None

    @property
    def may_fail(self) -> bool:
        return bool(self.branches[-1].condition)

    @property
    def definition(self) -> Signature:
        """The parameters of the ``def`` line. Of too many arguments torch says other things than Python in any case."""
        return (self.old_calls.signature if self.old_calls else self.signature).taking_nothing


def resolver_of(model: Model, name: str) -> Resolver | None:
    """The resolver of a Python name; None when it has a single visible overload."""
    ops = visible_overloads(model, name)
    if len(ops) < 2:
        return None
    overloads = [Overload(op, function_name(model, op), signature_of(model, op, public=False)) for op in ops]
    overloads.sort(key=_tensors_first)
    resolver = _resolver(name, overloads)
    functions = [overload.function for overload in overloads]
    return replace(resolver, old_calls=old_calls_of(model, name, resolver.signature, functions))


def _resolver(name: str, overloads: list[Overload]) -> Resolver:
    shifted = _shifted_overload(overloads)
    if shifted is not None:
        return _shifted_resolver(name, overloads, shifted)
    merged = _Merge(overloads)
    if _positions_clash(overloads) or not merged.has_tests or merged.loses_defaults:
        return _matching_resolver(name, overloads)
    return merged.resolver(name)


def called_by_operator(model: Model, op: Op) -> str:
    """The function that the operators of an op call: the resolver, but for an op that takes numbers itself."""
    return function_name(model, op) if op.numbers or len(op.schema.positional) < 2 else op.schema.name


def called_by_operators(model: Model) -> set[str]:
    """The functions that Python's operators with an operand call."""
    ops = [op for op in model.ops.values() if op.operators and len(op.schema.positional) > 1]
    return {called_by_operator(model, op) for op in ops if model.project.is_library}


def operator_name(function: str) -> str:
    """The name of what a function is to operators."""
    return f"{function}_operator"


def _tensors_first(overload: Overload) -> int:
    """torch's order: overloads that take more tensors come first."""
    return -sum(argument.type.is_tensor for argument in overload.op.schema.inputs)


def _longest(overloads: Sequence[Overload]) -> Overload:
    return max(overloads, key=lambda overload: len(overload.positional))


def _slots(overloads: Sequence[Overload]) -> list[str]:
    """The name of each position: that of the overload with the most positional arguments."""
    return [argument.python_name for argument in _longest(overloads).positional]


def _positions_clash(overloads: Sequence[Overload]) -> bool:
    """Whether some overload has at one position an argument that the merged signature has at another."""
    slots = _slots(overloads)
    return any(
        argument.python_name != slot and argument.python_name in slots
        for overload in overloads
        for argument, slot in zip(overload.positional, slots)
    )


def _documentation(name: str, overloads: Sequence[Overload]) -> tuple[str, ...]:
    """What each overload is in Python: the resolver's own signature has room for all of them."""
    calls = dict.fromkeys(f"{name}({overload.signature.shown})" for overload in overloads)
    return documentation((overload.op for overload in overloads), calls)


def _functions(overloads: Sequence[Overload]) -> str:
    return tuple_of(overload.function for overload in overloads)


# -------------------- matching --------------------


def _matching_resolver(name: str, overloads: Sequence[Overload]) -> Resolver:
    parameters = [Parameter(name, ABSENT) for name in _argument_names(overloads)]
    return Resolver(
        name=name,
        form="matching",
        documentation=_documentation(name, overloads),
        signature=Signature(tuple(alias_parameters(parameters) + _reserved_words(parameters))),
        functions=_functions(overloads),
        moves=(),
        branches=(Branch("matching", ""),),
        no_overload="",
    )


def _reserved_words(parameters: Sequence[Parameter]) -> list[Parameter]:
    """Names that Python's syntax keeps for itself, `from`, as in `x.random_(**{"from": 2, "to": 5})`."""
    reserved = [p for p in parameters if p.name.endswith("_") and iskeyword(p.name[:-1])]
    return [Parameter(p.name[:-1], "None", True, p.name) for p in reserved]


def _argument_names(overloads: Sequence[Overload]) -> list[str]:
    return list(dict.fromkeys(a.python_name for overload in overloads for a in overload.op.schema.inputs))


# -------------------- shifted --------------------


def _required(overload: Overload) -> list[str]:
    return [argument.python_name for argument in overload.positional if argument.default is None]


def _shifted_overload(overloads: Sequence[Overload]) -> Overload | None:
    """The overload whose required arguments are those of the longest without the first one.

    Overloads between the two are not needed: what they leave out has a default in the longest.
    """
    full = _required(_longest(overloads))
    for overload in overloads:
        if full[0] != "input" and len(full) > 1 and _required(overload) == full[1:]:
            return overload
    return None


def _shifted_resolver(name: str, overloads: Sequence[Overload], shifted: Overload) -> Resolver:
    longest = _longest(overloads)
    required = _required(longest)
    positional = [Parameter(word, ABSENT) for word in required]
    optional = [parameter for parameter in longest.signature.positional if parameter.default is not None]
    keywords = _merged_keywords(overloads)
    absent = " or ".join(f"{word} is {ABSENT}" for word in required)
    if optional:  # the shifted overload doesn't have them
        absent = " and ".join([f"({absent})", *(f"{p.name} == {p.default}" for p in optional)])
    return Resolver(
        name=name,
        form="shifted",
        documentation=_documentation(name, overloads),
        signature=Signature((*positional, *optional, *keywords)),
        functions=_functions((shifted, longest)),
        moves=(),
        branches=(
            Branch(absent, _call(shifted.function, ["*given", *_passed(keywords, shifted)])),
            Branch("", _call(longest.function, [*required, *(p.name for p in optional), *_passed(keywords, longest)])),
        ),
        no_overload=_no_overload(name, overloads),
        shifted=tuple(required),
    )


def _no_overload(name: str, overloads: Sequence[Overload]) -> str:
    """The call that ends in an error: it reads the arguments from the names of the parameters."""
    return f"raise_no_overload({name}, {_functions(overloads)}, locals())"


def _passed(keywords: Sequence[Parameter], overload: Overload) -> list[str]:
    """Those of the keyword-only arguments that the overload takes, as they are handed on."""
    return [parameter.passed for parameter in keywords if overload.takes(parameter.name)]


def _call(function: str, words: Sequence[str]) -> str:
    return f"{function}({comma_separated(words)})"


def _merged_keywords(overloads: Sequence[Overload]) -> list[Parameter]:
    """The keyword-only parameters of all overloads, each once."""
    merged: dict[str, Parameter] = {}
    for overload in overloads:
        for parameter in overload.signature.parameters:
            if parameter.kwarg_only:
                merged.setdefault(parameter.name, parameter)
    return list(merged.values())


# -------------------- plain --------------------


class _Merge:
    """The merged signature of some overloads, and the tests that tell them apart."""

    def __init__(self, overloads: Sequence[Overload]) -> None:
        self.overloads = overloads
        self.slots = _slots(overloads)
        self.rest = next((o.signature.rest for o in overloads if o.signature.rest), None)
        self.renamed = self._renamed_arguments()
        self.parameters = self._parameters()
        self.absentable = {parameter.name for parameter in self.parameters if parameter.default == ABSENT}

    @property
    def has_tests(self) -> bool:
        """Whether there is a quick test for the type of every argument that tells overloads apart."""
        arguments = [argument for overload in self.overloads for argument in overload.op.schema.inputs]
        telling = [a for a in arguments if a.python_name in self.renamed or self._tells_apart(a.python_name)]
        return all(has_test(argument) for argument in telling)

    @property
    def loses_defaults(self) -> bool:
        """Whether an overload has a default that the merged signature cannot have: another requires the argument."""
        arguments = [argument for overload in self.overloads for argument in overload.positional]
        hidden = [a for a in arguments if a.default is not None and a.python_name in self.absentable]
        return any(not self._is_told(argument.python_name) for argument in hidden)

    def resolver(self, name: str) -> Resolver:
        parameters = self._defined() + alias_parameters(self.parameters)
        order = sorted(self.overloads, key=self._needs_most_first)
        return Resolver(
            name=name,
            form="plain",
            documentation=_documentation(name, self.overloads),
            signature=Signature(tuple(parameters), self.rest),
            functions=_functions(self.overloads),
            moves=tuple(self._moves(lambda slots: self._unmatched(name, slots))),
            branches=tuple(self._branches(order)),
            no_overload=self._unmatched(name, self.slots) if self.renamed else _no_overload(name, self.overloads),
        )

    def _unmatched(self, name: str, slots: Sequence[str]) -> str:
        """The same for parameters that stand for arguments of several names."""
        named = ", ".join(f'"{parameter.name}": {parameter.name}' for parameter in self._own_keywords())
        given = tuple_of([*slots, *self.renamed])
        return f"raise_unmatched({name}, {_functions(self.overloads)}, {given}, {{{named}}})"

    def _defined(self) -> list[Parameter]:
        """The parameters of the `def` line. What stands for arguments of several names is one by position only."""
        shared = set(self.renamed.values())
        positional = [p for p in self.parameters if not p.kwarg_only]
        keywords = [replace(p, kwarg_only=True) for p in positional if p.name in shared]
        first = [Parameter(f"_{p.name}", ABSENT) if p.name in shared else p for p in positional]
        return first + keywords + [p for p in self.parameters if p.kwarg_only]

    def _renamed_arguments(self) -> dict[str, str]:
        """Arguments that have another name than their position, with that: ``other`` of max is in place of ``dim``."""
        return {
            argument.python_name: slot
            for overload in self.overloads
            for argument, slot in zip(overload.positional, self.slots)
            if argument.python_name != slot
        }

    def _parameters(self) -> list[Parameter]:
        longest = _longest(self.overloads)
        positional = [self._parameter(slot, longest) for slot in self.slots]
        renamed = [Parameter(name, ABSENT, True) for name in self.renamed]
        return positional + renamed + self._own_keywords()

    def _own_keywords(self) -> list[Parameter]:
        return [
            self._keyword(parameter)
            for parameter in _merged_keywords(self.overloads)
            if parameter.name not in self.slots and parameter.name not in self.renamed
        ]

    def _parameter(self, name: str, overload: Overload) -> Parameter:
        """Required if every overload requires it, optional with its default if all agree, else it may be absent."""
        arguments = [other.argument(name) for other in self.overloads]
        everywhere = all(argument is not None for argument in arguments)
        if everywhere and all(argument is not None and argument.default is None for argument in arguments):
            return Parameter(name)
        own = next((p for p in overload.signature.parameters if p.name == name), Parameter(name))
        defaults = {argument.default for argument in arguments if argument is not None}
        if own.default is not None and len(defaults) == 1 and not self._refuses_even_default(name):
            return Parameter(name, own.default)
        if everywhere and self._tells_apart(name):
            return Parameter(name, self._first_default(name) or ("None" if "None" in defaults else ABSENT))
        return Parameter(name, ABSENT)

    def _refuses_even_default(self, name: str) -> bool:
        """Whether some overload lacks the argument, and another means something if its default is given: an overload
        without `keepdim` refuses False, as it refuses True. None is as good as nothing."""
        arguments = [other.argument(name) for other in self.overloads]
        return None in arguments and any(each is not None and each.default == "False" for each in arguments)

    def _first_default(self, name: str) -> str | None:
        """The default of the first overload that gives the argument one; its type leads to that overload."""
        defaults = (
            parameter.default
            for overload in self.overloads
            for parameter in overload.signature.parameters
            if parameter.name == name and parameter.default not in (None, "None")
        )
        return next(defaults, None)

    def _keyword(self, parameter: Parameter) -> Parameter:
        return parameter if parameter.default is not None else Parameter(parameter.name, ABSENT, True)

    def _needs_most_first(self, overload: Overload) -> int:
        return -sum(overload.requires(name) for name in self.absentable)

    # what is done first

    def _moves(self, reject: Callable[[Sequence[str]], str]) -> list[str]:
        """Separate ints become a tuple; what stands at a position of several names gets the name that it fits."""
        shared = list(dict.fromkeys(self.renamed.values()))
        lines = []
        if self.rest:
            name = self.rest.removeprefix("more_")
            slot = self.renamed.get(name, name)
            slot = f"_{slot}" if slot in shared else slot
            lines += [f"if {self.rest}:", f"    {slot} = ({slot},) + {self.rest}"]
        for slot in shared:
            lines += self._move(slot, reject([f"_{each}" if each == slot else each for each in self.slots]))
        return lines

    def _move(self, slot: str, rejected: str) -> list[str]:
        """The lines that find out which argument stands at a position, if one does."""
        names = [name for name, other in self.renamed.items() if other == slot]
        twice = " or ".join(f"{name} is not {ABSENT}" for name in (slot, *names))
        lines = [f"if _{slot} is not {ABSENT}:", f"    if {twice}:", f"        return {rejected}"]
        for place, name in enumerate(names):
            argument, overload = next((a, each) for each in self.overloads if (a := each.argument(name)))
            test = is_of_type(argument, f"_{slot}", exact=True)
            test += "".join(f" and {each} is {ABSENT}" for each in self._behind(slot) if not overload.takes(each))
            lines += [f"    {'el' if place else ''}if {test}:", f"        {name} = _{slot}"]
        lines += ["    else:", f"        {slot} = _{slot}"]
        if self.rest in [f"more_{name}" for name in (slot, *names)]:  # separate ints are no keyword
            lines += [f"elif is_index({self.rest.removeprefix('more_')}):", f"    return {rejected}"]
        return lines

    def _behind(self, slot: str) -> list[str]:
        """The positions after one that may be absent."""
        return [each for each in self.slots[self.slots.index(slot) + 1 :] if each in self.absentable]

    # branches

    def _branches(self, order: Sequence[Overload]) -> list[Branch]:
        branches: list[Branch] = []
        for overload in order:
            earlier = {branch.condition for branch in branches}
            branches.append(Branch(self._condition(overload, earlier), self._call(overload)))
        return branches

    def _condition(self, overload: Overload, earlier: set[str]) -> str:
        """What must be there, then what must not, but for what the conditions of earlier branches have told."""
        taken = [parameter for parameter in self.parameters if overload.takes(parameter.name)]
        unused = [parameter for parameter in self.parameters if parameter not in taken]
        tests = [self._presence(overload, parameter) for parameter in taken]
        tests += [self._absence(parameter, earlier) for parameter in unused]
        return " and ".join(test for test in tests if test)

    def _presence(self, overload: Overload, parameter: Parameter) -> str:
        """The test on one parameter that the overload makes, empty when it takes whatever comes."""
        name = parameter.name
        argument = overload.argument(name)
        if argument is not None and self._tells_apart(name):
            test = is_of_type(argument, name)
            if self._may_be_left_out(overload, name):
                return f"({name} is {ABSENT} or {test[1:-1] if argument.type.is_optional else test})"
            return test
        return f"{name} is not {ABSENT}" if parameter.default == ABSENT and overload.requires(name) else ""

    def _absence(self, parameter: Parameter, earlier: set[str]) -> str:
        """The test that a parameter which the overload has not was left out."""
        name = parameter.name
        if parameter.default == ABSENT:
            is_known = f"{name} is not {ABSENT}" in earlier and not self._is_told(name)
            return "" if is_known else f"{name} is {ABSENT}"
        tests = {"None": f"{name} is None", "False": f"{name} is False"}
        return tests.get(str(parameter.default), "")

    def _tells_apart(self, name: str) -> bool:
        kinds = {str(argument.type) for overload in self.overloads if (argument := overload.argument(name))}
        return len(kinds) > 1

    def _is_told(self, name: str) -> bool:
        """Whether overloads differ in whether they take an argument, or in its type, so that it is tested."""
        return self._tells_apart(name) or self._refuses_even_default(name)

    def _may_be_left_out(self, overload: Overload, name: str) -> bool:
        """Whether nothing was given for an argument that the overload, unlike another one, has a default for."""
        return name in self.absentable and self._is_told(name) and not overload.requires(name)

    def _passed(self, overload: Overload, name: str) -> str:
        if not self._may_be_left_out(overload, name):
            return name
        default = next(p.default for p in overload.signature.parameters if p.name == name)
        return f"{default} if {name} is {ABSENT} else {name}"

    def _call(self, overload: Overload) -> str:
        words = [self._passed(overload, argument.python_name) for argument in overload.positional]
        words += [p.passed for p in overload.signature.parameters if p.kwarg_only]
        return _call(overload.function, words)

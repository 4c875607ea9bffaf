"""The lines that make a function's arguments what its kernel expects.

Each is a test that costs next to nothing and is false for the values that nearly every call passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..model import Argument, ListType, Op
from ..render import fits, tuple_of
from .signatures import is_int_list, takes_requires_grad

# By schema type: the types that need no conversion, and the function that converts all others.
_PLAIN = {
    "int": (("int",), "int_of"),
    "SymInt": (("int",), "index_of"),
    "float": (("float",), "float_of"),
    "Scalar": (("int", "float"), "scalar_of"),
    "str": (("str",), "str_of"),
}

_OPTIONS = frozenset(("dtype", "layout", "device", "pin_memory"))


@dataclass(frozen=True, slots=True)
class Conversion:
    """The lines that make arguments what a kernel expects, or end the call.

    ``may_refuse``: what they call raises an error in which the other arguments have a say.
    """

    lines: tuple[str, ...]
    may_refuse: bool = False


def conversions(op: Op, reject: str) -> Iterator[Conversion]:
    """What is done about the arguments of an op; ``reject`` is the statement that ends a hopeless call."""
    variadic = op.separate_ints
    for argument in op.schema.inputs:
        if argument is variadic:
            continue
        if argument.type.is_tensor_list:
            yield _check_tensor_list(argument.python_name, reject, argument.type.is_optional)
            if argument is op.schema.tensor_arguments[0] and op.dispatch:
                yield _check_not_empty(op, argument)
        elif takes_number(op, argument):
            if not fails_when_number(op, argument):
                yield _convert_operand(argument)
        elif is_int_list(argument):
            yield _convert_int_list(op, argument)
        elif argument.name in _OPTIONS and has_factory_options(op):
            continue
        elif argument.name == "pin_memory":
            yield _check_options(op)
        elif argument.type.base in _PLAIN and not argument.type.is_list:
            yield _convert_value(op, argument)
        elif str(argument.type) in ("bool", "bool?"):
            yield _convert_bool(op, argument)
        elif is_bool_array(argument):
            yield _check_length(argument)
        elif argument.type.base == "ScalarType":
            yield _convert_dtype(op, argument)
        elif argument.type.base == "Generator":
            yield _convert_generator(op, argument)
    if len(op.schema.out_arguments) > 1:
        yield _check_tensor_list("out", reject)
    if variadic is not None:  # behind the others, whose errors tell ints from a tuple of them
        yield _convert_variadic(op, variadic)
    if has_factory_options(op) and op.kind != "out":
        options = f'dtype, backend = factory_options(dtype, layout, device, pin_memory, "{op.schema.base}")'
        yield Conversion((options,), may_refuse=True)


def tensor_checks(op: Op, reject: str) -> Iterator[Conversion]:
    """For composites, which hand their tensors on: a value that is no tensor is refused under the op's own name."""
    arguments = [a for a in op.schema.inputs if a.type.is_tensor and not takes_number(op, a)]
    tests = [_is_tensor(argument) for argument in arguments]
    if len(op.schema.out_arguments) == 1:
        tests.append("isinstance(out, Tensor)")
    if tests:
        test = " and ".join(tests)
        yield Conversion(
            (f"if not {test if len(tests) == 1 and ' or ' not in test else f'({test})'}:", f"    {reject}")
        )


def out_test(out: Op, reject: str) -> tuple[str, ...]:
    """The test of `out` in the function of the functional op: methods take none, and composite ops hand theirs on.

    It is part of that for gradients (`grad_check_of_out`) where one line tells both.
    """
    tests, count = ["IS_METHOD"], len(out.schema.out_arguments)
    lines: tuple[str, ...] = ()
    if count > 1:
        tests.append("not isinstance(out, (list, tuple))")
        lines = f"if len(out) != {count}:", f"    raise wrong_out_count({count}, len(out))"
    elif out.is_composite:
        tests.append("not isinstance(out, Tensor)")
    return f"if {' or '.join(tests)}:", f"    {reject}", *lines


def _is_tensor(argument: Argument) -> str:
    name = argument.python_name
    test = f"isinstance({name}, Tensor)"
    return f"({name} is None or {test})" if argument.type.is_optional else test


def takes_number(op: Op, argument: Argument) -> bool:
    """Whether a Python number may stand for a tensor; if for the second one, then for the first too: ``mul(2, x)``."""
    return argument.name in op.numbers or is_number_first(op, argument)


def is_number_first(op: Op, argument: Argument) -> bool:
    """Whether the argument is a first one that may be a number. That is rare: the call finds out when it fails."""
    return argument.name == "self" and bool(op.numbers) and op.kind != "inplace"


def fails_when_number(op: Op, argument: Argument) -> bool:
    """Whether nothing is done about a number before the call needs the argument's array."""
    return is_number_first(op, argument) and not op.is_composite


def _convert_operand(argument: Argument) -> Conversion:
    name = argument.python_name
    return Conversion((f"if type({name}) is not Tensor:", f"    {name} = operand_of({name})"), may_refuse=True)


def _check_tensor_list(name: str, reject: str, is_optional: bool = False) -> Conversion:
    """A tensor could be iterated over too, so that its type has to be asked for."""
    unless_none = f"{name} is not None and " if is_optional else ""
    test = f"if {unless_none}type({name}) is not list and not isinstance({name}, (list, tuple)):"
    return Conversion((test, f"    {reject}"))


def _check_not_empty(op: Op, argument: Argument) -> Conversion:
    """The first tensor of the list chooses the kernel."""
    return Conversion((f"if not {argument.python_name}:", f'    raise empty_tensor_list("{op.schema.name}")'))


def only_methods_take_ints(op: Op) -> bool:
    """Whether the op is a function as well, which takes no separate ints."""
    return op.is_function and op.schema.self_argument is not None


def _convert_variadic(op: Op, argument: Argument) -> Conversion:
    """What is a function and a method is the same code, but only the method takes separate ints."""
    name = argument.python_name
    is_both = only_methods_take_ints(op)
    values = f"{name}, more_{name}, {'IS_METHOD' if is_both else 'True'}"
    separate = f"type({name}) is int{' and IS_METHOD' if is_both else ''}"
    other = f"more_{name} or {_is_no_tuple_of_ints(op, name)}"
    convert = _converted(name, other, _call("separate_ints_of", values, op, argument))
    return _behind([f"if {separate}:", f"    {name}, more_{name} = ({name},) + more_{name}, ()"], convert)


def _convert_value(op: Op, argument: Argument) -> Conversion:
    plain, convert = _PLAIN[argument.type.base]
    name = argument.python_name
    test = " or ".join(f"type({name}) is {kind}" for kind in plain)
    if _may_go_unnoticed(op, argument):
        test += f" and -(2**63) <= {name} < 2**63"
    return _converted_unless(_or_none(argument, test), name, _call(convert, name, op, argument))


def _or_none(argument: Argument, test: str) -> str:
    """A test that None passes, too, if it may be given."""
    return f"{argument.python_name} is None or {test}" if argument.type.is_optional else test


def _converted(name: str, test: str, call: str) -> Conversion:
    """What converts an argument of which a test is true."""
    return Conversion((f"if {test}:", f"    {name} = {call}"), may_refuse=True)


def _converted_unless(test: str, name: str, call: str) -> Conversion:
    """What converts an argument of which a test is false: one line, if that is long enough."""
    line = f"{name} = {name} if {test} else {call}"
    if fits(line, 8):
        return Conversion((line,), may_refuse=True)
    is_single = " or " not in test and " and " not in test
    return _converted(name, test.replace(" is ", " is not ") if is_single else f"not ({test})", call)


def _may_go_unnoticed(op: Op, argument: Argument) -> bool:
    """Whether a number that 64 bits don't hold could lead to a result.

    A dimension is always looked up in a shape. Kernels of views are short, and look themselves.
    """
    is_int = argument.type.base in ("int", "SymInt")
    return is_int and "dim" not in argument.name and not (op.view and op.dispatch)


def has_factory_options(op: Op) -> bool:
    """Whether ``factory_options`` looks at the options of a factory, all of them together."""
    return op.factory and not op.schema.tensor_arguments and not op.is_composite


def _check_options(op: Op) -> Conversion:
    """The options besides the dtype; they nearly always have their defaults."""
    lines = [
        "if layout is not None or device is not None or pin_memory is not False:",
        f'    check_options(layout, device, pin_memory, "{op.schema.name}")',
    ]
    if not pins(op):
        lines += ["    if pin_memory:", f'        refuse_pinned("{op.schema.name}")']
    return Conversion(tuple(lines), may_refuse=True)


def pins(op: Op) -> bool:
    """Whether the function puts its result into pinned memory, where ``factory_options`` does not see to it."""
    return takes_requires_grad(op) and not has_factory_options(op)


def _convert_bool(op: Op, argument: Argument) -> Conversion:
    name = argument.python_name
    test = f"{name} is False or {name} is True"  # the frequent one first
    return _converted_unless(_or_none(argument, test), name, _call("bool_of", name, op, argument))


def is_bool_array(argument: Argument) -> bool:
    """Whether the argument is so many bools, ``bool[3]``."""
    return isinstance(argument.type, ListType) and argument.type.base == "bool" and argument.type.size is not None


def _check_length(argument: Argument) -> Conversion:
    assert isinstance(argument.type, ListType)
    name, size = argument.python_name, argument.type.size
    return Conversion((f"if len({name}) != {size}:", f"    raise wrong_length({name}, {size})"))


def _convert_generator(op: Op, argument: Argument) -> Conversion:
    name = argument.python_name
    return _converted_unless(f"{name} is None", name, _call("generator_of", name, op, argument))


def _convert_dtype(op: Op, argument: Argument) -> Conversion:
    name = argument.python_name
    test = _or_none(argument, f"type({name}) is Dtype")
    return _converted_unless(test, name, _call("dtype_of", name, op, argument))


def _convert_int_list(op: Op, argument: Argument) -> Conversion:
    """``int[2]`` takes a single int for all its elements, and None for an empty default."""
    name = argument.python_name
    kind = argument.type.without_optional
    assert isinstance(kind, ListType)
    if kind.size is None:
        test = _or_none(argument, _is_tuple_of_ints(op, name))
        return _converted_unless(test, name, _call("ints_of", name, op, argument))
    tests = [f"{name} is not None"] if argument.type.is_optional else []
    tests.append(_is_no_tuple_of_ints(op, name))
    test = " and ".join(f"({each})" if " or " in each else each for each in tests)
    convert = _converted(name, test, _call("sized_ints_of", name, op, argument))
    before = [f"if type({name}) is int:", f"    {name} = {tuple_of([name] * kind.size)}"]
    before += [f"elif {name} is None:", f"    {name} = ()"] if argument.default == "[]" else []
    return _behind(before, convert)


def _behind(before: Sequence[str], conversion: Conversion) -> Conversion:
    """A conversion for when the tests before it are false."""
    test, *rest = conversion.lines
    return replace(conversion, lines=(*before, f"el{test}", *rest))


def _is_no_tuple_of_ints(op: Op, name: str) -> str:
    """A test of a list of ints. Like torch, it looks at the first element only.

    Views and factories take any tuple: their kernels choke on other elements, and what they raise is explained.
    """
    is_other = f"type({name}) is not tuple"
    return is_other if op.view or op.factory else f"{is_other} or {name} and type({name}[0]) is not int"


def _is_tuple_of_ints(op: Op, name: str) -> str:
    """The opposite."""
    is_tuple = f"type({name}) is tuple"
    return is_tuple if op.view or op.factory else f"{is_tuple} and (not {name} or type({name}[0]) is int)"


def _call(convert: str, value: str, op: Op, argument: Argument) -> str:
    """The call of a conversion, which names the argument and its position (from 1) in its error, as torch does."""
    name = "input" if argument.name == "self" else argument.name
    words = [value, f'"{op.schema.name}"', f'"{name}"']
    if not argument.kwarg_only:
        words.append(str(op.schema.positional.index(argument) + 1))
    return f"{convert}({', '.join(words)})"

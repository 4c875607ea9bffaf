"""What is known of generated functions without a look at their code: parameters, and whose kernels they look up."""

import sys
from inspect import Parameter
from types import FunctionType

from mindtorch.dispatch.families import load_families
from mindtorch.dispatch.parameters import Parameters, parameters_of
from mindtorch.dispatch.registry import KernelTable, all_ops
from mindtorch.dispatch.shown_signature import whole_signature

PACKAGE = "mindtorch._generated.ops."


def generated_functions():
    load_families()
    for module in [each for name, each in list(sys.modules.items()) if name.startswith(PACKAGE)]:
        for name, value in vars(module).items():
            is_own = isinstance(value, FunctionType) and value.__module__ == module.__name__
            if is_own and not name.endswith("_operator"):  # a form of one of the others
                yield value


def as_defined(function):
    """The parameters that a `def` line has."""
    given = [each for each in whole_signature(function).parameters.values()]
    if [each.kind for each in given] == [Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD]:
        return Parameters()  # a resolver that takes whatever comes
    names = tuple([each.name for each in given if each.kind is Parameter.POSITIONAL_OR_KEYWORD])
    rest = "".join(each.name for each in given if each.kind is Parameter.VAR_POSITIONAL)
    defaults = {each.name: each.default for each in given if each.default is not Parameter.empty}
    required = [each.name for each in given if each.kind is Parameter.KEYWORD_ONLY and each.name not in defaults]
    return Parameters(names, rest, defaults, tuple(required))


def test_parameters_are_those_of_the_functions():
    functions = list(generated_functions())
    assert len(functions) > 2000
    assert [each.__name__ for each in functions if parameters_of(each) != as_defined(each)] == []


def test_calls_pass_all_but_second_names():
    """`axis` of `sum` has been read into `dim`; that of `segment_reduce` is an argument of its own."""
    lost = {}
    for function in generated_functions():
        names, rest, defaults, required = parameters_of(function)
        values = {name: object() for name in (*names, *defaults, *required)} | ({rest: (object(),)} if rest else {})
        args, kwargs = parameters_of(function).passed(values)
        given = {id(each) for each in (*args, *kwargs.values())}
        known = {"axis": "dim", "keepdims": "keepdim"}
        missing = [name for name in (*names, *defaults, *required) if id(values[name]) not in given]
        lost |= {(function.__name__, name): None for name in missing if known.get(name) not in values}
        assert len(args) == len(names) + bool(rest)
    assert lost == {}


def test_tables_are_those_that_functions_use():
    found = []
    for entry in all_ops():
        if isinstance(entry.function, FunctionType) and entry.name != "detach_":  # which is a method by hand
            names = entry.function.__code__.co_names
            tables = [v for v in map(entry.function.__globals__.get, names) if isinstance(v, KernelTable)]
            found += [entry.name] * (tables != [entry.table] * bool(tables) or (not tables and bool(entry.table)))
    assert found == []


def test_other_callables_have_none_that_are_known():
    assert parameters_of(test_other_callables_have_none_that_are_known) == Parameters()

"""Random changes of schemas, one function per kind of change, for the tests of the compatibility rules."""

from dataclasses import replace

from codegen.model import Alias, Argument, BaseType, ListType, Location, OptionalType, Return
from codegen.read.schema_parser import SchemaError, parse_schema
from codegen.read.yaml_source import Scalar

PLACE = Location("schema", 1, 1)
BASES = "Tensor int SymInt float bool Scalar complex str ScalarType Layout MemoryFormat Device Generator".split()
TYPES = [BaseType(name) for name in BASES]
TYPES += [ListType(BaseType(name)) for name in ("Tensor", "int", "SymInt", "float", "bool", "Scalar")]
TYPES += [ListType(BaseType("int"), 1), ListType(BaseType("SymInt"), 2), ListType(OptionalType(BaseType("Tensor")))]
DEFAULTS = ["None", "0", "1", "1.0", "0.00001", "1e-05", "True", "False", "[]", "[1]", "[1,1]", "'mean'", '"mean"']
DEFAULTS += ["Mean", "contiguous_format", "long", "-1", "[0,1]", "0.5"]
ALIASES = [
    None,
    Alias(("a",)),
    Alias(("a",), write=True),
    Alias(("b",)),
    Alias(("a",), after=("*",)),
    Alias(("a", "b")),
]
NAMES = ["self", "input", "dim", "axis", "out", "values", "other", "extra"]


def parse(text):
    """The schema, or None if the string is none."""
    try:
        return parse_schema(Scalar(text, PLACE))
    except SchemaError:
        return None


def mutated(schema, random, changes):
    """The schema after some random changes, or None if what comes out is no schema."""
    for _ in range(changes):
        schema = random.choice(CHANGES)(schema, random)
    return parse(str(schema))


def _with_argument(schema, random, change):
    """``schema`` with one of its arguments changed."""
    if not schema.arguments:
        return schema
    at = random.randrange(len(schema.arguments))
    arguments = list(schema.arguments)
    arguments[at] = change(arguments[at])
    return replace(schema, arguments=tuple(arguments))


def _with_return(schema, random, change):
    if not schema.returns:
        return schema
    at = random.randrange(len(schema.returns))
    returns = list(schema.returns)
    returns[at] = change(returns[at])
    return replace(schema, returns=tuple(returns))


def _neighbour(type_, random):
    """A type that is close to another one: optional or not, a list or not, another size, another name for it."""
    if isinstance(type_, OptionalType):
        return random.choice([type_.element, OptionalType(_neighbour(type_.element, random))])
    if isinstance(type_, ListType):
        other_size = replace(type_, size=random.choice([None, 1, 2]))
        return random.choice(
            [OptionalType(type_), type_.element, other_size, replace(type_, element=OptionalType(type_.element))]
        )
    return random.choice([OptionalType(type_), ListType(type_), ListType(type_, 1), *TYPES])


def _default(type_, random):
    return random.choice(["None", "None", *DEFAULTS]) if type_.is_optional else random.choice(DEFAULTS)


def nothing(schema, random):
    return schema


def rename_op(schema, random):
    return replace(schema, base=f"{schema.base}x")


def rename_overload(schema, random):
    return replace(schema, overload=random.choice(["", "Tensor", "Scalar", "dim"]))


def remove_argument(schema, random):
    if not schema.arguments:
        return schema
    at = random.choice([random.randrange(len(schema.arguments)), len(schema.arguments) - 1])
    return replace(schema, arguments=(*schema.arguments[:at], *schema.arguments[at + 1 :]))


def add_argument(schema, random):
    at = random.choice([random.randint(0, len(schema.arguments)), len(schema.arguments), len(schema.inputs)])
    type_ = random.choice(TYPES)
    type_ = random.choice([type_, type_, OptionalType(type_)])
    default = random.choice([None, _default(type_, random), _default(type_, random)])
    keyword_only = any(argument.kwarg_only for argument in schema.arguments[:at]) or random.random() < 0.4
    alias = Alias(("z",), write=True) if type_ == BaseType("Tensor") and random.random() < 0.3 else None
    added = Argument(random.choice(NAMES), type_, PLACE, default, alias, keyword_only)
    behind = schema.arguments[at:]
    if keyword_only:
        behind = tuple(replace(argument, kwarg_only=True) for argument in behind)
    return replace(schema, arguments=(*schema.arguments[:at], added, *behind))


def swap_arguments(schema, random):
    """Two arguments trade places; what is keyword-only follows the place and not the argument."""
    if len(schema.arguments) < 2:
        return schema
    i = random.randrange(len(schema.arguments) - 1)
    j = random.choice([i + 1, random.randrange(len(schema.arguments))])
    arguments = list(schema.arguments)
    first, second = arguments[i], arguments[j]
    arguments[i] = replace(second, kwarg_only=first.kwarg_only)
    arguments[j] = replace(first, kwarg_only=second.kwarg_only)
    return replace(schema, arguments=tuple(arguments))


def rename_argument(schema, random):
    return _with_argument(schema, random, lambda argument: replace(argument, name=random.choice(NAMES)))


def change_type(schema, random):
    return _with_argument(schema, random, lambda argument: replace(argument, type=_neighbour(argument.type, random)))


def change_type_and_default(schema, random):
    def change(argument):
        type_ = _neighbour(argument.type, random)
        return replace(argument, type=type_, default=random.choice([argument.default, _default(type_, random)]))

    return _with_argument(schema, random, change)


def change_default(schema, random):
    return _with_argument(
        schema,
        random,
        lambda argument: replace(argument, default=random.choice([None, _default(argument.type, random)])),
    )


def respell_default(schema, random):
    """The same value in other words, where there are some."""
    words = {
        "1e-05": "0.00001",
        "0.00001": "1e-05",
        "Mean": "1",
        "1": "1.0",
        "1.0": "1",
        "[0, 1]": "[0,1]",
        "0": "False",
    }
    words |= {"contiguous_format": "0", "False": "0", "[1]": "1", "[1,1]": "1", "None": "0"}
    return _with_argument(
        schema, random, lambda argument: replace(argument, default=words.get(argument.default, argument.default))
    )


def move_star(schema, random):
    """The keyword-only arguments start elsewhere."""
    start = random.randint(0, len(schema.arguments))
    arguments = (replace(argument, kwarg_only=i >= start) for i, argument in enumerate(schema.arguments))
    return replace(schema, arguments=tuple(arguments))


def change_alias(schema, random):
    return _with_argument(schema, random, lambda argument: replace(argument, alias=random.choice(ALIASES)))


def change_return_alias(schema, random):
    return _with_return(schema, random, lambda result: replace(result, alias=random.choice(ALIASES)))


def change_return_type(schema, random):
    return _with_return(schema, random, lambda result: replace(result, type=_neighbour(result.type, random)))


def rename_return(schema, random):
    return _with_return(schema, random, lambda result: replace(result, name=random.choice([None, "values", "out"])))


def change_returns(schema, random):
    returns = random.choice([schema.returns[:-1], (*schema.returns, Return(random.choice(TYPES)))])
    return replace(schema, returns=returns, tuple_return=len(returns) != 1)


def add_out(schema, random):
    """One out argument more, and sometimes a return for it."""
    out = Argument("extra_out", BaseType("Tensor"), PLACE, None, Alias(("y",), write=True), True)
    returns = random.choice([schema.returns, (*schema.returns, Return(BaseType("Tensor"), None, out.alias))])
    return replace(schema, arguments=(*schema.arguments, out), returns=returns, tuple_return=len(returns) != 1)


def append_trailing(schema, random):
    """An argument behind all others, the out ones included."""
    default = random.choice(["0", "[]", None])
    type_ = ListType(BaseType("int")) if default == "[]" else BaseType("int")
    added = Argument("trailing", type_, PLACE, default, None, bool(schema.kwarg_only) or random.random() < 0.5)
    return replace(schema, arguments=(*schema.arguments, added))


CHANGES = [
    nothing,
    rename_op,
    rename_overload,
    remove_argument,
    add_argument,
    add_argument,
    swap_arguments,
    rename_argument,
    change_type,
    change_type,
    change_type_and_default,
    change_default,
    change_default,
    respell_default,
    move_star,
    change_alias,
    change_return_alias,
    change_return_type,
    rename_return,
    change_returns,
    add_out,
    append_trailing,
]

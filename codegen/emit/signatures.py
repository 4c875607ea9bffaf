"""Python signatures of generated functions: what their ``def`` line says and how they pass their arguments on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from keyword import iskeyword

from ..model import Argument, ListType, Model, Op

# What NumPy calls an argument; the generated functions take both spellings, as torch's do.
NUMPY_SPELLINGS = {"dim": "axis", "keepdim": "keepdims"}

# Names that schemas use for defaults, and what they mean in Python. (That a mean is none there is torch's.)
_NAMED_DEFAULTS = {"Mean": "0", "long": "int64", "contiguous_format": "contiguous_format"}

# The default of what may be left out as far as Python is concerned.
ABSENT = "..."

_TENSOR_OPTIONS = frozenset(("dtype", "layout", "device", "pin_memory"))


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a generated function. ``alias_of`` names the parameter that it is another spelling of."""

    name: str
    default: str | None = None
    kwarg_only: bool = False
    alias_of: str | None = None

    def __str__(self) -> str:
        return self.name if self.default is None else f"{self.name}={self.default}"

    @property
    def is_reserved(self) -> bool:
        """Whether Python's syntax keeps the name for itself: ``from``."""
        return iskeyword(self.name)

    @property
    def passed(self) -> str:
        """How the parameter is handed on to a function with the same signature."""
        return f"{self.name}={self.name}" if self.kwarg_only else self.name


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function; ``rest`` collects the ints of a call such as ``view(2, 3)``."""

    parameters: tuple[Parameter, ...]
    rest: str | None = None

    def __str__(self) -> str:
        words = [str(parameter) for parameter in self.positional]
        keywords = [str(parameter) for parameter in self.parameters if parameter.kwarg_only]
        star = [f"*{self.rest}"] if self.rest else ["*"] if keywords else []
        return ", ".join(words + star + keywords)

    @property
    def shown(self) -> str:
        """The parameters as people are told them: without NumPy's spellings, and what may be spelled so is required."""
        own = [each for each in self.parameters if not each.alias_of]
        shown = (replace(each, default=None) if each.default == ABSENT else each for each in own)
        return str(Signature(tuple(shown), self.rest))

    @property
    def taking_nothing(self) -> Signature:
        """The same where nothing has to be given by position: a call that lacks an argument gets to the function, whose
        error is torch's. What Python says of too many arguments is less exact then."""
        return replace(self, parameters=tuple(_absentable(each) for each in self.parameters))

    @property
    def positional(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if not parameter.kwarg_only)

    @property
    def is_positional(self) -> bool:
        """Whether a call by position can give all, and no more."""
        return self.rest is None and len(self.positional) == len(self.parameters)

    @property
    def names(self) -> tuple[str, ...]:
        """Those that may be given by position."""
        return tuple(parameter.name for parameter in self.positional)

    @property
    def defaults(self) -> tuple[str, ...]:
        """The items of a dictionary of what stands for nothing given."""
        optional = [each for each in self.parameters if each.default is not None]
        return tuple(f'"{parameter.name}": {parameter.default}' for parameter in optional)

    @property
    def required_by_name(self) -> tuple[str, ...]:
        """Those that cannot be given by position, and have to be given."""
        return tuple(each.name for each in self.parameters if each.kwarg_only and each.default is None)

    @property
    def aliases(self) -> tuple[Parameter, ...]:
        return tuple(parameter for parameter in self.parameters if parameter.alias_of)

    @property
    def passed(self) -> str:
        """The arguments of a call that hands everything on, other than NumPy's spellings."""
        words = [parameter.passed for parameter in self.positional]
        rest = [f"*{self.rest}"] if self.rest else []
        handed_on = (p for p in self.parameters if p.kwarg_only and not p.alias_of)
        keywords = [parameter.passed for parameter in handed_on]
        return ", ".join(words + rest + keywords)


def _absentable(parameter: Parameter) -> Parameter:
    is_optional = parameter.kwarg_only or parameter.default is not None
    return parameter if is_optional else replace(parameter, default=ABSENT)


def python_default(argument: Argument) -> str | None:
    """The default of an argument as Python source."""
    text = argument.default
    if text is None or text == "None":
        return text
    kind = argument.type.without_optional
    if isinstance(kind, ListType):
        return _list_default(text, kind.size)
    if kind.base == "float" and text.lstrip("-").isdigit():
        return f"{text}.0"
    return _NAMED_DEFAULTS.get(text, text)


def _list_default(text: str, size: int | None) -> str:
    """``[]`` is ``()``, ``[0,1]`` is ``(0, 1)``, and for ``int[2]`` a bare ``1`` is ``(1, 1)``."""
    items = [item.strip() for item in text.strip("[]").split(",") if item.strip()]
    if not text.startswith("["):
        items *= size or 1
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def parameter_of(argument: Argument) -> Parameter:
    default = "False" if argument.name == "pin_memory" else python_default(argument)
    return Parameter(argument.python_name, default, argument.kwarg_only)


def is_int_list(argument: Argument) -> bool:
    return argument.type.is_list and argument.type.base in ("int", "SymInt")


def takes_requires_grad(op: Op) -> bool:
    """Whether the Python function can mark its result: factories, ``*_like`` and ``new_*``."""
    options = {argument.name for argument in op.schema.arguments} >= _TENSOR_OPTIONS
    base = op.schema.base
    return options and op.kind == "functional" and (op.factory or base.endswith("_like") or base.startswith("new_"))


def signature_of(model: Model, op: Op, *, public: bool) -> Signature:
    """The signature of an op's function.

    ``public``: users call it, and not a resolver, so that it knows NumPy's spellings.
    """
    schema = op.schema
    parameters = [parameter_of(argument) for argument in schema.positional]
    if public:
        parameters = _with_optional_alias_targets(parameters)
    if generator_counterpart(model, op):
        parameters.append(Parameter("generator", "None", True))
    parameters += [parameter_of(argument) for argument in schema.kwarg_only if not argument.is_written]
    if model.variant(op, "out"):
        parameters.append(Parameter("out", "None", True))
    if schema.out_arguments:
        parameters.append(Parameter("out", kwarg_only=True))
    if takes_requires_grad(op):
        parameters.append(Parameter("requires_grad", "False", True))
    if public:
        parameters += alias_parameters(parameters)
    variadic = op.separate_ints
    return Signature(tuple(parameters), f"more_{variadic.python_name}" if variadic else None)


def _with_optional_alias_targets(parameters: list[Parameter]) -> list[Parameter]:
    """A required ``dim`` that nothing required follows may be absent (``...``), so that ``axis`` can stand for it."""
    changed = list(parameters)
    for i in reversed(range(1, len(changed))):
        parameter = changed[i]
        if parameter.default is None and parameter.name not in NUMPY_SPELLINGS:
            break
        if parameter.default is None:
            changed[i] = Parameter(parameter.name, ABSENT)
    return changed


def alias_parameters(parameters: list[Parameter]) -> list[Parameter]:
    """NumPy's spellings of those parameters that may be left out."""
    return [
        Parameter(NUMPY_SPELLINGS[parameter.name], "None", True, parameter.name)
        for parameter in parameters
        if parameter.name in NUMPY_SPELLINGS and parameter.default is not None
    ]


def generator_counterpart(model: Model, op: Op) -> Op | None:
    """The hidden overload that differs from this op by a ``generator`` only: ``rand.generator`` for ``rand``."""
    wanted = [argument.name for argument in op.schema.arguments]
    for other in model.groups.get(op.schema.name, ()):
        names = [argument.name for argument in other.schema.arguments]
        if other.hidden and "generator" in names and [name for name in names if name != "generator"] == wanted:
            return other
    return None

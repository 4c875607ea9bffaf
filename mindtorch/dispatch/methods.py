"""Generated functions as methods and operators of Tensor: the same code in another namespace.

Note [Callers]: the functions of an op find each other, and what raises their errors, by global names. Methods have a
copy of the module's namespace in which the functions of their ops are methods, too: what a method hands to
`raise_bad_argument`, `failed` or `call` is the method itself. So whoever has to know asks the function, and a call
pays nothing for that.
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import FunctionType
from typing import Any, TypeGuard

from mindtorch._core.tensor import lacks_array
from mindtorch.dispatch.shown_signature import ShownSignature

# Whether generated code runs as a method, which takes the ints of a list one by one, `x.permute(1, 0)`, and no `out=`.
IS_METHOD = False

_METHOD, _OPERATOR = "method", "operator"


def is_method(function: Any) -> bool:
    """Whether a generated function is the one that a method runs. See Note [Callers]."""
    return getattr(function, "caller", None) == _METHOD


def is_operator(function: Any) -> bool:
    """Whether a generated function is the one that a Python operator runs."""
    return getattr(function, "caller", None) == _OPERATOR


def not_implemented(function: Callable, *args: Any, **kwargs: Any) -> Any:
    """The end of an operator with an operand that isn't a tensor: Python asks the other operand."""
    return NotImplemented


def as_operator(function: FunctionType, reject: Callable = not_implemented) -> FunctionType:
    """A generated function as a Python operator: `x * y` costs one frame, and an unknown operand ends in `reject`.

    A function with keyword-only parameters has a form without them, `mul_operator`: such defaults take longer to find.
    """
    ends = dict.fromkeys(("raise_bad_argument", "raise_no_overload", "raise_unmatched"), reject)
    ends |= {name: _end(end, reject) for name, end in function.__globals__.items() if name in _ENDS}
    form = function.__globals__.get(f"{function.__name__}_operator", function)
    return _namespace(function, _OPERATOR, ends).own(function, form)


_ENDS = frozenset(("failed", "failed_or_number_first"))  # of calls inside of which an error came up


@cache
def _end(end: Callable, reject: Callable) -> Callable:
    """Such an end for an operator, which rejects what is no tensor."""

    def end_of_operator(error: Exception, function: Callable, *args: Any, **kwargs: Any) -> Any:
        try:
            return (reject if lacks_array(error) else partial(end, error))(function, *args, **kwargs)
        finally:
            del error

    return end_of_operator


def as_method(function: FunctionType) -> FunctionType:
    """A generated function as a method, which takes separate ints, and no `out=`."""
    method = _namespace(function, _METHOD, {"IS_METHOD": True}).own(function)
    method.__signature__ = ShownSignature(method, is_method=True)  # type: ignore[attr-defined]
    return method


def out_form(function: FunctionType) -> FunctionType:
    """The `out=` form of an op as a function of its own: the same code, to which `out` has to be given.

    Modes get calls of the functional function with `out` as calls of this one.
    """
    form = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_out", function.__defaults__)
    form.__qualname__ = form.__name__
    form.__kwdefaults__ = {name: value for name, value in (function.__kwdefaults__ or {}).items() if name != "out"}
    _pair(function, form)
    return form


def _pair(function: Any, form: Any) -> None:
    form.functional = function
    function.out_form = form


def is_generated(function: Any) -> TypeGuard[FunctionType]:
    """Whether a callable is a function of a module of ops, rather than an object that stands for one."""
    return isinstance(function, FunctionType) and function.__globals__.get(function.__name__) is function


_namespaces: dict[tuple, "Namespace"] = {}


def _namespace(function: FunctionType, caller: str, others: Mapping[str, Any]) -> "Namespace":
    """What a function's global names are for a kind of callers: those of its module, but for `others`."""
    place = (id(function.__globals__), caller, *others.values())
    if place not in _namespaces:
        _namespaces[place] = Namespace(function.__globals__, caller, others)
    return _namespaces[place]


class Namespace:
    """The names of a module of generated functions, with others for some of them."""

    def __init__(self, module: dict[str, Any], caller: str | None, others: Mapping[str, Any]) -> None:
        self.names = {**module, **others}
        self.caller = caller
        self._module = module
        self._by_base: dict[str, list[str]] = {}
        for name, value in module.items():
            if isinstance(value, FunctionType) and value.__globals__ is module:
                self._by_base.setdefault(_base_of(value), []).append(name)

    def own(self, function: FunctionType, form: FunctionType | None = None) -> FunctionType:
        """A function with these names, perhaps in another form; the others of its op have them, too."""
        copies = []
        for name in self._by_base.pop(_base_of(function), ()):
            each = self._module[name]
            self.names[name] = copied = self._copied(each, (form or each) if each is function else each)
            copies.append(copied)
        for copied in copies:
            if (functional := getattr(copied, "functional", None)) is not None:
                _pair(self.names[functional.__name__], copied)
        return self.names[function.__name__]

    def _copied(self, function: FunctionType, form: FunctionType) -> Callable:
        # The interpreter notes in a code object where it has found global names: with two namespaces it needs two.
        code = form.__code__.replace()
        copied = FunctionType(code, self.names, function.__name__, self._defaults(form))
        copied.__kwdefaults__ = form.__kwdefaults__
        copied.__doc__ = function.__doc__
        vars(copied).update(vars(function), caller=self.caller)
        return copied

    def _defaults(self, form: FunctionType) -> tuple[Any, ...] | None:
        """A method that is called without an argument refuses that itself, in torch's words. An operator that is called
        without an operand is refused by Python, as in torch."""
        defaults = form.__defaults__ or ()
        if self.caller == _METHOD:
            return (...,) * (form.__code__.co_argcount - len(defaults)) + defaults
        if self.caller == _OPERATOR:
            return defaults[sum(each is ... for each in defaults) :]
        return form.__defaults__


def _base_of(function: Any) -> str:
    """The base name of the op of a generated function. Resolvers, which have no op of their own, are called by it."""
    entry = getattr(function, "op", None)
    return function.__name__ if entry is None else entry.base

"""Straight calls: those whose arguments are right as they are, and which autograd need not know of.

They are most of the calls, and pay neither for conversions nor for the layers: `Operator.__call__` looks the classes of
the arguments up, and finds the kernel to call.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mindtorch._core.device import device
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch.schema.syntax import Parameter
from mindtorch.dispatch.schema.types import CONSTANTS
from mindtorch.library.casting import INT_LIMIT
from mindtorch.library.keys import AUTOGRAD

if TYPE_CHECKING:
    from mindtorch.library.operator import Operator

# The kernel, None if calls with such arguments are not straight; the places of the tensors, which must be on the CPU
# and outside of autograd; what else the values must satisfy.
Plan = tuple[Callable | None, tuple[int, ...], Callable[[tuple, dict], bool] | None]

_NO_PLAN: Plan = (None, (), None)
_FITTING: dict[str, tuple[type, ...]] = {
    "Tensor": (Tensor,),
    "int": (int,),
    "SymInt": (int,),
    "float": (float,),
    "bool": (bool,),
    "str": (str,),
    "Scalar": (int, float, bool, complex),
    "Device": (device,),
    **{base: (kind,) for base, kind in CONSTANTS.items()},
}
_CLASSES = frozenset((type(None), list, tuple, *(kind for kinds in _FITTING.values() for kind in kinds)))


class Plans(dict):
    """The plans of an op, by the classes of the arguments, in the middle of which are the names of the keyword ones.

    A registration empties it.
    """

    def __init__(self, operator: "Operator") -> None:
        super().__init__()
        self._operator = operator

    def __missing__(self, key: tuple) -> Plan:
        names = [each for each in key if isinstance(each, str)]
        classes = [each for each in key if not isinstance(each, str)]
        parameters = self._operator.bind.parameters_of(len(classes) - len(names), names)
        if parameters is None or not _CLASSES.issuperset(classes):
            return _NO_PLAN  # not stored: users' classes would never be freed
        plan = self[key] = self._plan(parameters, classes)
        return plan

    def _plan(self, parameters: Sequence[Parameter], classes: Sequence[type]) -> Plan:
        if not all(map(_fits, parameters, classes)):
            return _NO_PLAN
        tensors = tuple([place for place, kind in enumerate(classes) if kind is Tensor])
        kernel = self._operator.straight_kernel(np.ndarray if tensors else None)
        return kernel, tensors, _value_check(parameters, classes)


def _fits(parameter: Parameter, kind: type) -> bool:
    """Whether values of this very class stay what they are."""
    marks = parameter.type.marks
    if kind is type(None):
        return marks[-1:] == ("?",)
    if parameter.keyword_only and kind is Tensor:
        return False
    return marks in ((), ("?",)) and kind in _FITTING.get(parameter.type.base, ())


def _value_check(parameters: Sequence[Parameter], classes: Sequence[type]) -> Callable[[tuple, dict], bool] | None:
    """What depends on the values: integers have 64 bits, and a kernel does not get defaults."""
    ints = [place for place, kind in enumerate(classes) if kind is int and parameters[place].type.base != "Scalar"]
    last = max((place for place, parameter in enumerate(parameters) if not parameter.keyword_only), default=None)
    droppable = [
        (place, parameter)
        for place, (parameter, kind) in enumerate(zip(parameters, classes))
        if (parameter.keyword_only or place == last) and parameter.has_default and type(parameter.default) is kind
    ]
    if not ints and not droppable:
        return None

    def fits(args: tuple, kwargs: dict) -> bool:
        values = (*args, *kwargs.values()) if kwargs else args
        for place, parameter in droppable:
            if values[place] == parameter.default:
                return False
        for place in ints:
            if not -INT_LIMIT <= values[place] < INT_LIMIT:
                return False
        return True

    return fits


def class_outside_autograd(values: Sequence[Any]) -> Any:
    """The class of the arrays of a call, see `array_class_of`; AUTOGRAD if a tensor may take part in autograd."""
    found = None
    for value in values:
        if isinstance(value, Tensor):
            if value._mt_edge is not None:
                return AUTOGRAD
            own = type(value._mt_array)
        elif type(value) is list:
            own = class_outside_autograd(value)
            if own is AUTOGRAD:
                return AUTOGRAD
        else:
            continue
        if found is None or found is np.ndarray:
            found = own or found
    return found

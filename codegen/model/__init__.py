"""The data model: what ops.yaml and derivatives.yaml say, as immutable objects.

Only load.py makes a `Model`; the rules and the emitters read it.
"""

from .derivative import Derivative, SavedUse
from .formula import CONSTANT, REFUSED, Formula, FormulaKind, Reference, SavedKind, SavedValue
from .op import Kernel, OldForm, Op, ScalarExpression, View
from .schema import Argument, FunctionSchema, Kind, Return
from .source import Location, Text
from .types import Alias, BaseType, ListType, OptionalType, Type
from .whole import Model, grouped

__all__ = [
    "Alias",
    "Argument",
    "BaseType",
    "CONSTANT",
    "Derivative",
    "Formula",
    "FormulaKind",
    "FunctionSchema",
    "Kernel",
    "Kind",
    "ListType",
    "Location",
    "Model",
    "OldForm",
    "Op",
    "OptionalType",
    "REFUSED",
    "Reference",
    "Return",
    "SavedKind",
    "SavedUse",
    "SavedValue",
    "ScalarExpression",
    "Text",
    "Type",
    "View",
    "grouped",
]

"""Nothing is left to be written for an op that is listed: kernel, formulas and test inputs.

``python -m codegen new`` lists an op before they are there. The message of a failure says what to write, and where.
"""

import ast
import inspect
import textwrap
from importlib import import_module

import pytest

from codegen.emit.kernel_texts import kernel_parameters
from codegen.statistics import kernel_hint
from tests.harness import is_stub, model
from tests.samples import SAMPLES, Maker

OPS = [op for op in model().ops.values() if op.derived_from is None]


def missing_kernel(op):
    if is_stub(op):
        place, parameters = model().project.kernel_place("CPU", op.family), kernel_parameters(model(), op)
        hint = kernel_hint(model(), "CPU", op)
        yield f"{op.location}: fill {place}: def {op.dispatch['CPU']}({parameters}){hint}"


def missing_composite(op):
    """A function that only raises NotImplementedError, as `new` writes it."""
    if op.composite is None or op.decomposition is not None:
        return
    module = model().project.module_of(model().composites[op.family][op.composite].file)
    function = getattr(import_module(module), op.composite)
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function)))).body
    last = definition.body[-1] if isinstance(definition, ast.FunctionDef) else None
    if isinstance(last, ast.Raise) and "NotImplementedError" in ast.unparse(last) and len(definition.body) <= 2:
        yield f"{op.location}: fill {inspect.getsourcefile(function)}: def {op.composite}(...)"


def missing_formulas(op):
    derivative = model().derivatives.get(op.name)
    formulas = (*derivative.backward, *derivative.forward) if derivative else ()
    for formula in formulas:
        if formula.is_to_write:
            what = "forward-mode rule" if formula in derivative.forward else "gradient"
            advice = "write it, or say that it is refused, if PyTorch has none"
            yield f"{formula.location}: the {what} of '{', '.join(formula.targets)}' is not_implemented: {advice}"


def missing_samples(op):
    try:
        next(iter(SAMPLES[op.samples](Maker(op.name, "float32"))), None) if op.samples else None
    except NotImplementedError as error:
        yield f"{op.location}: {error}"


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_nothing_is_left_to_write(op):
    missing = [*missing_kernel(op), *missing_composite(op), *missing_formulas(op), *missing_samples(op)]
    if missing:
        pytest.fail("\n".join([f"{op.name} is not complete:", *missing]), pytrace=False)

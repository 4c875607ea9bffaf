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
from mindtorch.dispatch.registry import find_op
from mindtorch.testing.ops import unvaried
from tests.harness import dtypes_of, is_stub, model, samples_of
from tests.ops.unvaried import UNVARIED
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


def missing_values(op):
    """Arguments that no sample gives another value than their default: a formula that ignores them would pass."""
    if not op.samples or is_stub(op) or any(missing_samples(op)):
        return
    samples = (sample for dtype in dtypes_of(op) for sample in samples_of(op, dtype))
    for argument in unvaried(find_op(op.name).schema, samples):
        yield f"{op.location}: the samples '{op.samples}' never vary '{argument}': add a call to tests/samples.py"


@pytest.mark.parametrize("op", [op for op in OPS if op.name in UNVARIED], ids=lambda op: op.name)
def test_what_is_known_to_be_unvaried_still_is(op):
    """Whoever varies an argument takes it out of the table."""
    found = [line.partition("never vary '")[2].partition("'")[0] for line in missing_values(op)]
    assert [argument.partition("=")[0].split()[-1] for argument in found] == UNVARIED[op.name].split()


@pytest.mark.parametrize("op", OPS, ids=[op.name for op in OPS])
def test_nothing_is_left_to_write(op):
    missing = [*missing_kernel(op), *missing_composite(op), *missing_formulas(op), *missing_samples(op)]
    missing += missing_values(op) if op.name not in UNVARIED else []
    if missing:
        pytest.fail("\n".join([f"{op.name} is not complete:", *missing]), pytrace=False)

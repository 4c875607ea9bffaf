"""The rules about whether the words of an entry fit its schema: as many arguments, of those types, and results."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import Problems
from ..keys import BINARY_OPERATORS, UNARY_OPERATORS
from ..model import Op
from ..read.op_entries import OpEntry
from ..sources.hand_written import HandWritten
from ..sources.rule_forms import RuleForm

_ONE_BY_ONE = "one_by_one"
_SHAPE_HINT = "take the word of an op with such arguments (docs/rules.md), or name a meta kernel: dispatch: {Meta: ...}"
_SAMPLES_HINT = "take the word of an op with such arguments, or write a generator in {}"


def check_words(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    for rule in FIT_RULES:
        rule(entry, sources, problems)


def shape_fits(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    word, misfit = entry.scalar("shape"), shape_misfit(entry.op, sources)
    if word is not None and misfit:
        problems.add("E044", f"the shape rule '{word.text}' {misfit}", word.location, _SHAPE_HINT)


def shape_misfit(op: Op, sources: HandWritten) -> str:
    form = _form("shape", op.shape, sources)
    if form is None:
        return ""
    return next(form.misfits(op.schema), "") or _results_misfit(op, form, sources.rules["shape"].doubling)


def _results_misfit(op: Op, form: RuleForm, doubling: frozenset[str]) -> str:
    """What is wrong with the number of results."""
    count = len(op.schema.returns)
    if form.results == "several" and count == 1:
        return f"gives several results, and {op.name} has one"
    is_one = form.results == "one" or form.results == "by promotion" and op.promotion not in doubling
    return f"gives one result, and {op.name} has {count}" if is_one and count > 1 else ""


def promotion_fits(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    word, misfit = entry.scalar("promotion"), promotion_misfit(entry.op, sources)
    if word is not None and misfit:
        hint = "docs/rules.md says what the words stand for"
        problems.add("E044", f"the promotion rule '{word.text}' {misfit}", word.location, hint)


def promotion_misfit(op: Op, sources: HandWritten) -> str:
    """A rule that the shape rule asks about the operands is one that can tell from these."""
    shape, form = _form("shape", op.shape, sources), _form("promotion", op.promotion, sources)
    if op.promotion in sources.rules["shape"].doubling and len(op.schema.returns) == 1:
        return f"gives two dtypes, and {op.name} has one result"
    if form is None or shape is None or not shape.promotes:
        return ""
    if shape.operands is not None and shape.operands < form.required:
        return f"needs {form.required} operands, and the shape rule '{op.shape}' has {shape.operands} for it"
    return next(form.misfits(op.schema), "")


def batch_fits(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """Inside `vmap` an op follows the rule of ``batch``, or the one that is called like its shape."""
    op = entry.op
    if not any(argument.type.base == "Tensor" for argument in op.schema.inputs) or shape_misfit(op, sources):
        return
    word = entry.scalar("batch") or entry.scalar("shape")
    form = _form("batch", word.text, sources) if word else None
    if word is None or form is None:
        return
    misfit, hint = next(form.misfits(op.schema), ""), f"write 'batch: {_ONE_BY_ONE}', which takes every op"
    if not misfit and form.only is not None and op.name not in form.only:
        misfit = f"is for {', '.join(sorted(form.only))}"
        hint += f", or add {op.name} to {form.table} in {form.file}"
    if misfit:
        problems.add("E044", f"the batching rule '{word.text}' {misfit}", word.location, hint)


def _form(key: str, word: str | None, sources: HandWritten) -> RuleForm | None:
    return sources.rules[key].forms.get(word or "")


def samples_fit(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """The test inputs are arguments that the op takes."""
    word, misfit = entry.scalar("samples"), samples_misfit(entry.op, sources)
    if word is not None and misfit:
        hint = _SAMPLES_HINT.format(sources.project.samples)
        problems.add("E045", f"the samples '{word.text}' {misfit}", word.location, hint)


def samples_misfit(op: Op, sources: HandWritten) -> str:
    calls = sources.rules["samples"].calls.get(op.samples or "", ())
    return next((misfit for call in calls if (misfit := call.misfit(op))), "")


def misfits(op: Op, sources: HandWritten) -> dict[str, str]:
    """The keys of an op whose words do not fit its schema, and why."""
    found = {
        "shape": shape_misfit(op, sources),
        "promotion": promotion_misfit(op, sources),
        "samples": samples_misfit(op, sources),
    }
    return {key: f"{'they' if key == 'samples' else 'it'} {misfit}" for key, misfit in found.items() if misfit}


def view_has_kernel(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """The shape rule of views asks the CPU kernel."""
    word = entry.scalar("shape")
    dispatch = entry.op.dispatch or {}
    if word is not None and word.text == "view" and "CPU" not in dispatch and "dispatch" in entry.values:
        message = f"the shape rule 'view' asks the CPU kernel, and {entry.op.name} has none"
        problems.add("E044", message, word.location, "name it: dispatch: {CPU: ...}")


def operators_fit(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """``x + y`` calls an op with two arguments, and ``-x`` one with one."""
    operators = entry.scalar("operators")
    required = [each for each in entry.op.schema.inputs if each.default is None]
    takes = len(entry.op.schema.positional)
    for word in operators.words() if operators else ():
        wanted = 2 if word.text in BINARY_OPERATORS else 1 if word.text in UNARY_OPERATORS else None
        if wanted is not None and not len(required) <= wanted <= takes:
            message = f"'{word.text}' calls an op with {_counted(wanted)}, and {entry.op.name} takes {_counted(takes)}"
            problems.add("E035", message, word.location, "bind it to another op: remove it here")


def _counted(count: int) -> str:
    return "1 argument" if count == 1 else f"{count} arguments"


def inplace_has_shape_of_self(entry: OpEntry, sources: HandWritten, problems: Problems) -> None:
    """What is smaller than ``self`` cannot be written there."""
    shape, autogen = entry.scalar("shape"), entry.scalar("autogen")
    inplace = next((word for word in autogen.words() if word.text == "inplace"), None) if autogen else None
    if shape is not None and shape.text == "reduce" and inplace is not None:
        message = f"the shape rule 'reduce' leaves no room for an in-place variant of {entry.op.name}"
        problems.add("E044", message, inplace.location, "remove 'inplace'")


FIT_RULES: tuple[Callable[[OpEntry, HandWritten, Problems], None], ...] = (
    shape_fits,
    promotion_fits,
    batch_fits,
    samples_fit,
    view_has_kernel,
    operators_fit,
    inplace_has_shape_of_self,
)

"""What is known of a new op before its keys are chosen: its family, its closest relative, how it is computed."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ..errors import Problems, did_you_mean, did_you_mean_op
from ..keys import POINTWISE
from ..model import FunctionSchema, Model, Op
from ..npu.aclnn_signature import Signature
from ..project import Project
from .relatives import Profile, Relative, closest, entries
from .wanted import Wanted, option

# Families that the names of their ops begin with.
_PREFIXES = frozenset(("fft", "linalg", "special", "foreach"))


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. ``composite`` is None when it follows from what PyTorch does; ``decomposition`` is the
    expression that the op is, if it is given."""

    text: str
    family: str | None = None
    after: str | None = None
    composite: bool | None = None
    decomposition: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A new op with the choices that all its lines depend on.

    ``function_name`` is what its kernel, or its composite function, is called. ``is_asked``: the relative is the op
    that was asked for, so that all of it that fits is taken; ``misfits`` says of the other keys why they do not.
    ``decomposition`` is the expression that the op was asked to be.
    """

    wanted: Wanted
    relative: Relative | None
    family: str
    reason_for_family: str
    is_composite: bool
    function_name: str
    project: Project
    signatures: Mapping[str, Signature]
    is_asked: bool = False
    misfits: Mapping[str, str] = field(default_factory=dict)
    decomposition: str | None = None

    @property
    def schema(self) -> FunctionSchema:
        return self.wanted.schema

    @property
    def relative_op(self) -> Op | None:
        return self.relative.op if self.relative else None

    @property
    def counterpart(self) -> Op | None:
        """The relative if it takes and returns the same types, so that its rules can be expected to fit."""
        return self.relative.op if self.relative and self.relative.same_types else None

    @property
    def pointwise_relative(self) -> Op | None:
        """The relative if both ops are pointwise: then its rules fit any number of tensors."""
        op = self.relative_op
        is_pointwise = op is not None and op.family == self.family in POINTWISE and op.kind == self.schema.kind
        return op if is_pointwise and len(self.schema.returns) == 1 else None

    @property
    def relative_of_rules(self) -> Op | None:
        """The relative whose rules, dtypes and variants can be expected to fit."""
        return self.counterpart or self.pointwise_relative or self.asked_relative

    @property
    def asked_relative(self) -> Op | None:
        """The relative if it was asked for, and is the same kind of op."""
        op = self.relative_op
        fits = self.is_asked and op is not None and op.kind == self.schema.kind
        return op if fits and op is not None and op.is_composite == self.is_composite else None


def make_draft(
    wanted: Wanted, request: Request, model: Model, problems: Problems, misfits: Callable[[Op], Mapping[str, str]]
) -> Draft:
    """The choices for one op; raises InvalidInput when ``request`` names an op or a family that does not exist.

    ``misfits`` are the keys of an op that do not fit its schema, and why.
    """
    _check_family(request, model, problems)
    profile, name = _profile(wanted, request), _free_name(wanted.schema, model)
    composite, table = _is_composite(wanted, request), model.signatures
    if request.after is not None:
        op = _named(request.after, model, problems)
        family, reason = request.family or op.family, "as the op that it goes after"
        draft = Draft(
            wanted, closest(profile, model, [op]), family, reason, composite, name, model.project, table, True
        )
        draft = replace(draft, decomposition=request.decomposition)
        return replace(draft, misfits=misfits(replace(op, schema=wanted.schema)) if draft.asked_relative else {})
    listed = [op for op in entries(model) if request.family in (None, op.family)]
    family, reason = _family(wanted, closest(profile, model, listed), model)
    if request.family is not None:
        family, reason = request.family, "as asked for"
    members = [op for op in listed if op.family == family]
    relative = closest(profile, model, members)
    draft = Draft(wanted, relative, family, reason, composite, name, model.project, table)
    return replace(draft, decomposition=request.decomposition)


def _profile(wanted: Wanted, request: Request) -> Profile:
    """What is known of the new op: all of it from PyTorch, or little more than the schema."""
    function, derivative = wanted.function, wanted.derivative
    is_sparse = "sparse" in wanted.schema.base.split("_")
    if function is None:
        return Profile(wanted.schema, is_composite=None if request.composite else False, is_sparse=is_sparse)
    is_composite = _is_composite(wanted, request)
    is_differentiable = function.is_composite or derivative is not None and all(derivative.outputs[:1])
    tags, module = frozenset(function.tags), function.python_module
    return Profile(wanted.schema, tags, module, is_composite, is_differentiable, is_sparse)


def _is_composite(wanted: Wanted, request: Request) -> bool:
    """As asked for, or else as in PyTorch."""
    if request.composite is not None:
        return request.composite
    return wanted.function is not None and wanted.function.is_composite


def _free_name(schema: FunctionSchema, model: Model) -> str:
    """``hypot``, or ``max_dim`` for ``max.dim``; something longer if another op's function is called like this."""
    overload = "" if schema.overload in ("", "Tensor") else f"_{schema.overload.lower()}"
    name = f"{schema.base.strip('_')}{overload}"
    taken = {used for op in entries(model) for used in (*(op.dispatch or {}).values(), op.composite)}
    names = (name, f"{name}_op", f"{name}_{schema.kind}")
    return next(free for free in names if free not in taken and not keyword.iskeyword(free))


def _check_family(request: Request, model: Model, problems: Problems) -> None:
    families = model.project.families
    if request.family is not None and request.family not in families:
        hint = did_you_mean(request.family, families) or f"it is one of: {', '.join(families)}"
        problems.add("E015", f"unknown family '{request.family}'", option("family", request.family, problems), hint)
        problems.raise_if_any()


def _named(name: str, model: Model, problems: Problems) -> Op:
    """The entry that a name belongs to, be it that of a variant."""
    if name not in model.ops:
        message = f"no op '{name}' that a new one could go after"
        place = option("after", name, problems)
        hint = did_you_mean_op(name, [each.name for each in entries(model)]) or f"{model.project.ops} lists them"
        problems.add("E112", message, place, hint)
        problems.raise_if_any()
    op = model.ops[name]
    return model.ops[op.derived_from] if op.derived_from else op


def _family(wanted: Wanted, relative: Relative | None, model: Model) -> tuple[str, str]:
    """The family, and why it is that one."""
    families = model.project.families
    overload = next((op for op in model.ops.values() if op.schema.base == wanted.schema.base), None)
    prefix = wanted.schema.base.strip("_").partition("_")[0]
    if overload is not None:
        return overload.family, f"as {overload.name}: overloads stay together"
    if prefix in _PREFIXES.intersection(families):
        return prefix, f"its name starts with {prefix}"
    if relative is not None:
        return relative.op.family, f"as {relative.op.name}, the op that is most like it: check it"
    return families[0], "a guess: there is no op to compare with"

"""Everything that the emitters need, in one object."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..npu.aclnn_signature import Signature
from ..project import Project
from .derivative import Derivative
from .op import Kernel, Op
from .schema import Kind


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that the emitters need.

    ``ops``        by full name, in the order of ops.yaml, derived variants behind the op they come from
    ``families``   the ops of each family, in that order
    ``groups``     the ops that share a Python name (``sum``, ``add_``), without ``out=`` variants: the overloads
    ``kernels``    the hand-written kernels: by backend and family, then by name
    ``composites`` the hand-written composite functions: by family, then by name
    ``project``    the package that the ops belong to, and where its files are
    ``helpers``    the module of each helper of formulas, ``helper_files`` the file
    ``parts``      the same two of each helper of decompositions
    ``sources``    the hand-written files of the project: by path, then by name, the statements that define something
    ``extensions`` the hand-written classes whose methods are put on Tensor: by name, the module
    ``batching``   the names of the batching rules, which `shape` and `batch` refer to
    ``signatures`` the functions of ACLNN that `aclnn` may call
    ``variants``   the derived variants: by the name of the op that they come from, and by kind
    """

    ops: Mapping[str, Op]
    derivatives: Mapping[str, Derivative]
    families: Mapping[str, tuple[Op, ...]]
    groups: Mapping[str, tuple[Op, ...]]
    kernels: Mapping[tuple[str, str], Mapping[str, Kernel]]
    composites: Mapping[str, Mapping[str, Kernel]]
    project: Project
    helpers: Mapping[str, str]
    sources: Mapping[str, Mapping[str, ast.stmt]]
    helper_files: Mapping[str, str] = field(default_factory=dict)
    extensions: Mapping[str, str] = field(default_factory=dict)
    batching: frozenset[str] = frozenset()
    signatures: Mapping[str, Signature] = field(default_factory=dict)
    variants: Mapping[tuple[str, Kind], Op] = field(default_factory=dict)
    parts: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    def derivative_of(self, op: Op) -> Derivative | None:
        """The derivative that a call of ``op`` records: its own, or for an in-place variant the functional op's."""
        own = self.derivatives.get(op.name)
        if own is None and op.kind == "inplace" and op.derived_from:
            return self.derivatives.get(op.derived_from)
        return own

    def variant(self, op: Op, kind: Kind) -> Op | None:
        """The variant of ``op`` that was derived from it: ``variant(mul, "inplace")`` is ``mul_``.

        Functions of Python and their kernels do not know of an ``out=`` that only copies.
        """
        return self.variants.get((op.name, kind))


def grouped(pairs: Iterable[tuple[str, Op]]) -> dict[str, tuple[Op, ...]]:
    """The ops of each name, in their order: of a family, or the overloads of a Python name."""
    groups: dict[str, list[Op]] = {}
    for name, op in pairs:
        groups.setdefault(name, []).append(op)
    return {name: tuple(ops) for name, ops in groups.items()}

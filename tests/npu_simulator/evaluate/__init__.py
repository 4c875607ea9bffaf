"""What each ACLNN op computes: a plain function of arrays for each, with the arguments of its header.

Written from CANN's documents, and from nothing else of this project: the tests refuse an import of mindtorch here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.npu_simulator.evaluate import (
    activation,
    attention,
    bags,
    blending,
    counting,
    creation,
    indexing,
    joining,
    linalg,
    loss,
    norms,
    optim,
    pointwise,
    pools,
    reduction,
    resample,
    sequences,
    windows,
)
from tests.npu_simulator.evaluate.contract import Evaluator, contiguous
from tests.npu_simulator.generate import Signature, signatures

MODULES = (
    pointwise,
    blending,
    activation,
    reduction,
    counting,
    indexing,
    joining,
    linalg,
    windows,
    pools,
    norms,
    loss,
    creation,
    resample,
    optim,
    attention,
    bags,
    sequences,
)
# Ops that take no strided inputs, so that callers show what they do then. Real ones differ from version to version.
CONTIGUOUS_ONLY = (
    "aclnnConvolution",
    "aclnnConvolutionBackward",
    "aclnnTopk",
    "aclnnGridSampler2D",
    "aclnnDropoutDoMask",
    "aclnnErfinv",
    "aclnnLayerNorm",
    "aclnnCummax",
    "aclnnFlashAttentionScore",
    "aclnnUnfoldGrad",
)


def _in_place(evaluator: Evaluator, at: int) -> Evaluator:
    """The output is the first argument; `at` is where the function behind it has its output."""

    def evaluate(self: Any, *rest: Any) -> None:
        arguments = [self, *rest]
        evaluator(*arguments[:at], self, *arguments[at:])

    return evaluate


def _outputs(signature: Signature) -> list[int]:
    return [i for i, name in enumerate(signature.parameters) if name in ("out", "result", "output")]


def _derived() -> dict[str, Evaluator]:
    """In-place forms of functions that have the same arguments and an output besides."""
    table, found = signatures(), {}
    for name, own in table.items():
        base = name.replace("Inplace", "", 1) if name.startswith("aclnnInplace") else ""
        signature = table.get(base)
        if signature is None or base not in EVALUATORS or name in EVALUATORS or own.kinds[0] != "T":
            continue
        for at in _outputs(signature):
            if signature.kinds[:at] + signature.kinds[at + 1 :] == own.kinds:
                found[name] = _in_place(EVALUATORS[base], at)
    return found


def _foreach_in_place() -> dict[str, Evaluator]:
    """aclnnForeachMulListInplace and the like: the first list is written."""
    table = signatures()
    names = [name for name in table if name.startswith("aclnnForeach") and name.endswith("Inplace")]
    found = {}
    for name in names:
        base = name.removesuffix("Inplace").replace("ACos", "Acos")
        if base in EVALUATORS and name not in EVALUATORS:
            found[name] = _in_place(EVALUATORS[base], len(table[base].kinds) - 1)
    return found


def _contiguous_only(evaluator: Evaluator) -> Evaluator:
    def evaluate(*arguments: Any) -> None:
        contiguous(*(each for each in arguments if isinstance(each, np.ndarray)))
        evaluator(*arguments)

    return evaluate


EVALUATORS: dict[str, Evaluator] = {}
for _module in MODULES:
    EVALUATORS |= _module.EVALUATORS
EVALUATORS |= _derived()
EVALUATORS |= _foreach_in_place()
EVALUATORS |= {name: _contiguous_only(EVALUATORS[name]) for name in CONTIGUOUS_ONLY}

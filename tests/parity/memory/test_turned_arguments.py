"""Every op of the table with one of its tensors lying in memory the other way round, and all others in rows."""

import warnings

import pytest
import torch

import mindtorch
from tests.harness import outcome, specs_in, tensor_of
from tests.parity.func.test_vmap_layouts import OPS, call_of, sample_of, text_of, wrong_values
from tests.parity.support.known import TORCH, Cause, Known, Table
from tests.samples import TensorSpec

ATTENTION = Cause(
    TORCH,
    "the kernel takes the last dimension of queries, keys and values for one without gaps.",
)
ATTENTION_GRADIENTS = Cause(
    TORCH,
    "the gradient's kernel takes the last dimension of queries, keys, values and results for one without gaps.",
)
POOLING_2D = Cause(TORCH, "the gradient's kernel takes indices with gaps for such without, or ends in an assertion.")
POOLING_3D = Cause(TORCH, "the gradient's kernel takes indices with gaps for such without.")
ADAPTIVE_POOLING = Cause(TORCH, "the gradient's kernel takes indices in another order for such in rows.")

TABLE = Table(
    Known("_scaled_dot_product_flash_attention_for_cpu", "0, 1, 2", ATTENTION),
    Known("_scaled_dot_product_flash_attention_for_cpu_backward", "1, 2, 3, 4", ATTENTION_GRADIENTS),
    Known("adaptive_max_pool3d_backward", "2", ADAPTIVE_POOLING),
    Known("fractional_max_pool2d_backward", "2", POOLING_2D),
    Known("fractional_max_pool3d_backward", "2", POOLING_3D),
)
CASES = [(op, sample) for op in OPS if (sample := sample_of(op)) is not None]


def result(T, op, sample, turned):
    """Of the op with the tensor of that number turned round in memory."""
    tensors = []
    for number, spec in enumerate(specs_in(sample)):
        order = tuple(reversed(range(spec.data.ndim))) if number == turned else tuple(range(spec.data.ndim))
        tensors.append(tensor_of(T, TensorSpec(spec.data.transpose(order), spec.dtype)).permute(order))
    return call_of(T, op, sample)(*tensors)


def fault_of(op, sample, turned):
    expected = outcome(result, (torch, op, sample, turned), {})
    if expected.error is not None:
        return None
    text = text_of(outcome(result, (mindtorch, op, sample, turned), {}), expected)
    return TABLE.verdict(op.name, str(turned), "", 0, text)


@pytest.mark.parametrize(("op", "sample"), CASES, ids=[op.name for op, _ in CASES])
def test_one_turned_argument(op, sample):
    turned = [number for number, spec in enumerate(specs_in(sample)) if spec.data.ndim > 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        faults = [fault for number in turned if (fault := fault_of(op, sample, number))]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("entry", TABLE.entries, ids=lambda entry: entry.operator)
def test_torch_is_wrong(entry):
    """What it gives for the same numbers in other memory is something else; what mindtorch gives is not."""
    op, sample = next(case for case in CASES if case[0].name == entry.operator)
    right = result(torch, op, sample, None)
    for check in entry.checks():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = (
                all(wrong_values(*pair) is None for pair in zip(result(T, op, sample, int(check)), right, strict=True))
                for T in (mindtorch, torch)
            )
        assert ours
        assert not theirs, "torch is mended: take it out of the table"

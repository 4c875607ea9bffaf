"""Every op with a value of another kind for each argument: taken or refused as in PyTorch, by the same overload."""

import warnings

import numpy as np
import pytest
import torch

import mindtorch
from tests.daily import some
from tests.harness import Outcome, error_difference, result_difference, sampled_ops, tensors_in
from tests.parity.errors.argument_kinds import KINDS, Call, calls, ops_of
from tests.parity.support.peer import runs_in_torch

_INTS = "1; tensor(1); tensor([1]); np.int64(1); np.array(1)"
_LOGICS = "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift"
_POWERS = "remainder pow float_power where searchsorted bucketize xlogy special_xlog1py special_zeta"
_HIDDEN = "of what lies in undefined memory"

# Calls that have to differ, or still do: why, of which ops, for which argument, given by place or by name as the call
# shows it, and for which kinds of values; None: all.
_ROWS = (
    ("`size=3` and `3` are bound to one parameter here", "zeros ones new_zeros new_ones sum_to_size", "'size'", _INTS),
    ("`dims=3` and `3` are bound to one parameter here", "flip tile", "'dims'", _INTS),
    ("PyTorch calls a number in the first place `self`", _POWERS, "'input'", "1; 1.5; True; np.int64(1)"),
    ("PyTorch calls a number in the first place `self`", _LOGICS, "'input'", "1; True; np.int64(1)"),
    ("by name, another overload would take it there", "searchsorted", "'sorted_sequence'", "tensor([1])"),
    ("a tensor is `other` here, whatever follows it", "max min", "1", "tensor(1)"),
    ("an int only by PyTorch's methods", "squeeze squeeze_ hsplit vsplit dsplit", "1", "tensor([1]); np.array(1)"),
    ("a list of tensors is one of ints, for every other op", "squeeze", "1", "(tensor([1.5]),)"),
    ("PyTorch's own function takes any tensor", "split", "1", "tensor(1.5); tensor(True); tensor(1.5, requires_grad)"),
    ("PyTorch's own function takes no other int", "split", "1 'split_size'", "np.int64(1); np.array(1)"),
    ("a type of Python's in the place of sizes", "view_copy", "1", "float"),
    ("singular vectors have any sign", "svd", "2 'compute_uv'", "True"),
    (_HIDDEN, "native_batch_norm", "1 2", "tensor(1.5); tensor(1.5, requires_grad)"),
    (_HIDDEN, "max_unpool2d", "2", "(0, 1)"),
    (_HIDDEN, "lstm", "8 'batch_first'", "True"),
    ("random cells", "fractional_max_pool2d", "1", None),
    ("random cells", "fractional_max_pool3d", "3", None),
    ("tensors for ints in lists", "fractional_max_pool2d fractional_max_pool3d", "1 2", "tensor(True)"),
    ("not iterated over", "max_unpool3d", "3 'stride'", "tensor(1); tensor([1]); np.int64(1)"),
    ("PyTorch subtracts 1 from a boolean", "binary_cross_entropy_with_logits", "3", "tensor(True)"),
)
DIFFER = {
    (op, place, kind): reason
    for reason, ops, places, kinds in _ROWS
    for op in ops.split()
    for place in places.split()
    for kind in (kinds.split("; ") if kinds else KINDS)
}
assert set(KINDS) >= {kind for _, _, kind in DIFFER}

OPS = [op for op in sampled_ops() if runs_in_torch(op) and not op.schema.name.startswith("_")]
PLAIN = [op for op in OPS if op.samples != "backward"]


def outcome_of(call: Call, T) -> Outcome:
    try:
        return Outcome(call.run(T))
    except (ArithmeticError, AttributeError, LookupError, NameError, RuntimeError, TypeError, ValueError) as error:
        return Outcome(error=error)


def difference(op, call: Call) -> str | None:
    """How the outcomes differ; two errors never do, here, nor does what PyTorch takes for its own fault."""
    own, peer = outcome_of(call, mindtorch), outcome_of(call, torch)
    if own.error or peer.error:
        is_fault = "INTERNAL ASSERT" in str(peer.error) or "Expected scalar.isIntegral" in str(peer.error)
        return None if own.error and peer.error or is_fault else error_difference(own.error, peer.error)
    if "nondeterministic_seeded" in op.tags or "empty" in op.name:
        found = [
            [(tuple(each.shape), str(each.dtype)) for each in tensors_in(T, result)]
            for T, result in ((mindtorch, own.result), (torch, peer.result))
        ]
        return None if found[0] == found[1] else f"{found[0]} for {found[1]}"
    return result_difference(mindtorch, torch, own.result, peer.result)


def differences(op) -> list[str]:
    found = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for form in ops_of(op.name):
            found += [
                f"{call}: {text}"
                for call in calls(form, torch)
                if (form.schema.name, repr(call.place), call.kind) not in DIFFER and (text := difference(form, call))
            ]
    return found


@pytest.mark.parametrize("number", some(range(len(PLAIN)), 48), ids=lambda number: PLAIN[number].name)
def test_kinds(number):
    assert differences(PLAIN[number]) == []


X = "T.arange(6.0).reshape(2, 3)"
CALLS = """
    T.max(x, dim=T.tensor(1)) ; T.max(x, dim=T.tensor([1])) ; T.max(x, T.tensor(1)) ; T.max(x, other=T.tensor(1))
    x.min(dim=T.tensor(1)) ; x.min(dim=T.tensor(1.5)) ; T.max(x, 1, other=x) ; T.max(x, 1, dim=0) ; T.max(x, x, dim=0)
    T.max(x, axis=T.tensor(1)) ; T.max(x, dim=0, keepdim=True) ; T.min(x, axis=1)
    x.view(size=6) ; x.view(6, size=6) ; x.view(size=(6,)) ; x.view(size=T.int32) ; x.view(dtype=T.int32) ; x.view(3, 2)
    x.view((2, 3), 1) ; x.flip((0,), 1) ; x.permute((0,), 1) ; T.zeros((2, 3), 4)
    T.flip(x, 0) ; T.flip(x, 0, 1) ; T.flip(x, N.int64(0)) ; T.flip(x, T.tensor(0)) ; T.flip(x, (0,))
    x.flip(0) ; x.flip(0, 1) ; x.flip(N.int64(0)) ; x.flip(T.tensor([1])) ; x.flip(N.array(1))
    T.permute(x, 0) ; T.permute(x, 1, 0) ; x.permute(1, 0) ; T.permute(x, (1, 0)) ; x.permute(T.tensor(1), 0)
    T.reshape(x, 6) ; T.reshape(x, 2, 3) ; x.reshape(6) ; x.reshape(3, 2) ; T.tile(x, 2) ; x.tile(2)
    T.broadcast_to(x, 2, 3) ; x.broadcast_to(2, 3) ; T.zeros(2, 3) ; T.zeros(N.int64(2)) ; T.full(N.int64(2), 1.0)
    T.full(T.tensor(2), 1.0) ; T.eye(T.tensor([2])) ; T.eye(True) ; x.sum(T.tensor([1])) ; x.sum(T.tensor(True))
    x.sum(True) ; x.roll(T.tensor([1]), N.int64(1)) ; T.tensor_split(x, T.tensor([1])) ; T.tensor_split(x, T.tensor(2))
    T.tensor_split(x, sections=[1]) ; T.hsplit(x, indices=1) ; T.hsplit(x, indices=[1]) ; T.isin(x, 2) ; T.isin(2, x)
    T.isin(x, test_elements=x) ; T.isin(elements=x, test_element=2) ; T.logit(x, T.tensor(0.1, requires_grad=True))
    T.result_type(tensor=x, other=2) ; T.result_type(x, other=x) ; T.result_type(scalar=2, tensor=x)
    T.result_type(2, tensor=x) ; T.result_type(scalar1=2, scalar2=3.0) ; T.result_type(tensor1=x, tensor2=x)
    T.result_type(x, "a") ; T.result_type(x) ; T.result_type(x, x, x) ; T.result_type(x, None)
    x.random_(**{"from": 2, "to": 3}) ; x.random_(**{"from": 2, "to": 3, "generator": None}) ; x.random_(**{"from": 2})
    x.random_(2, to=3) ; x.random_(from_=2, to=3) ; T.utils.swap_tensors(x, 3) ; T.utils.swap_tensors(None, x)
    F.mse_loss(x, x + 1, 0) ; F.mse_loss(x, x + 1, []) ; F.l1_loss(x, x + 1, None, 0) ; F.mse_loss(x, x + 1, 1)
    x[N.array([1, 0], N.uint16)] ; x[N.array([1.0, 0.0])] ; x[N.array([1], N.int8)]
""".replace("\n", ";").split(" ; ")


@pytest.mark.parametrize("call", [part.strip() for text in CALLS for part in text.split(";") if part.strip()])
@pytest.mark.filterwarnings("ignore")
def test_calls(call):
    found = []
    for T in (mindtorch, torch):
        names = {"T": T, "N": np, "F": T.nn.functional, "x": eval(X, {"T": T})}
        try:
            found.append(Outcome(eval(call, names)))
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
            found.append(Outcome(error=error))
    own, peer = found
    if own.error or peer.error:
        text = error_difference(own.error, peer.error)
    else:
        text = None if str(own.result) == str(peer.result) else f"{own.result} for {peer.result}"
    assert text is None, text

"""Kernels of CTC, the loss of a sequence of labels without an alignment: all alignments are summed over.

An alignment runs through states: a blank, the first label, a blank, the second label, ..., a blank. `alpha[n, t, s]` is
the log-probability of everything up to time t that ends in state s, `beta` that of everything from there on. Time is
the only loop; states and the sequences of a batch are computed together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mindtorch._support.float_errors import quiet
from mindtorch.backends.cpu.checks import expect_dtypes, expect_sizes, not_implemented, scalar_name

Array = np.ndarray
Ints = Sequence[int]

_INTEGRAL = "iu"

_CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, zero_infinity=False):
    """The losses, and alpha for the backward pass."""
    states = _checked_states(log_probs, targets, input_lengths, target_lengths, blank)
    alpha = quiet(_forward, _emitted(log_probs, states), states, np.asarray(target_lengths, np.int64))
    losses = quiet(_losses, alpha, np.asarray(input_lengths, np.int64), np.asarray(target_lengths, np.int64))
    return losses, alpha


def ctc_loss_tensor(log_probs, targets, input_lengths, target_lengths, blank=0, zero_infinity=False):
    return ctc_loss(log_probs, targets, *_lengths(input_lengths, target_lengths), blank, zero_infinity)


def ctc_loss_backward(
    grad,
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    neg_log_likelihood,
    log_alpha,
    blank,
    zero_infinity=False,
):
    states = _checked_states(log_probs, targets, input_lengths, target_lengths, blank)
    expect_dtypes(log_probs, grad, neg_log_likelihood, log_alpha)
    batch = len(states)
    wanted = {"grad": (batch,), "neg_log_likelihood": (batch,), "log_alpha": (batch, len(log_probs), states.shape[1])}
    for (name, sizes), array in zip(wanted.items(), (grad, neg_log_likelihood, log_alpha)):
        if array.ndim != len(sizes):
            raise RuntimeError(f"TensorAccessor expected {len(sizes)} dims but tensor has {array.ndim}")
        expect_sizes(array, sizes, name)
    lengths = np.asarray(input_lengths, np.int64)
    beta = quiet(_backward, _emitted(log_probs, states), states, lengths, np.asarray(target_lengths, np.int64))
    result = np.ascontiguousarray(quiet(_gradient, grad, log_probs, states, log_alpha, beta, neg_log_likelihood))
    result[np.arange(len(log_probs))[:, None] >= lengths] = 0
    if zero_infinity:
        result[:, np.isposinf(neg_log_likelihood)] = 0
    return result


def ctc_loss_backward_tensor(
    grad,
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    neg_log_likelihood,
    log_alpha,
    blank,
    zero_infinity=False,
):
    lengths = _lengths(input_lengths, target_lengths)
    return ctc_loss_backward(grad, log_probs, targets, *lengths, neg_log_likelihood, log_alpha, blank, zero_infinity)


# -------------------- the sums --------------------


def _emitted(log_probs: Array, states: Array) -> Array:
    """The log-probability of the label of every state: by sequence, time and state."""
    return np.take_along_axis(log_probs, states[None], 2).transpose(1, 0, 2)


def _forward(emitted: Array, states: Array, target_lengths: Array) -> Array:
    alpha = np.full(emitted.shape, -np.inf, emitted.dtype)
    reachable = np.arange(states.shape[1]) <= 2 * target_lengths[:, None]
    if emitted.shape[1]:
        alpha[:, 0, :2] = np.where(reachable[:, :2], emitted[:, 0, :2], -np.inf)
    skips = _skips(states)
    for time in range(1, emitted.shape[1]):
        total = _sum_of_ways(alpha[:, time - 1], skips) + emitted[:, time]
        alpha[:, time] = np.where(reachable, total, -np.inf)
    return alpha


def _skips(states: Array) -> Array:
    """Whether a state can be reached from the last but one: over a blank, between labels that differ."""
    skips = np.zeros(states.shape, bool)
    skips[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
    return skips


def _sum_of_ways(before: Array, skips: Array) -> Array:
    """The logarithm of the probability to be in each state one step later: stay, move on by one, or skip a blank."""
    one = np.full_like(before, -np.inf)
    two = np.full_like(before, -np.inf)
    one[:, 1:] = before[:, :-1]
    two[:, 2:] = np.where(skips[:, 2:], before[:, :-2], -np.inf)
    return _log_of_sum(np.stack([before, one, two]), 0)


def _log_of_sum(terms: Array, axis: int) -> Array:
    largest = terms.max(axis, keepdims=True)
    largest[largest == -np.inf] = 0
    return np.log(np.exp(terms - largest).sum(axis)) + largest.squeeze(axis)


def _losses(alpha: Array, input_lengths: Array, target_lengths: Array) -> Array:
    """From the last two states at the last time."""
    if not alpha.shape[1]:
        return np.where(target_lengths == 0, -0.0, np.inf).astype(alpha.dtype)
    sequences = np.arange(len(alpha))
    last = alpha[sequences, input_lengths - 1]
    ends = np.stack([last[sequences, 2 * target_lengths], last[sequences, np.maximum(2 * target_lengths - 1, 0)]])
    ends[1, target_lengths == 0] = -np.inf
    losses = -_log_of_sum(ends, 0)
    return np.where(input_lengths == 0, np.where(target_lengths == 0, -0.0, np.inf), losses).astype(alpha.dtype)


def _backward(emitted: Array, states: Array, input_lengths: Array, target_lengths: Array) -> Array:
    """The same from the end: sequences and states are turned round, so that each begins at its own end."""
    times = _turned(emitted.shape[1], input_lengths)
    places = _turned(states.shape[1], 2 * target_lengths + 1)
    turned = np.take_along_axis(np.take_along_axis(emitted, times[:, :, None], 1), places[:, None], 2)
    beta = _forward(turned, np.take_along_axis(states, places, 1), target_lengths)
    return np.take_along_axis(np.take_along_axis(beta, times[:, :, None], 1), places[:, None], 2)


def _turned(count: int, lengths: Array) -> Array:
    """For each sequence its first places backwards, and the others as they are."""
    places = np.arange(count)
    lengths = lengths[:, None]
    return np.where(places < lengths, lengths - 1 - places, places)


def _gradient(grad: Array, log_probs: Array, states: Array, alpha: Array, beta: Array, losses: Array) -> Array:
    """By time, sequence and label: that of logits whose log_softmax the log-probabilities are."""
    joint = alpha + beta - _emitted(log_probs, states)
    largest = joint.max(2, keepdims=True)
    largest[largest == -np.inf] = 0
    is_label = states[:, :, None] == np.arange(log_probs.shape[2])
    sums = np.log(np.exp(joint - largest) @ is_label.astype(joint.dtype)) + largest
    return (np.exp(log_probs) - np.exp(sums.transpose(1, 0, 2) + losses[:, None])) * grad[:, None]


# -------------------- arguments --------------------


def _lengths(input_lengths: Array, target_lengths: Array) -> tuple[list[int], list[int]]:
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if lengths.dtype.kind not in _INTEGRAL:
            raise RuntimeError(f"{name} must be integral")
    return input_lengths.ravel().tolist(), target_lengths.ravel().tolist()


def _checked_states(log_probs: Array, targets: Array, input_lengths: Ints, target_lengths: Ints, blank: int) -> Array:
    """The label of every state, a row for each sequence; rows of short sequences end in blanks."""
    if not log_probs.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.dtype not in (np.float32, np.float64):
        raise not_implemented("ctc_loss_cpu", log_probs)
    _check_shapes(log_probs, targets, input_lengths, target_lengths, blank)
    for length in target_lengths:
        if length < 0:
            raise _value_error("target_lengths", "least 0", length)
    padded = _padded_targets(targets, np.asarray(target_lengths, np.int64))
    for length in input_lengths:
        if length < 0:
            raise _value_error("input_lengths", "least 0", length)
        if length > log_probs.shape[0]:
            raise _value_error("input_lengths", f"most {log_probs.shape[0]}", length)
    if padded.size and not 0 <= padded.min() <= padded.max() < log_probs.shape[2]:
        raise RuntimeError("targets must be in label range")
    states = np.full((len(padded), 2 * padded.shape[1] + 1), blank, np.int64)
    states[:, 1::2] = np.where(np.arange(padded.shape[1]) < np.array(target_lengths)[:, None], padded, blank)
    return states


def _check_shapes(log_probs: Array, targets: Array, input_lengths: Ints, target_lengths: Ints, blank: int) -> None:
    if log_probs.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for argument #1 'log_probs' "
            f"{_CHECKING}"
        )
    if targets.ndim not in (1, 2):
        raise RuntimeError(
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument #2 'targets' "
            f"{_CHECKING}"
        )
    if not 0 <= blank < log_probs.shape[2]:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if len(lengths) != log_probs.shape[1]:
            raise RuntimeError(f"{name} must be of size batch_size")
    if targets.dtype not in (np.int32, np.int64):
        raise RuntimeError(
            "Expected tensor for argument #2 'targets' to have scalar type Int; but got "
            f"torch.{scalar_name(targets)}Tensor instead {_CHECKING}"
        )


def _value_error(name: str, bound: str, value: int) -> RuntimeError:
    return RuntimeError(f"Expected {name} to have value at {bound}, but got value {value} {_CHECKING}")


def _padded_targets(targets: Array, lengths: Array) -> Array:
    """A row for each sequence, as long as the longest; targets of one dimension are the rows one after the other."""
    longest = int(lengths.max(initial=0))
    if targets.ndim == 1:
        if targets.size != lengths.sum():
            raise RuntimeError(
                f"Expected tensor to have size {lengths.sum()} at dimension 0, but got size {targets.size} for "
                f"argument #2 'targets' {_CHECKING}"
            )
        padded = np.zeros((lengths.size, longest), np.int64)
        padded[np.arange(longest) < lengths[:, None]] = targets
        return padded
    if targets.shape[0] != lengths.size:
        raise RuntimeError(
            f"Expected tensor to have size {lengths.size} at dimension 0, but got size {targets.shape[0]} for argument "
            f"#2 'targets' {_CHECKING}"
        )
    if targets.shape[1] < longest:
        raise RuntimeError(
            f"Expected tensor to have size at least {longest} at dimension 1, but got size {targets.shape[1]} for "
            f"argument #2 'targets' {_CHECKING}"
        )
    used = np.arange(longest) < lengths[:, None]
    return np.where(used, targets[:, :longest], 0).astype(np.int64)

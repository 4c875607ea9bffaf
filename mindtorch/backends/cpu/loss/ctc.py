"""Kernels of CTC, the loss of a sequence of labels without an alignment: all alignments are summed over.

An alignment runs through states: a blank, the first label, a blank, the second label, ..., a blank. `alpha[n, t, s]` is
the log-probability of everything up to time t that ends in state s, `beta` that of everything from there on. Time is
the only loop, and ends with the longest sequence; states and the sequences of a batch are computed together. Between
the functions here, time is the first dimension.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mindtorch._support.float_errors import quiet
from mindtorch._support.numpy_functions import is_within, largest, stack
from mindtorch.backends.cpu.common.checks import expect_dtypes, expect_sizes, not_implemented, scalar_name

Array = np.ndarray
Ints = Sequence[int]

_INTEGRAL = "iu"

_CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, zero_infinity=False):
    """The losses, and alpha for the backward pass."""
    states = _checked_states(log_probs, targets, input_lengths, target_lengths, blank)
    lengths, labels = np.asarray(input_lengths, np.int64), np.asarray(target_lengths, np.int64)
    reached = quiet(_forward, _emitted(log_probs[: int(largest(lengths))], states), states, labels)
    alpha = np.zeros((len(states), len(log_probs), states.shape[1]), log_probs.dtype)
    alpha[:, : len(reached)] = reached.transpose(1, 0, 2)
    return quiet(_losses, reached, lengths, labels), alpha


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
    lengths, labels = np.asarray(input_lengths, np.int64), np.asarray(target_lengths, np.int64)
    result = np.zeros(log_probs.shape, log_probs.dtype)
    used = log_probs[: int(largest(lengths))]
    emitted, alpha = _emitted(used, states), log_alpha[:, : len(used)].transpose(1, 0, 2)
    beta = quiet(_backward, emitted, states, lengths, labels)
    joint = quiet(np.subtract, alpha + beta, emitted)
    result[: len(used)] = quiet(_gradient, grad, used, states, joint, neg_log_likelihood)
    result[: len(used)][np.arange(len(used))[:, None] >= lengths] = 0
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
    """The log-probability of the label of every state: by time, sequence and state."""
    return log_probs[:, np.arange(len(states))[:, None], states]


def _forward(emitted: Array, states: Array, target_lengths: Array) -> Array:
    """A state is reached from itself, from the one before it, and over a blank: three windows of what comes before."""
    steps, batch, count = emitted.shape
    padded = np.full((steps + 1, batch, count + 2), -np.inf, emitted.dtype)
    padded[0, :, 2] = 0  # what stands before the first state leads to the first two
    windows = sliding_window_view(padded, count, 2).transpose(0, 2, 1, 3)
    barred = np.zeros((3, batch, count), emitted.dtype)
    barred[0][~_skips(states)] = -np.inf
    reachable = np.arange(count) <= 2 * target_lengths[:, None]
    given = np.where(reachable, emitted, emitted.dtype.type(-np.inf))
    ways, largest, total = np.empty_like(barred), np.empty_like(barred[0]), np.empty_like(barred[0])
    for time in range(steps):
        np.add(windows[time], barred, ways)
        np.add(_log_of_sum(ways, largest, total), given[time], padded[time + 1, :, 2:])
    return padded[1:, :, 2:]


def _skips(states: Array) -> Array:
    """Whether a state can be reached from the last but one: over a blank, between labels that differ."""
    skips = np.zeros(states.shape, bool)
    skips[:, 3::2] = states[:, 3::2] != states[:, 1:-2:2]
    return skips


def _log_of_sum(terms: Array, largest: Array, total: Array) -> Array:
    """Along the first dimension, in the memory of `total`; the terms are overwritten."""
    np.maximum.reduce(terms, 0, None, largest)
    np.maximum(largest, np.finfo(terms.dtype).min, out=largest)
    np.exp(np.subtract(terms, largest, terms), terms)
    np.add.reduce(terms, 0, None, total)
    return np.add(np.log(total, total), largest, total)


def _losses(alpha: Array, input_lengths: Array, target_lengths: Array) -> Array:
    """From the last two states at the last time."""
    nothing = np.where(target_lengths == 0, -0.0, np.inf).astype(alpha.dtype)
    if not len(alpha):
        return nothing
    times, sequences = input_lengths - 1, np.arange(alpha.shape[1])
    last = 2 * target_lengths
    ends = stack([alpha[times, sequences, last], alpha[times, sequences, np.maximum(last - 1, 0)]])
    ends[1, target_lengths == 0] = -np.inf
    losses = -_log_of_sum(ends, np.empty_like(ends[0]), np.empty_like(ends[0]))
    return np.where(input_lengths == 0, nothing, losses)


def _backward(emitted: Array, states: Array, input_lengths: Array, target_lengths: Array) -> Array:
    """The same from the end: sequences and states are turned round, so that each begins at its own end."""
    times = _turned(len(emitted), input_lengths).T[:, :, None]
    places = _turned(states.shape[1], 2 * target_lengths + 1)
    sequences = np.arange(len(states))[:, None]
    beta = _forward(emitted[times, sequences, places], states[sequences, places], target_lengths)
    return beta[times, sequences, places]


def _turned(count: int, lengths: Array) -> Array:
    """For each sequence its first places backwards, and the others as they are."""
    places = np.arange(count)
    lengths = lengths[:, None]
    return np.where(places < lengths, lengths - 1 - places, places)


def _gradient(grad: Array, log_probs: Array, states: Array, joint: Array, losses: Array) -> Array:
    """By time, sequence and label: that of logits whose log_softmax the log-probabilities are.

    `joint` is the log-probability of all alignments that are in a state at a time.
    """
    largest = joint.max(2, keepdims=True)
    largest[largest == -np.inf] = 0
    is_label = (states[:, :, None] == np.arange(log_probs.shape[2])).astype(joint.dtype)
    weights = np.exp(joint - largest).transpose(1, 0, 2) @ is_label
    sums = np.log(weights.transpose(1, 0, 2)) + largest
    return (np.exp(log_probs) - np.exp(sums + losses[:, None])) * grad[:, None]


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
    if not is_within(padded, 0, log_probs.shape[2]):
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

"""Steps of recurrent layers, and the loss of labels without places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.npu_simulator.evaluate.contract import (
    INT32,
    INT64,
    Evaluator,
    expect,
    is_younger_chip,
    refuse,
    require,
    same_dtype,
    store,
    store_if,
    wide,
)
from tests.npu_simulator.evaluate.indexing import positions
from tests.npu_simulator.evaluate.pointwise import sigmoid

EVALUATORS: dict[str, Evaluator] = {}

# -------------------- LSTM --------------------


def _lstm_cell(
    of_input: Any, of_hidden: Any, cx: Any, input_bias: Any, hidden_bias: Any, hy: Any, cy: Any, storage: Any
) -> None:
    # The page of the forward has the gates as i, g, f, o; the kernels (OFFSET_I, F, J, O = 0, 1, 2, 3), their tests
    # and the page of the backward have i, f, g, o.
    require(not is_younger_chip(), "Ascend 950 does not have the op")
    if of_input is None or of_hidden is None or cx is None:
        refuse("a tensor is null", 161001)
    require((input_bias is None) == (hidden_bias is None), "both biases are given, or none")
    dtype = same_dtype(of_input, of_hidden, cx, input_bias, hidden_bias)
    require(dtype in (np.float32, np.float16), f"gates of {dtype}")
    batch, size = cx.shape
    expect(of_input, (batch, 4 * size))
    expect(of_hidden, (batch, 4 * size))
    gates = wide(of_input) + wide(of_hidden)
    for bias in (input_bias, hidden_bias):
        if bias is not None:
            expect(bias, (4 * size,))
            gates = gates + wide(bias)
    i, f, g, o = np.split(gates, 4, 1)
    i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
    cell = f * wide(cx) + i * g
    store(hy, o * np.tanh(cell), dtype=dtype)
    store(cy, cell, dtype=dtype)
    store(storage, np.concatenate([i, f, g, o], 1), dtype=dtype)


def _lstm_cell_backward(
    grad_hy: Any, grad_cy: Any, cx: Any, cy: Any, storage: Any, has_bias: bool, of_gates: Any, of_cx: Any, of_bias: Any
) -> None:
    require(not is_younger_chip(), "Ascend 950 does not have the op")
    if cx is None or cy is None or storage is None or of_bias is None:
        refuse("a tensor is null", 161001)
    dtype = same_dtype(grad_hy, grad_cy, cx, cy, storage)
    expect(storage, (cx.shape[0], 4 * cx.shape[1]))
    i, f, g, o = np.split(wide(storage), 4, 1)
    dh, dc = (np.zeros(cx.shape) if each is None else wide(each) for each in (grad_hy, grad_cy))
    spread = np.tanh(wide(cy))
    total = dh * o * (1 - spread**2) + dc
    parts = total * g * i * (1 - i), total * wide(cx) * f * (1 - f), total * i * (1 - g**2), dh * spread * o * (1 - o)
    grads = np.concatenate(parts, 1)
    store(of_gates, grads, dtype=dtype)
    store(of_cx, total * f, dtype=dtype)
    store_if(of_bias, lambda: grads.sum(0), has_bias, dtype=dtype)


EVALUATORS |= {"aclnnThnnFusedLstmCell": _lstm_cell, "aclnnThnnFusedLstmCellBackward": _lstm_cell_backward}

# -------------------- CTC --------------------


class _Sequence:
    """One sequence of a batch: blank, first label, blank, second label, .., blank, and what is emitted at each time."""

    def __init__(self, log_probs: np.ndarray, labels: Sequence[int], blank: int) -> None:
        states = [blank]
        for label in labels:
            states += [int(label), blank]
        self.states = np.array(states)
        self.emitted = log_probs[:, self.states]

    def alpha(self) -> np.ndarray:
        """The log-probability of each way up to a time that ends in a state."""
        alpha = np.full(self.emitted.shape, -np.inf)
        alpha[0, :2] = self.emitted[0, :2]
        for time in range(1, len(alpha)):
            for state in range(alpha.shape[1]):
                ways = [alpha[time - 1, before] for before in self._before(state)]
                alpha[time, state] = np.logaddexp.reduce(ways) + self.emitted[time, state]
        return alpha

    def _before(self, state: int) -> list[int]:
        skips = state > 1 and state % 2 and self.states[state] != self.states[state - 2]
        return [before for before in (state, state - 1, *([state - 2] if skips else [])) if before >= 0]


def _sequences(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each sequence its log-probabilities, (T, C), and labels."""
    if log_probs is None or targets is None:
        refuse("a tensor is null", 161001)
    require(log_probs.ndim == 3 and targets.dtype in (INT32, INT64), "log-probabilities (T, N, C), and integers")
    times, batch, classes = log_probs.shape
    require(len(input_lengths) == len(target_lengths) == batch, "a length for each sequence")
    require(0 <= blank < classes, f"blank {blank} of {classes}")
    # "inputLengths: [1, T]; targetLengths: at least 1, and at most the input length of the same sequence"
    require(all(1 <= s <= t <= times for s, t in zip(target_lengths, input_lengths)), "lengths out of range")
    labels = positions(targets, classes)
    if targets.ndim == 1:
        require(len(labels) == sum(target_lengths), "targets of another length")
        rows = np.split(labels, np.cumsum(target_lengths)[:-1])
    else:
        require(targets.shape[0] == batch and targets.shape[1] >= max(target_lengths), "targets of another shape")
        rows = [row[:count] for row, count in zip(labels, target_lengths)]
    return [(wide(log_probs)[:, n], rows[n]) for n in range(batch)]


def _ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int, zero: bool, losses: Any,
    log_alpha: Any,
) -> None:  # fmt: skip
    # "logAlphaOut: on A2 and A3 (N, T, (2 max(targetLengths) + 8) / 8 * 8), on 950 (N, T, 2 max(targetLengths) + 1)".
    # The page does not say what is in the places that fill it up to eights: they are left as they were.
    sequences = _sequences(log_probs, targets, input_lengths, target_lengths, blank)
    states = 2 * max(target_lengths) + 1
    width = states if is_younger_chip() else (states + 7) // 8 * 8
    expect(log_alpha, (len(sequences), len(log_probs), width), dtype=log_probs.dtype)
    found, alphas = np.empty(len(sequences)), np.full((len(sequences), len(log_probs), states), -np.inf)
    for n, (own, labels) in enumerate(sequences):
        # All times, though only those of the sequence count.
        alphas[n, :, : 2 * len(labels) + 1] = _Sequence(own, labels, blank).alpha()
        last = alphas[n, input_lengths[n] - 1]
        found[n] = -np.logaddexp(last[2 * len(labels)], last[2 * len(labels) - 1])
    store(losses, np.where(zero & np.isinf(found), 0, found), dtype=log_probs.dtype)
    store(log_alpha[:, :, :states], alphas)


def _ctc_loss_backward(
    grad: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, losses: Any, log_alpha: Any,
    blank: int, zero: bool, out: Any,
) -> None:  # fmt: skip
    sequences = _sequences(log_probs, targets, input_lengths, target_lengths, blank)
    dtype = same_dtype(grad, log_probs, losses, log_alpha)
    expect(grad, (len(sequences),))
    expect(losses, (len(sequences),))
    # "logAlpha: (N, T, alpha), with (alpha - 1) / 2 >= the longest target"
    require(log_alpha.shape[:2] == (len(sequences), len(log_probs)), "logAlpha has another shape")
    require((log_alpha.shape[2] - 1) // 2 >= max(target_lengths), "logAlpha has too few states")
    result = np.zeros(log_probs.shape)
    for n, (own, labels) in enumerate(sequences):
        if zero and np.isinf(wide(losses)[n]):
            continue
        count = input_lengths[n]
        emitted, states = own[:count], 2 * len(labels) + 1
        alpha = wide(log_alpha)[n, :count, :states]
        turned = _Sequence(emitted[::-1], labels[::-1], blank).alpha()[::-1, ::-1]
        joint = np.exp(alpha + turned - emitted[:, _Sequence(emitted, labels, blank).states] + wide(losses)[n])
        share = np.zeros(emitted.shape)
        np.add.at(share, (slice(None), _Sequence(emitted, labels, blank).states), joint)
        result[:count, n] = (np.exp(emitted) - share) * wide(grad)[n]
    store(out, result, dtype=dtype)


EVALUATORS |= {"aclnnCtcLoss": _ctc_loss, "aclnnCtcLossBackward": _ctc_loss_backward}

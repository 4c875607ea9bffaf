"""Recurrent layers, written in other ops: one step of each kind, and the walk over sequences, layers and directions.

A padded batch is treated as a packed one whose steps all have the same number of sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mindtorch.dispatch import ops
from mindtorch.tensor import Tensor

State = tuple[Tensor, ...]


class _Weights(NamedTuple):
    """The parameters of one layer in one direction."""

    input: Tensor
    hidden: Tensor
    input_bias: Tensor | None
    hidden_bias: Tensor | None
    projection: Tensor | None

    def for_steps(self) -> _Weights:
        """The weights of the state transposed, once for all steps; the others have been used then."""
        return self._replace(hidden=self.hidden.t())


# -------------------- steps --------------------

# A step takes the projected input, the state and the weights for steps. It gives the next state; its first tensor is
# the output. Both biases are in the input already, except for a GRU, which multiplies a sum that has one of them.
Step = Callable[[Tensor, State, _Weights], State]


def _step_lstm(projected: Tensor, state: State, weights: _Weights) -> State:
    hidden, cell = state
    if projected.is_complex():  # the derivatives of the fused steps are those of real numbers
        hidden, cell = _cell_lstm(projected, state, weights)
    else:
        hidden, cell, _ = ops._thnn_fused_lstm_cell(projected, ops.mm(hidden, weights.hidden), cell)
    return (hidden if weights.projection is None else ops.linear(hidden, weights.projection)), cell


def _step_gru(projected: Tensor, state: State, weights: _Weights) -> State:
    if projected.is_complex():
        return _cell_gru(projected, state, weights)
    return (ops._thnn_fused_gru_cell(projected, _gates_of_state(state[0], weights), state[0])[0],)


def _gates_of_state(hidden: Tensor, weights: _Weights) -> Tensor:
    product = ops.mm(hidden, weights.hidden)
    return product if weights.hidden_bias is None else product + weights.hidden_bias


def _step_tanh(projected: Tensor, state: State, weights: _Weights) -> State:
    return (ops.addmm(projected, state[0], weights.hidden).tanh(),)


def _step_relu(projected: Tensor, state: State, weights: _Weights) -> State:
    return (ops.addmm(projected, state[0], weights.hidden).relu(),)


def _project(step: Step, input: Tensor, weights: _Weights) -> Tensor:
    bias = weights.input_bias
    if bias is not None and step not in (_step_gru, _cell_gru):
        bias = bias + weights.hidden_bias
    return ops.linear(input, weights.input, bias)


# -------------------- cells --------------------


def _one_step(step: Step, input: Tensor, state: State, *parameters: Tensor | None) -> State:
    weights = _Weights(*parameters, None)
    _check_cell(input, state[0], weights)
    return step(_project(step, input, weights), state, weights.for_steps())


def _check_cell(input: Tensor, hidden: Tensor, weights: _Weights) -> None:
    if input.shape[1] != weights.input.shape[1]:
        raise RuntimeError(f"input has inconsistent input_size: got {input.shape[1]} expected {weights.input.shape[1]}")
    if input.shape[0] != hidden.shape[0]:
        raise RuntimeError(f"Input batch size {input.shape[0]} doesn't match hidden0 batch size {hidden.shape[0]}")
    if hidden.shape[1] != weights.hidden.shape[1]:
        raise RuntimeError(
            f"hidden0 has inconsistent hidden_size: got {hidden.shape[1]}, expected {weights.hidden.shape[1]}"
        )


def lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    return _one_step(_cell_lstm, input, tuple(hx), w_ih, w_hh, b_ih, b_hh)


def gru_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _one_step(_cell_gru, input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


# Op by op, as in torch: programs that call cells write to their states, which a fused step would have kept.


def _cell_lstm(projected: Tensor, state: State, weights: _Weights) -> State:
    hidden, cell = state
    let_in, forget, new, let_out = ops.addmm(projected, hidden, weights.hidden).chunk(4, 1)
    cell = forget.sigmoid() * cell + let_in.sigmoid() * new.tanh()
    return let_out.sigmoid() * cell.tanh(), cell


def _cell_gru(projected: Tensor, state: State, weights: _Weights) -> State:
    (hidden,) = state
    input_parts, hidden_parts = projected.chunk(3, 1), _gates_of_state(hidden, weights).chunk(3, 1)
    reset = (input_parts[0] + hidden_parts[0]).sigmoid()
    keep = (input_parts[1] + hidden_parts[1]).sigmoid()
    new = (input_parts[2] + reset * hidden_parts[2]).tanh()
    return ((hidden - new) * keep + new,)


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _one_step(_step_tanh, input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _one_step(_step_relu, input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


# -------------------- sequences --------------------


class _Options(NamedTuple):
    """What the layers of one call share."""

    has_biases: bool
    num_layers: int
    dropout: float
    train: bool
    bidirectional: bool


def _run(
    step: Step, data: Tensor, sizes: Sequence[int], state: State, params: Sequence[Tensor], options: _Options
) -> tuple[Tensor, State]:
    """The outputs of the last layer for packed steps, and the last states of all layers and directions."""
    directions = 2 if options.bidirectional else 1
    weights = _grouped(params, options.has_biases, options.num_layers * directions)
    last_states = []
    for layer in range(options.num_layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            first = tuple(each[number] for each in state)
            output, last = _walk(step, data, sizes, first, weights[number], bool(direction))
            outputs.append(output)
            last_states.append(last)
        data = outputs[0] if directions == 1 else ops.cat(outputs, -1)
        if options.dropout and options.train and layer < options.num_layers - 1:
            data = ops.dropout(data, options.dropout, True)
    return data, tuple(ops.stack(parts, 0) for parts in zip(*last_states))


def _check_count(params: Sequence[Tensor], usual: int, count: int) -> None:
    if count < 1 or len(params) not in (usual * count, (usual + 1) * count):
        if len(params) % usual:
            raise RuntimeError("got an incorrect number of RNN parameters")
        raise RuntimeError("Expected more weights in stacked_rnn")


def _grouped(params: Sequence[Tensor], has_biases: bool, count: int) -> list[_Weights]:
    """The parameters by layer and direction; with a projection there is one more for each."""
    usual = 4 if has_biases else 2
    _check_count(params, usual, count)
    length = len(params) // count
    groups = (list(params[start : start + length]) for start in range(0, length * count, length))
    return [
        _Weights(*group[:usual], *([] if has_biases else [None, None]), group[usual] if length > usual else None)
        for group in groups
    ]


def _walk(
    step: Step, data: Tensor, sizes: Sequence[int], first: State, weights: _Weights, is_reverse: bool
) -> tuple[Tensor, State]:
    """One layer in one direction. Sequences end, or begin when walked in reverse, where the number of them changes."""
    parts = _project(step, data, weights).split(list(sizes), 0)
    weights = weights.for_steps()
    order = range(len(sizes) - 1, -1, -1) if is_reverse else range(len(sizes))
    state = tuple(each[: sizes[order[0]]] for each in first)
    finished: list[State] = []
    outputs = []
    for number in order:
        count, running = sizes[number], state[0].shape[0]
        if count < running:
            finished.append(tuple(each[count:] for each in state))
            state = tuple(each[:count] for each in state)
        elif count > running:
            state = tuple(ops.cat([each, whole[running:count]], 0) for each, whole in zip(state, first))
        state = step(parts[number], state, weights)
        outputs.append(state[0])
    last = tuple(ops.cat(list(each), 0) for each in zip(state, *reversed(finished))) if finished else state
    return ops.cat(outputs[::-1] if is_reverse else outputs, 0), last


def _run_padded(
    step: Step, input: Tensor, state: State, params: Sequence[Tensor], batch_first: bool, options: _Options
) -> tuple[Tensor, State]:
    steps = input.transpose(0, 1) if batch_first else input
    length, batch = steps.shape[:2]
    if not length:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    data = steps.reshape(length * batch, steps.shape[2])
    output, last = _run(step, data, [batch] * length, state, params, options)
    return ops._unsafe_view(output, (length, batch, output.shape[-1])), last


def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    options = _Options(has_biases, num_layers, dropout, train, bidirectional)
    output, last = _run_padded(_step_lstm, input, _two_states(hx), params, batch_first, options)
    return (output.transpose(0, 1) if batch_first else output), *last


def lstm_data(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
    options = _Options(has_biases, num_layers, dropout, train, bidirectional)
    output, last = _run(_step_lstm, data, batch_sizes.tolist(), _two_states(hx), params, options)
    return output, *last


def _two_states(hx: Sequence[Tensor]) -> State:
    if len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    return tuple(hx)


def _padded(step: Step) -> Callable:
    def kernel(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
        options = _Options(has_biases, num_layers, dropout, train, bidirectional)
        output, last = _run_padded(step, input, (hx,), params, batch_first, options)
        return (output.transpose_(0, 1) if batch_first else output), last[0]

    return kernel


def _packed(step: Step) -> Callable:
    def kernel(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
        options = _Options(has_biases, num_layers, dropout, train, bidirectional)
        output, last = _run(step, data, batch_sizes.tolist(), (hx,), params, options)
        return output, last[0]

    return kernel


gru = _padded(_step_gru)
gru_data = _packed(_step_gru)
rnn_tanh = _padded(_step_tanh)
rnn_tanh_data = _packed(_step_tanh)
rnn_relu = _padded(_step_relu)
rnn_relu_data = _packed(_step_relu)

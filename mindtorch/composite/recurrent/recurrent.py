"""Recurrent layers, written in other ops: one step of each kind, and the walk over sequences, layers and directions.

A padded batch is treated as a packed one whose steps all have the same number of sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import NamedTuple

from mindtorch._core.dtype import int64
from mindtorch._core.tensor import Tensor
from mindtorch.dispatch import ops
from mindtorch.iterator import broadcast_shapes, check_inplace_shape

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

    def with_one_bias(self, state: Tensor) -> _Weights:
        """Both biases in one. If they are not alike, each is left to its own product, which checks it."""
        if self.input_bias is None or self.hidden_bias is None:
            return self
        own, other = self.input_bias._mt_array, self.hidden_bias._mt_array
        weight, other_weight = self.input._mt_array, self.hidden._mt_array
        if own.shape != other.shape:
            return self
        if not own.dtype == other.dtype == weight.dtype == other_weight.dtype == state._mt_array.dtype:
            return self
        return _Weights(self.input, self.hidden, self.input_bias + self.hidden_bias, None, self.projection)


# -------------------- steps --------------------

# A step takes the projected input, the state and the weights for steps. It gives the next state; its first tensor is
# the output. Both biases are in the input already, except for a GRU, which multiplies a sum that has one of them.
Step = Callable[[Tensor, State, _Weights], State]


def _step_lstm(projected: Tensor, state: State, weights: _Weights) -> State:
    hidden, cell, _ = ops._thnn_fused_lstm_cell(projected, _gates_of_state(state[0], weights), state[1])
    return _shortened(hidden, weights), cell


def _step_lstm_by_ops(projected: Tensor, state: State, weights: _Weights) -> State:
    hidden, cell = _cell_lstm(projected, state, weights)
    return _shortened(hidden, weights), cell


def _shortened(hidden: Tensor, weights: _Weights) -> Tensor:
    return hidden if weights.projection is None else ops.linear(hidden, weights.projection)


def _step_gru(projected: Tensor, state: State, weights: _Weights) -> State:
    return (ops._thnn_fused_gru_cell(projected, _gates_of_state(state[0], weights), state[0])[0],)


def _gates_of_state(hidden: Tensor, weights: _Weights) -> Tensor:
    if weights.hidden_bias is None:
        return ops.mm(hidden, weights.hidden)
    return ops.addmm(weights.hidden_bias, hidden, weights.hidden)


def _gates(projected: Tensor, hidden: Tensor, weights: _Weights) -> Tensor:
    if projected._mt_array.shape[0] != hidden._mt_array.shape[0]:
        own = _gates_of_state(hidden, weights)
        _check_rows(own, projected)
        return own + projected
    if weights.hidden_bias is None:
        return ops.addmm(projected, hidden, weights.hidden)
    return ops.addmm(weights.hidden_bias, hidden, weights.hidden) + projected


def _check_rows(own: Tensor, projected: Tensor) -> None:
    """A step may have fewer inputs than there are sequences if it has one, which all of them get then."""
    check_inplace_shape(own, broadcast_shapes(own.shape, projected.shape))


def _step_tanh(projected: Tensor, state: State, weights: _Weights) -> State:
    return (_gates(projected, state[0], weights).tanh(),)


def _step_relu(projected: Tensor, state: State, weights: _Weights) -> State:
    return (_gates(projected, state[0], weights).relu(),)


def _prepared(step: Step, input: Tensor, state: Tensor, weights: _Weights) -> tuple[Tensor, _Weights]:
    """The projected input and the weights for the steps."""
    if step not in (_step_gru, _cell_gru):
        weights = weights.with_one_bias(state)
    return ops.linear(input, weights.input, weights.input_bias), weights.for_steps()


# -------------------- cells --------------------


def _one_step(step: Step, gates: int, input: Tensor, state: State, *parameters: Tensor | None) -> State:
    weights = _Weights(*parameters, None)
    if not _fits(gates, input, state, weights):
        for check in _CHECKS[gates]:
            check(gates, input, state, weights)
    projected, weights = _prepared(step, input, state[0], weights)
    return step(projected, state, weights)


def _fits(gates: int, input: Tensor, state: State, weights: _Weights) -> bool:
    """Whether all sizes are as they should be: then there is no need to find out which one is not."""
    own, weight, other = input._mt_array.shape, weights.input._mt_array.shape, weights.hidden._mt_array.shape
    if not len(own) == len(weight) == len(other) == 2 or weight != (other[0], own[1]) or other[0] != gates * other[1]:
        return False
    wanted = (own[0], other[1])
    return all([each._mt_array.shape == wanted for each in state])


def _check_weights(gates: int, _input: Tensor, _state: State, weights: _Weights) -> None:
    wanted = gates * weights.hidden.size(1)
    for name, weight in (("ih", weights.input), ("hh", weights.hidden)):
        if weight.size(0) != wanted:
            raise RuntimeError(
                f"weight_{name} first dim must be {gates} * hidden_size = {wanted}, but got {weight.shape[0]}"
            )


def _check_input(_gates: int, input: Tensor, _state: State, weights: _Weights) -> None:
    wanted = weights.input.size(1)
    if input.size(1) != wanted:
        raise RuntimeError(f"input has inconsistent input_size: got {input.shape[1]} expected {wanted}")


def _check_state(_gates: int, input: Tensor, state: State, weights: _Weights) -> None:
    batch, wanted = input.shape[0], weights.hidden.size(1)
    for number, each in enumerate(state):
        if each.size(0) != batch:
            raise RuntimeError(f"Input batch size {batch} doesn't match hidden{number} batch size {each.shape[0]}")
        if each.size(1) != wanted:
            raise RuntimeError(f"hidden{number} has inconsistent hidden_size: got {each.shape[1]}, expected {wanted}")


# The order by the number of gates, which tells the cells apart.
_CHECKS = {
    1: (_check_weights, _check_input, _check_state),
    3: (_check_input, _check_state, _check_weights),
    4: (_check_input, _check_weights, _check_state),
}


def lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    return _one_step(_cell_lstm, 4, input, tuple(hx), w_ih, w_hh, b_ih, b_hh)


def gru_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _one_step(_cell_gru, 3, input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


# Op by op, as in torch: programs that call cells write to their states, which a fused step would have kept.


def _cell_lstm(projected: Tensor, state: State, weights: _Weights) -> State:
    hidden, cell = state
    let_in, forget, new, let_out = _gates(projected, hidden, weights).chunk(4, 1)
    cell = forget.sigmoid() * cell + let_in.sigmoid() * new.tanh()
    return let_out.sigmoid() * cell.tanh(), cell


def _cell_gru(projected: Tensor, state: State, weights: _Weights) -> State:
    (hidden,) = state
    input_parts, hidden_parts = projected.chunk(3, 1), _gates_of_state(hidden, weights).chunk(3, 1)
    if input_parts[0].shape != hidden_parts[0].shape:
        _check_rows(hidden_parts[0], input_parts[0])
    reset = (input_parts[0] + hidden_parts[0]).sigmoid()
    keep = (input_parts[1] + hidden_parts[1]).sigmoid()
    new = (input_parts[2] + reset * hidden_parts[2]).tanh()
    return ((hidden - new) * keep + new,)


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _one_step(_step_tanh, 1, input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    return _one_step(_step_relu, 1, input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]


# The derivatives of the fused steps are those of real numbers, and they have one dtype for all.
_BY_OPS: dict[Step, Step] = {_step_lstm: _step_lstm_by_ops, _step_gru: _cell_gru}


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
    has_projections = len(state) > 1 and state[0].size(2) != state[1].size(2)
    weights = _grouped(params, options.has_biases, has_projections)
    states = [each.unbind(0) for each in state]
    if any([len(each) % directions for each in (weights, *states)]):
        raise RuntimeError("Odd number of params or hiddens given to a bidirectional RNN")
    _check_counts(states, weights, options.num_layers * directions)
    last_states = []
    for layer in range(options.num_layers):
        outputs = []
        for direction in range(directions):
            number = layer * directions + direction
            first = tuple(each[number] for each in states)
            output, last = _walk(step, data, sizes, first, weights[number], bool(direction))
            outputs.append(output)
            last_states.append(last)
        data = outputs[0] if directions == 1 else ops.cat(outputs, -1)
        if options.dropout and options.train and layer < options.num_layers - 1:
            data = ops.dropout(data, options.dropout, True)
    return data, tuple(ops.stack(parts, 0) for parts in zip(*last_states))


def _grouped(params: Sequence[Tensor], has_biases: bool, has_projections: bool) -> list[_Weights]:
    """The parameters by layer and direction; with a projection there is one more for each."""
    usual = 4 if has_biases else 2
    length = usual + has_projections
    if len(params) % length:
        raise RuntimeError("got an incorrect number of RNN parameters")
    groups = (list(params[start : start + length]) for start in range(0, len(params), length))
    return [
        _Weights(*group[:usual], *([] if has_biases else [None, None]), group[usual] if has_projections else None)
        for group in groups
    ]


def _check_counts(states: Sequence[State], weights: list[_Weights], count: int) -> None:
    if any(len(each) != count for each in states):
        raise RuntimeError("Expected more hidden states in stacked_rnn")
    if len(weights) != count:
        raise RuntimeError("Expected more weights in stacked_rnn")


def _walk(
    step: Step, data: Tensor, sizes: Sequence[int], first: State, weights: _Weights, is_reverse: bool
) -> tuple[Tensor, State]:
    """One layer in one direction. Sequences end, or begin when walked in reverse, where the number of them changes."""
    projected, weights = _prepared(step, data, first[0], weights)
    is_fused = projected.ndim == 2 and first[-1].dtype is projected.dtype and not projected.is_complex()
    if not is_fused or not _are_packed(sizes, first):
        step = _BY_OPS.get(step, step)
    parts = _of_steps(projected, sizes)
    order = range(len(sizes) - 1, -1, -1) if is_reverse else range(len(sizes))
    running = sizes[order[0]]
    state = tuple(each[:running] for each in first) if is_reverse else first
    finished: list[State] = []
    outputs = []
    for number in order:
        count = sizes[number]
        if is_reverse and count > running:
            state = tuple(ops.cat([each, whole[running:count]], 0) for each, whole in zip(state, first))
        elif not is_reverse and count < running:
            finished.append(tuple(each[count:running] for each in state))
            state = tuple(each[:count] for each in state)
        running = count
        state = step(parts[number], state, weights)
        outputs.append(state[0])
    last = tuple(ops.cat(list(each), 0) for each in zip(state, *reversed(finished))) if finished else state
    return ops.cat(outputs[::-1] if is_reverse else outputs, 0), last


def _are_packed(sizes: Sequence[int], state: State) -> bool:
    """Whether the numbers of sequences are as in a packed batch: all at first, and then no more than before."""
    is_sorted = all([count >= after for count, after in zip(sizes, sizes[1:])])
    return is_sorted and all([each._mt_array.shape[:1] == (sizes[0],) for each in state])


def _of_steps(projected: Tensor, sizes: Sequence[int]) -> Sequence[Tensor]:
    if sum(sizes) == projected.size(0) and min(sizes) > 0:
        return projected.split(list(sizes), 0)
    starts = accumulate(sizes, initial=0)
    return [projected.narrow(0, start, size) for start, size in zip(starts, sizes)]


def _run_padded(
    step: Step, input: Tensor, state: State, params: Sequence[Tensor], batch_first: bool, options: _Options
) -> tuple[Tensor, State]:
    steps = input.transpose(0, 1) if batch_first else input
    length, batch = steps.size(0), steps.size(1)
    if not length:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    data = steps.reshape(length * batch, steps.size(2))
    output, last = _run(step, data, [batch] * length, state, params, options)
    return ops._unsafe_view(output, (length, batch, output.shape[-1])), last


def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    options = _Options(has_biases, num_layers, dropout, train, bidirectional)
    states = _two_states(hx)
    if any([each._mt_array.dtype.kind in "biu" for each in states]):  # torch hands padded batches to oneDNN
        raise RuntimeError("get_mkldnn_dtype: unsupported data type")
    output, last = _run_padded(_step_lstm, input, states, params, batch_first, options)
    return (output.transpose(0, 1) if batch_first else output), *last


def lstm_data(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, bidirectional):
    options = _Options(has_biases, num_layers, dropout, train, bidirectional)
    sizes = _counts(batch_sizes)
    if sizes and min(sizes) == max(sizes):
        data.view(len(sizes), sizes[0], data.size(-1))  # as many as steps of one size have
    output, last = _run(_step_lstm, data, sizes, _two_states(hx), params, options)
    return output, *last


def _counts(batch_sizes: Tensor) -> list[int]:
    """How many sequences there are in each step."""
    length = batch_sizes.size(0)
    if batch_sizes.dtype is not int64:
        raise RuntimeError(f"expected scalar type Long but found {batch_sizes.dtype.storage_name}")
    counts: list[int] = batch_sizes.flatten()[:length].tolist()
    return counts


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
        output, last = _run(step, data, _counts(batch_sizes), (hx,), params, options)
        return output, last[0]

    return kernel


gru = _padded(_step_gru)
gru_data = _packed(_step_gru)
rnn_tanh = _padded(_step_tanh)
rnn_tanh_data = _packed(_step_tanh)
rnn_relu = _padded(_step_relu)
rnn_relu_data = _packed(_step_relu)

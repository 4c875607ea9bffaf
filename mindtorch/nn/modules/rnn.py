"""Recurrent layers over whole sequences, and the cells that do one step."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.dispatch import ops
from mindtorch.nn import init
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter
from mindtorch.nn.utils.rnn import PackedSequence

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


def _uniform(module: Module, hidden_size: int) -> None:
    bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNBase(Module):
    """What the recurrent layers share: parameters by layer and direction, checks, batches in any of their forms."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_options(input_size, hidden_size, num_layers, bias, batch_first, dropout, proj_size)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights = [self._add_layer(number, device, dtype) for number in range(self._directions * num_layers)]
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _output_size(self) -> int:
        return self.proj_size or self.hidden_size

    def _add_layer(self, number: int, device: Any, dtype: Any) -> list[str]:
        """Add the parameters of one layer in one direction; their names."""
        layer, direction = divmod(number, self._directions)
        rows = _GATES[self.mode] * self.hidden_size
        width = self._output_size * self._directions if layer else self.input_size
        shapes: dict[str, tuple[int, ...]] = {"weight_ih": (rows, width), "weight_hh": (rows, self._output_size)}
        if self.bias:
            shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        suffix = "_reverse" if direction else ""
        names = [f"{name}_l{layer}{suffix}" for name in shapes]
        for name, shape in zip(names, shapes.values()):
            setattr(self, name, Parameter(ops.empty(shape, device=device, dtype=dtype)))
        return names

    def reset_parameters(self) -> None:
        """Uniform numbers within 1 / sqrt(hidden_size)."""
        _uniform(self, self.hidden_size)

    def flatten_parameters(self) -> None:
        """Does nothing: only GPUs want the parameters in one piece of memory."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [weight for weights in self.all_weights for weight in weights]

    def __getstate__(self) -> dict[str, Any]:
        """With the lists that torch's layers have among their attributes, so that it can load the layer."""
        names = [name for names in self._all_weights for name in names]
        return {**self.__dict__, "_flat_weights_names": names, "_flat_weights": self._flat_weights}

    def __setstate__(self, state: dict[str, Any]) -> None:
        lists = ("_flat_weights_names", "_flat_weights")
        super().__setstate__({name: value for name, value in state.items() if name not in lists})

    # -------------------- checks --------------------

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        own = self._flat_weights[0].dtype
        if input.dtype is not own:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({own}). "
                f"Convert input: input.to({own}), or convert model: model.to({input.dtype})"
            )
        wanted = 2 if batch_sizes is not None else 3
        if input.ndim != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.ndim}")
        if self.input_size != input.shape[-1]:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.shape[-1]}"
            )

    def _state_shape(self, batch: int, width: int) -> tuple[int, int, int]:
        return self.num_layers * self._directions, batch, width

    def _state_widths(self) -> tuple[int, ...]:
        """How wide each tensor of the state is."""
        return (self.hidden_size,)

    def _check_state(self, state: tuple[Tensor, ...], batch: int) -> None:
        for number, (tensor, width) in enumerate(zip(state, self._state_widths())):
            name = f"hidden[{number}]" if len(state) > 1 else "hidden"
            wanted = self._state_shape(batch, width)
            if tuple(tensor.shape) != wanted:
                raise RuntimeError(f"Expected {name} size {wanted}, got {list(tensor.shape)}")

    def _check_state_ndim(self, state: tuple[Tensor, ...], is_batched: bool) -> None:
        wanted, kind = (3, "batched") if is_batched else (2, "unbatched")
        if state[0].ndim != wanted:
            raise RuntimeError(
                f"For {kind} {wanted}-D input, hx should also be {wanted}-D but got {state[0].ndim}-D tensor"
            )

    # -------------------- calls --------------------

    def _ops(self) -> Callable:
        raise NotImplementedError

    def _run(self, input: Any, state: tuple[Tensor, ...] | None) -> tuple[Any, tuple[Tensor, ...]]:
        """The outputs, and the last states as a tuple."""
        if isinstance(input, PackedSequence):
            return self._run_packed(input, state)
        if input.ndim not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.ndim}D instead")
        is_batched = input.ndim == 3
        if state is not None:
            self._check_state_ndim(state, is_batched)
        if is_batched:
            return self._run_batch(input, state)
        batch_dim = 0 if self.batch_first else 1
        state = state and tuple(each.unsqueeze(1) for each in state)
        output, last = self._run_batch(input.unsqueeze(batch_dim), state)
        return output.squeeze(batch_dim), tuple(each.squeeze(1) for each in last)

    def _run_batch(self, input: Tensor, state: tuple[Tensor, ...] | None) -> tuple[Tensor, tuple[Tensor, ...]]:
        batch = input.shape[0 if self.batch_first else 1]
        state = state or self._zeros(input, batch)
        self.check_input(input, None)
        self._check_state(state, batch)
        output, *last = self._ops()(input, self._as_argument(state), *self._options(), self.batch_first)
        return output, tuple(last)

    def _run_packed(
        self, packed: PackedSequence, state: tuple[Tensor, ...] | None
    ) -> tuple[PackedSequence, tuple[Tensor, ...]]:
        data, batch_sizes, order, back = packed
        batch = int(batch_sizes[0])
        if state is None:
            state = self._zeros(data, batch)
        elif order is not None:
            state = tuple(each.index_select(1, order) for each in state)
        self.check_input(data, batch_sizes)
        self._check_state(state, batch)
        output, *last = self._ops()(data, batch_sizes, self._as_argument(state), *self._options())
        if back is not None:
            last = [each.index_select(1, back) for each in last]
        return PackedSequence(output, batch_sizes, order, back), tuple(last)

    def _zeros(self, input: Tensor, batch: int) -> tuple[Tensor, ...]:
        return tuple(input.new_zeros(self._state_shape(batch, width)) for width in self._state_widths())

    def _as_argument(self, state: tuple[Tensor, ...]) -> Any:
        return state[0] if len(state) == 1 else list(state)

    def _options(self) -> tuple[Any, ...]:
        return self._flat_weights, self.bias, self.num_layers, self.dropout, self.training, self.bidirectional

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        output, last = self._run(input, None if hx is None else (hx,))
        return output, last[0]

    def extra_repr(self) -> str:
        usual = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        text = f"{self.input_size}, {self.hidden_size}"
        for name, value in usual.items():
            own = getattr(self, name)
            text += f", {name}={own}" if own != value else ""
        return text


def _check_options(
    input_size: Any, hidden_size: Any, num_layers: int, bias: Any, batch_first: Any, dropout: Any, proj_size: int
) -> None:
    is_number = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
    if not is_number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
            f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
        )
    typed = (("bias", bias, bool), ("batch_first", batch_first, bool), ("input_size", input_size, int))
    for name, value, kind in (*typed, ("hidden_size", hidden_size, int)):
        if not isinstance(value, kind):
            raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
    for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
        if value <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def _refuse_projection(options: dict[str, Any]) -> None:
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """Layers whose state is a nonlinearity of the input and the state before."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        modes = {"tanh": "RNN_TANH", "relu": "RNN_RELU"}
        if nonlinearity not in modes:
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        super().__init__(modes[nonlinearity], *args, **kwargs)
        self.nonlinearity = nonlinearity

    def _ops(self) -> Callable:
        return ops.rnn_tanh if self.mode == "RNN_TANH" else ops.rnn_relu


class LSTM(RNNBase):
    """Layers with a cell that gates let values into, forget and let out."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)

    def _ops(self) -> Callable:
        return ops.lstm

    def _state_widths(self) -> tuple[int, ...]:
        return self._output_size, self.hidden_size

    def _check_state_ndim(self, state: tuple[Tensor, ...], is_batched: bool) -> None:
        wanted, kind = (3, "batched") if is_batched else (2, "unbatched")
        if any(each.ndim != wanted for each in state):
            given = ", ".join(f"{each.ndim}-D" for each in state)
            raise RuntimeError(
                f"For {kind} {wanted}-D input, hx and cx should also be {wanted}-D but got ({given}) tensors"
            )

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        return self._run(input, None if hx is None else tuple(hx))


class GRU(RNNBase):
    """Layers with a gate that resets the state and one that keeps it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)

    def _ops(self) -> Callable:
        return ops.gru


# -------------------- cells --------------------


class RNNCellBase(Module):
    """What the cells share: the parameters, and how they are printed."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        rows = num_chunks * hidden_size
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(ops.empty((rows, input_size), **options))
        self.weight_hh = Parameter(ops.empty((rows, hidden_size), **options))
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, Parameter(ops.empty(rows, **options)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Uniform numbers within 1 / sqrt(hidden_size)."""
        _uniform(self, self.hidden_size)

    def _step(self, op: Callable, input: Tensor, state: Any) -> Any:
        return op(input, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)

    def _check_ndim(self, what: str, tensor: Tensor | None) -> None:
        if tensor is not None and tensor.ndim not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected {what} to be 1D or 2D, got {tensor.ndim}D instead")

    def _run(self, op: Callable, input: Tensor, hx: Tensor | None) -> Tensor:
        self._check_ndim("input", input)
        self._check_ndim("hidden", hx)
        if input.ndim == 1:
            return self._run(op, input.unsqueeze(0), None if hx is None else hx.unsqueeze(0)).squeeze(0)
        state = input.new_zeros((input.shape[0], self.hidden_size)) if hx is None else hx
        return self._step(op, input, state)

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}" + ("" if self.bias is True else f", bias={self.bias}")
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text + (f", nonlinearity={nonlinearity}" if nonlinearity != "tanh" else "")


class RNNCell(RNNCellBase):
    """One step of an RNN."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        steps = {"tanh": ops.rnn_tanh_cell, "relu": ops.rnn_relu_cell}
        if self.nonlinearity not in steps:
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._run(steps[self.nonlinearity], input, hx)


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        return self._run(ops.gru_cell, input, hx)


class LSTMCell(RNNCellBase):
    """One step of an LSTM; its state is a pair."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, Tensor]:
        self._check_ndim("input", input)
        for number, tensor in enumerate(() if hx is None else hx):
            self._check_ndim(f"hx[{number}]", tensor)
        if input.ndim == 1:
            state = None if hx is None else (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
            hidden, cell = self._of_batch(input.unsqueeze(0), state)
            return hidden.squeeze(0), cell.squeeze(0)
        return self._of_batch(input, hx)

    def _of_batch(self, input: Tensor, hx: tuple[Tensor, Tensor] | None) -> tuple[Tensor, Tensor]:
        if hx is None:
            zeros = input.new_zeros((input.shape[0], self.hidden_size))
            hx = zeros, zeros
        return self._step(ops.lstm_cell, input, list(hx) if isinstance(hx, tuple) else hx)

"""The transformer: layers of an encoder and a decoder, stacks of them, and the two together."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from mindtorch._core.tensor import Tensor
from mindtorch._support.warnings import warn
from mindtorch.autograd.grad_mode import is_grad_enabled
from mindtorch.dispatch import ops
from mindtorch.nn import functional as F
from mindtorch.nn import init
from mindtorch.nn.attention import canonical_mask
from mindtorch.nn.modules.activation import GELU, ReLU
from mindtorch.nn.modules.attention import MultiheadAttention
from mindtorch.nn.modules.container import ModuleList
from mindtorch.nn.modules.dropout import Dropout
from mindtorch.nn.modules.linear import Linear
from mindtorch.nn.modules.module import Module
from mindtorch.nn.modules.normalization import LayerNorm

Activation = str | Callable[[Tensor], Tensor]


def _square_mask(size: int, device: Any = None, dtype: Any = None) -> Tensor:
    """What each place may look at: itself and what is before it."""
    return ops.triu(ops.full((size, size), -math.inf, dtype=dtype, device=device), 1)


def _is_causal(mask: Tensor | None, is_causal: bool | None, length: int) -> bool:
    """Whether a mask is causal: masks what is ahead and nothing else; computed unless the caller gives it."""
    if is_causal is not None or mask is None:
        return bool(is_causal)
    if tuple(mask.shape) != (length, length):
        return False
    return bool((mask == _square_mask(length, mask.device, mask.dtype)).all())


def _length(sequence: Tensor, batch_first: bool) -> int:
    return sequence.shape[1 if batch_first and sequence.ndim == 3 else 0]


def _get_clones(module: Module, count: int) -> ModuleList:
    return ModuleList(copy.deepcopy(module) for _ in range(count))


def _get_activation_fn(name: str) -> Callable[[Tensor], Tensor]:
    functions: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}
    if name not in functions:
        raise RuntimeError(f"activation should be relu/gelu, not {name}")
    return functions[name]


class _TransformerLayer(Module):
    """What the layers of encoder and decoder share: attention, two linear layers, and what is between them."""

    self_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int,
        dropout: float,
        activation: Activation,
        layer_norm_eps: float,
        batch_first: bool,
        norm_first: bool,
        bias: bool,
        device: Any,
        dtype: Any,
        blocks: int,
    ) -> None:
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__()
        for name in ("self_attn", "multihead_attn")[: blocks - 1]:
            attention = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **options)
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)
        self.norm_first = norm_first
        for number in range(1, blocks + 1):
            setattr(self, f"norm{number}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options))
        for number in range(1, blocks + 1):
            setattr(self, f"dropout{number}", Dropout(dropout))
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation
        self.activation_relu_or_gelu = _number_of(self.activation)

    def _block(self, x: Tensor, norm: Module, compute: Callable[[Tensor], Tensor]) -> Tensor:
        """A block around which x is passed on; normalized before or after it."""
        return x + compute(norm(x)) if self.norm_first else norm(x + compute(x))

    # The blocks have torch's names and arguments: layers of other libraries replace one of them.

    def _sa_block(
        self, x: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None, is_causal: bool = False
    ) -> Tensor:
        options = {"attn_mask": attn_mask, "key_padding_mask": key_padding_mask, "is_causal": is_causal}
        return self.dropout1(self.self_attn(x, x, x, need_weights=False, **options)[0])

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "activation": _as_named(self.activation)}

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_TransformerLayer):
    """A sequence attends to itself and goes through two linear layers."""

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = (dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype)
        super().__init__(d_model, nhead, *options, blocks=2)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        padding = canonical_mask(src_key_padding_mask, "src_key_padding_mask", src_mask, "src_mask", src.dtype)
        mask = canonical_mask(src_mask, "src_mask", None, "", src.dtype)
        x = self._block(src, self.norm1, lambda x: self._sa_block(x, mask, padding, is_causal))
        return self._block(x, self.norm2, self._ff_block)

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout2(self._feed_forward(x))


class TransformerDecoderLayer(_TransformerLayer):
    """A sequence attends to itself, then to what the encoder made, and goes through two linear layers."""

    multihead_attn: MultiheadAttention
    norm3: LayerNorm
    dropout3: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        options = (dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype)
        super().__init__(d_model, nhead, *options, blocks=3)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        own = tgt_mask, tgt_key_padding_mask, tgt_is_causal
        others = memory_mask, memory_key_padding_mask, memory_is_causal
        x = self._block(tgt, self.norm1, lambda x: self._sa_block(x, *own))
        x = self._block(x, self.norm2, lambda x: self._mha_block(x, memory, *others))
        return self._block(x, self.norm3, self._ff_block)

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        options = {"attn_mask": attn_mask, "key_padding_mask": key_padding_mask, "is_causal": is_causal}
        return self.dropout2(self.multihead_attn(x, mem, mem, need_weights=False, **options)[0])

    def _ff_block(self, x: Tensor) -> Tensor:
        return self.dropout3(self._feed_forward(x))


class TransformerEncoder(Module):
    """Copies of an encoder layer, one after the other."""

    def __init__(
        self,
        encoder_layer: Module,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        reason = _why_not_nested(encoder_layer) if enable_nested_tensor else None
        if reason:
            warn(f"enable_nested_tensor is True, but self.use_nested_tensor is False because {reason}")
        self.use_nested_tensor = enable_nested_tensor and reason is None
        self.mask_check = mask_check

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        padding = canonical_mask(src_key_padding_mask, "src_key_padding_mask", mask, "mask", src.dtype)
        mask = canonical_mask(mask, "mask", None, "", src.dtype)
        first: Any = self.layers[0]
        causal = _is_causal(mask, is_causal, _length(src, first.self_attn.batch_first))
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if padding is not None and mask is None and self._skips_padding(src, padding):
            output = output.masked_fill((padding != 0).unsqueeze(-1), 0)
        return output if self.norm is None else self.norm(output)

    def _skips_padding(self, src: Tensor, padding: Tensor) -> bool:
        """Whether torch would go without the padding, in nested tensors, and give zeros in its place."""
        if not self.use_nested_tensor or self.layers[0].training or src.ndim != 3:
            return False
        if is_grad_enabled() and (src.requires_grad or any(p.requires_grad for p in self.layers[0].parameters())):
            return False
        kept = padding == 0
        at_the_end = ops.arange(kept.shape[1], device=kept.device) < kept.sum(1, keepdim=True)
        return not self.mask_check or bool((kept == at_the_end).all())


def _number_of(activation: Any) -> int:
    """How torch notes for its fast path that the activation is relu (1), gelu (2) or another: files have it."""
    if activation == F.relu or isinstance(activation, ReLU):
        return 1
    return 2 * (activation == F.gelu or isinstance(activation, GELU))


def _as_named(activation: Any) -> Any:
    """What a pickle finds by the function's name: what calls can be taken over by, if it came later than the layer."""
    named = getattr(F, getattr(activation, "__name__", ""), None)
    return named if named == activation else activation


def _is_relu_or_gelu(activation: Any) -> bool:
    return activation in (F.relu, F.gelu) or isinstance(activation, (ReLU, GELU))


def _why_not_nested(layer: Module) -> str | None:
    """What keeps torch from nested tensors in an encoder of such layers."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    obstacles = {
        "norm_first was True": layer.norm_first,
        "self_attn.batch_first was not True(use batch_first for better inference performance)": (
            not attention.batch_first
        ),
        "self_attn was passed bias=False": attention.in_proj_bias is None,
        "activation_relu_or_gelu was not True": not _is_relu_or_gelu(layer.activation),
        "norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        "self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((f"encoder_layer.{text}" for text, is_there in obstacles.items() if is_there), None)


class TransformerDecoder(Module):
    """Copies of a decoder layer, one after the other."""

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        first: Any = self.layers[0]
        causal = _is_causal(tgt_mask, tgt_is_causal, _length(tgt, first.self_attn.batch_first))
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """An encoder and a decoder."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        layer = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        options: dict[str, Any] = {"device": device, "dtype": dtype}
        if custom_encoder is None:
            encoder_layer = TransformerEncoderLayer(*layer, **options)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
            custom_encoder = TransformerEncoder(encoder_layer, num_encoder_layers, norm)
        self.encoder = custom_encoder
        if custom_decoder is None:
            decoder_layer = TransformerDecoderLayer(*layer, **options)
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
            custom_decoder = TransformerDecoder(decoder_layer, num_decoder_layers, norm)
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.ndim > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        self._check(src, tgt)
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    def _check(self, src: Tensor, tgt: Tensor) -> None:
        batch_dim = 0 if self.batch_first else 1
        if src.ndim == 3 and src.shape[batch_dim] != tgt.shape[batch_dim]:
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """The mask with which each place looks at itself and at what is before it."""
        return _square_mask(sz, device, dtype)

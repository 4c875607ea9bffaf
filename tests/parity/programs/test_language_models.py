"""Language models in the style of well-known repositories, trained a few steps and sampled from."""

import copy
import inspect
import io
import math
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from tests.parity.support.figures import figures

program, test_same_figures = figures()


@program
def nano_gpt(T):
    """Tied weights, scaled initial values, groups by dimension, warm-up and cosine, accumulation, sampling."""
    nn, F = T.nn, T.nn.functional

    @dataclass
    class Config:
        block_size: int = 8
        vocab_size: int = 17
        n_layer: int = 2
        n_head: int = 2
        n_embd: int = 16
        dropout: float = 0.1
        bias: bool = False

    class LayerNorm(nn.Module):
        def __init__(self, ndim, bias):
            super().__init__()
            self.weight = nn.Parameter(T.ones(ndim))
            self.bias = nn.Parameter(T.zeros(ndim)) if bias else None

        def forward(self, input):
            return F.layer_norm(input, self.weight.shape, self.weight, self.bias, 1e-5)

    class Attention(nn.Module):
        def __init__(self, config, flash):
            super().__init__()
            assert config.n_embd % config.n_head == 0
            self.c_attn = nn.Linear(config.n_embd, 3 * config.n_embd, bias=config.bias)
            self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)
            self.attn_dropout, self.resid_dropout = nn.Dropout(config.dropout), nn.Dropout(config.dropout)
            self.n_head, self.n_embd, self.dropout = config.n_head, config.n_embd, config.dropout
            self.flash = flash and hasattr(F, "scaled_dot_product_attention")
            size = config.block_size
            self.register_buffer("bias", T.tril(T.ones(size, size)).view(1, 1, size, size), persistent=False)

        def forward(self, x):
            B, L, C = x.size()
            q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
            q, k, v = (y.view(B, L, self.n_head, C // self.n_head).transpose(1, 2) for y in (q, k, v))
            if self.flash:
                y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=True)
            else:
                att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
                att = att.masked_fill(self.bias[:, :, :L, :L] == 0, float("-inf"))
                y = self.attn_dropout(F.softmax(att, dim=-1)) @ v
            y = y.transpose(1, 2).contiguous().view(B, L, C)
            return self.resid_dropout(self.c_proj(y))

    class MLP(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.c_fc = nn.Linear(config.n_embd, 4 * config.n_embd, bias=config.bias)
            self.gelu = nn.GELU(approximate="tanh")
            self.c_proj = nn.Linear(4 * config.n_embd, config.n_embd, bias=config.bias)
            self.dropout = nn.Dropout(config.dropout)

        def forward(self, x):
            return self.dropout(self.c_proj(self.gelu(self.c_fc(x))))

    class Block(nn.Module):
        def __init__(self, config, flash):
            super().__init__()
            self.ln_1, self.ln_2 = LayerNorm(config.n_embd, config.bias), LayerNorm(config.n_embd, config.bias)
            self.attn, self.mlp = Attention(config, flash), MLP(config)

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.mlp(self.ln_2(x))

    class GPT(nn.Module):
        def __init__(self, config):
            super().__init__()
            self.config = config
            self.transformer = nn.ModuleDict(
                dict(
                    wte=nn.Embedding(config.vocab_size, config.n_embd),
                    wpe=nn.Embedding(config.block_size, config.n_embd),
                    drop=nn.Dropout(config.dropout),
                    h=nn.ModuleList([Block(config, n == 0) for n in range(config.n_layer)]),
                    ln_f=LayerNorm(config.n_embd, bias=config.bias),
                )
            )
            self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
            self.transformer.wte.weight = self.lm_head.weight
            self.apply(self._init_weights)
            for name, p in self.named_parameters():
                if name.endswith("c_proj.weight"):
                    T.nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(2 * config.n_layer))

        def get_num_params(self, non_embedding=True):
            n = sum(p.numel() for p in self.parameters())
            return n - self.transformer.wpe.weight.numel() if non_embedding else n

        def _init_weights(self, module):
            if isinstance(module, nn.Linear):
                T.nn.init.normal_(module.weight, mean=0.0, std=0.02)
                if module.bias is not None:
                    T.nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                T.nn.init.normal_(module.weight, mean=0.0, std=0.02)

        def forward(self, idx, targets=None):
            device = idx.device
            b, t = idx.size()
            pos = T.arange(0, t, dtype=T.long, device=device)
            x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(pos))
            for block in self.transformer.h:
                x = block(x)
            x = self.transformer.ln_f(x)
            if targets is not None:
                logits = self.lm_head(x)
                return logits, F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
            return self.lm_head(x[:, [-1], :]), None

        def crop_block_size(self, block_size):
            self.config.block_size = block_size
            self.transformer.wpe.weight = nn.Parameter(self.transformer.wpe.weight[:block_size])

        def configure_optimizers(self, weight_decay, learning_rate, betas, device_type):
            param_dict = {pn: p for pn, p in self.named_parameters() if p.requires_grad}
            groups = [
                {"params": [p for p in param_dict.values() if p.dim() >= 2], "weight_decay": weight_decay},
                {"params": [p for p in param_dict.values() if p.dim() < 2], "weight_decay": 0.0},
            ]
            fused = "fused" in inspect.signature(T.optim.AdamW).parameters and device_type == "cuda"
            return T.optim.AdamW(groups, lr=learning_rate, betas=betas, **(dict(fused=True) if fused else {}))

        @T.no_grad()
        def generate(self, idx, max_new_tokens, temperature=1.0, top_k=None):
            for _ in range(max_new_tokens):
                idx_cond = idx if idx.size(1) <= self.config.block_size else idx[:, -self.config.block_size :]
                logits, _ = self(idx_cond)
                logits = logits[:, -1, :] / temperature
                if top_k is not None:
                    v, _ = T.topk(logits, min(top_k, logits.size(-1)))
                    logits[logits < v[:, [-1]]] = -float("Inf")
                idx = T.cat((idx, T.multinomial(F.softmax(logits, dim=-1), num_samples=1)), dim=1)
            return idx

    T.manual_seed(1337 + 0)
    T.backends.cuda.matmul.allow_tf32 = True
    T.backends.cudnn.allow_tf32 = True
    device = "cuda" if T.cuda.is_available() else "cpu"
    device_type = "cuda" if "cuda" in device else "cpu"
    dtype = "bfloat16" if T.cuda.is_available() and T.cuda.is_bf16_supported() else "float16"
    ptdtype = {"float32": T.float32, "bfloat16": T.bfloat16, "float16": T.float16}[dtype]
    ctx = nullcontext() if device_type == "cpu" else T.amp.autocast(device_type=device_type, dtype=ptdtype)
    data = np.random.RandomState(0).randint(0, 17, 200).astype(np.uint16)

    def get_batch():
        ix = T.randint(len(data) - 8, (4,))
        x = T.stack([T.from_numpy((data[i : i + 8]).astype(np.int64)) for i in ix])
        y = T.stack([T.from_numpy((data[i + 1 : i + 1 + 8]).astype(np.int64)) for i in ix])
        return x.to(device), y.to(device)

    model = GPT(Config())
    model.to(device)
    scaler = T.cuda.amp.GradScaler(enabled=(dtype == "float16" and device_type == "cuda"))
    optimizer = model.configure_optimizers(1e-1, 1e-2, (0.9, 0.95), device_type)
    out = [model.get_num_params(), [len(g["params"]) for g in optimizer.param_groups]]

    def lr_of(it):
        if it < 2:
            return 1e-2 * (it + 1) / 3
        return 1e-3 + 0.5 * (1.0 + math.cos(math.pi * (it - 2) / 4)) * 9e-3

    X, Y = get_batch()
    for it in range(4):
        for group in optimizer.param_groups:
            group["lr"] = lr_of(it)
        for _ in range(2):
            with ctx:
                logits, loss = model(X, Y)
                loss = loss / 2
            X, Y = get_batch()
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = T.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
        out += [loss.item(), norm.item()]
    buf = io.BytesIO()
    T.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "model_args": {"a": 1}}, buf)
    buf.seek(0)
    checkpoint = T.load(buf, map_location=device)
    state = checkpoint["model"]
    for k in list(state):
        if k.startswith("_orig_mod."):
            state[k[len("_orig_mod.") :]] = state.pop(k)
    raw = GPT(Config(dropout=0.0))
    raw.load_state_dict(state)
    raw.crop_block_size(6)
    raw.eval()
    out += raw.generate(T.zeros((1, 1), dtype=T.long), 10, 0.8, 5)[0].tolist()
    out += [list(state)]
    return out


@program
def llama_cache(T):
    """Rotary embeddings, grouped queries, a gated network, a cache of keys and values, nucleus sampling."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)

    class RMSNorm(nn.Module):
        def __init__(self, dim, eps=1e-6):
            super().__init__()
            self.eps, self.weight = eps, nn.Parameter(T.ones(dim))

        def _norm(self, x):
            return x * T.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

        def forward(self, x):
            return self._norm(x.float()).type_as(x) * self.weight

    def precompute(dim, end, theta=10000.0):
        freqs = 1.0 / (theta ** (T.arange(0, dim, 2)[: (dim // 2)].float() / dim))
        f = T.outer(T.arange(end, device=freqs.device, dtype=T.float32), freqs)
        return T.polar(T.ones_like(f), f)

    def rotary(xq, xk, fc):
        q_, k_ = T.view_as_complex(xq.float().reshape(*xq.shape[:-1], -1, 2)), T.view_as_complex(
            xk.float().reshape(*xk.shape[:-1], -1, 2)
        )
        fc = fc.view(*[d if i == 1 or i == q_.ndim - 1 else 1 for i, d in enumerate(q_.shape)])
        return T.view_as_real(q_ * fc).flatten(3).type_as(xq), T.view_as_real(k_ * fc).flatten(3).type_as(xk)

    def repeat_kv(x, n):
        b, s, h, d = x.shape
        return x if n == 1 else x[:, :, :, None, :].expand(b, s, h, n, d).reshape(b, s, h * n, d)

    class Attn(nn.Module):
        def __init__(self, dim, h, kv):
            super().__init__()
            self.h, self.kv, self.d = h, kv, dim // h
            self.wq, self.wk, self.wv, self.wo = (
                nn.Linear(dim, h * self.d, bias=False),
                nn.Linear(dim, kv * self.d, bias=False),
                nn.Linear(dim, kv * self.d, bias=False),
                nn.Linear(h * self.d, dim, bias=False),
            )
            self.cache_k, self.cache_v = T.zeros((2, 12, kv, self.d)), T.zeros((2, 12, kv, self.d))

        def forward(self, x, pos, fc, mask, cache):
            b, s, _ = x.shape
            q, k, v = (
                self.wq(x).view(b, s, self.h, self.d),
                self.wk(x).view(b, s, self.kv, self.d),
                self.wv(x).view(b, s, self.kv, self.d),
            )
            q, k = rotary(q, k, fc)
            if cache:
                self.cache_k = self.cache_k.to(q)
                self.cache_v = self.cache_v.to(q)
                self.cache_k[:b, pos : pos + s] = k
                self.cache_v[:b, pos : pos + s] = v
                k, v = self.cache_k[:b, : pos + s], self.cache_v[:b, : pos + s]
            k, v = repeat_kv(k, self.h // self.kv), repeat_kv(v, self.h // self.kv)
            q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
            sc = T.matmul(q, k.transpose(2, 3)) / math.sqrt(self.d)
            if mask is not None:
                sc = sc + mask
            return self.wo(
                T.matmul(F.softmax(sc.float(), dim=-1).type_as(q), v).transpose(1, 2).contiguous().view(b, s, -1)
            )

    class FFN(nn.Module):
        def __init__(self, dim, hidden, m):
            super().__init__()
            hidden = m * ((int(2 * hidden / 3) + m - 1) // m)
            self.w1, self.w2, self.w3 = (
                nn.Linear(dim, hidden, bias=False),
                nn.Linear(hidden, dim, bias=False),
                nn.Linear(dim, hidden, bias=False),
            )

        def forward(self, x):
            return self.w2(F.silu(self.w1(x)) * self.w3(x))

    class Model(nn.Module):
        def __init__(self, V=13, dim=16):
            super().__init__()
            self.emb = nn.Embedding(V, dim)
            self.layers = T.nn.ModuleList()
            for _ in range(2):
                self.layers.append(
                    nn.ModuleDict(dict(a=Attn(dim, 4, 2), f=FFN(dim, 32, 4), n1=RMSNorm(dim), n2=RMSNorm(dim)))
                )
            self.norm, self.out, self.fc = RMSNorm(dim), nn.Linear(dim, V, bias=False), precompute(dim // 4, 24)

        def forward(self, tok, pos=0, cache=False):
            b, s = tok.shape
            h = self.emb(tok)
            self.fc = self.fc.to(h.device)
            fc = self.fc[pos : pos + s]
            mask = None
            if s > 1:
                mask = T.full((s, s), float("-inf"), device=tok.device)
                mask = T.triu(mask, diagonal=1)
                mask = T.hstack([T.zeros((s, pos)), mask]).type_as(h)
            for l in self.layers:
                h = (
                    h + l.a(l.n1(h), pos, fc, mask, cache)
                    if hasattr(l, "a")
                    else h + l["a"](l["n1"](h), pos, fc, mask, cache)
                )
                h = h + l["f"](l["n2"](h))
            return self.out(self.norm(h)).float()

    m = Model()
    opt = T.optim.AdamW(m.parameters(), lr=1e-2, fused=False, foreach=None)
    out = []
    x = T.randint(13, (2, 9))
    for _ in range(3):
        l = F.cross_entropy(m(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())
        l.backward()
        opt.step()
        opt.zero_grad()
        out.append(l.item())

    def top_p(p, pr):
        ps, pi = T.sort(p, dim=-1, descending=True)
        cs = T.cumsum(ps, dim=-1)
        mk = cs - ps > pr
        ps[mk] = 0.0
        ps.div_(ps.sum(dim=-1, keepdim=True))
        nt = T.multinomial(ps, num_samples=1)
        return T.gather(pi, -1, nt)

    with T.inference_mode():
        full = m(x)
        m(x[:, :4], 0, True)
        b = m(x[:, 4:5], 4, True)
        out += [(full[:, 4] - b[:, -1]).abs().max().item() < 1e-4]
        tok = x[:, :5]
        for p in range(5, 9):
            lg = m(tok[:, -1:] if p > 5 else tok[:, 4:5], p - 1 if p > 5 else 4, True)[:, -1]
            nt = top_p(T.softmax(lg / 0.6, dim=-1), 0.9)
            tok = T.cat([tok, nt], 1)
        for dt in (T.bfloat16, T.float16):
            h = copy.deepcopy(m).to(dt)
            o = h(x)
            out += [str(o.dtype), bool((o - full).abs().max() < 0.2)]
    return out + tok.tolist()

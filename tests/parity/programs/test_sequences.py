"""Programs about sequences: translators, attention, word vectors."""

import math
from collections import Counter

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def translation_with_attention(T, say):
    """An encoder with packed sequences, additive attention, teacher forcing and masks."""
    nn, F = T.nn, T.nn.functional
    rnn = nn.utils.rnn

    class Encoder(nn.Module):
        def __init__(self, vocab, emb, hid, dropout):
            super().__init__()
            self.embedding = nn.Embedding(vocab, emb, padding_idx=0)
            self.rnn = nn.GRU(emb, hid, num_layers=2, bidirectional=True, dropout=dropout)
            self.fc, self.dropout = nn.Linear(hid * 2, hid), nn.Dropout(dropout)

        def forward(self, src, src_len):
            packed = rnn.pack_padded_sequence(
                self.dropout(self.embedding(src)), src_len.to("cpu"), enforce_sorted=False
            )
            outputs, hidden = self.rnn(packed)
            outputs, lengths = rnn.pad_packed_sequence(outputs)
            return outputs, T.tanh(self.fc(T.cat((hidden[-2, :, :], hidden[-1, :, :]), dim=1))), lengths

    class Attention(nn.Module):
        def __init__(self, hid):
            super().__init__()
            self.attn, self.v = nn.Linear(hid * 3, hid), nn.Linear(hid, 1, bias=False)

        def forward(self, hidden, outputs, mask):
            hidden = hidden.unsqueeze(1).repeat(1, outputs.shape[0], 1)
            energy = T.tanh(self.attn(T.cat((hidden, outputs.permute(1, 0, 2)), dim=2)))
            return F.softmax(self.v(energy).squeeze(2).masked_fill(mask == 0, -1e10), dim=1)

    class Decoder(nn.Module):
        def __init__(self, vocab, emb, hid):
            super().__init__()
            self.attention, self.embedding = Attention(hid), nn.Embedding(vocab, emb)
            self.rnn, self.fc_out = nn.GRUCell(hid * 2 + emb, hid), nn.Linear(hid * 3 + emb, vocab)

        def forward(self, token, hidden, outputs, mask):
            embedded = self.embedding(token)
            a = self.attention(hidden, outputs, mask)
            weighted = T.bmm(a.unsqueeze(1), outputs.transpose(0, 1)).squeeze(1)
            hidden = self.rnn(T.cat((embedded, weighted), dim=-1), hidden)
            return self.fc_out(T.cat((hidden, weighted, embedded), dim=1)), hidden, a

    T.manual_seed(1)
    encoder, decoder = Encoder(9, 4, 5, 0.1), Decoder(8, 4, 5)
    say(encoder, decoder)
    src = T.tensor([[1, 2, 3, 4], [5, 6, 0, 0], [7, 8, 2, 0]]).t()
    src_len, trg = T.tensor([4, 2, 3]), T.tensor([[1, 4, 5, 2], [1, 6, 2, 0], [1, 7, 3, 2]]).t()
    parameters = [*encoder.parameters(), *decoder.parameters()]
    optimizer, criterion = T.optim.Adam(parameters, 0.02), nn.CrossEntropyLoss(ignore_index=0)
    for epoch in range(3):
        outputs, hidden, lengths = encoder(src, src_len)
        mask, token, results = (src != 0).permute(1, 0), trg[0, :], []
        for t in range(1, trg.shape[0]):
            out, hidden, _ = decoder(token, hidden, outputs, mask)
            results.append(out)
            token = trg[t] if T.rand(1) < 0.5 else out.argmax(1)
        loss = criterion(T.stack(results).view(-1, 8), trg[1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        T.nn.utils.clip_grad_norm_(parameters, 1)
        optimizer.step()
        say(f"Epoch: {epoch + 1:02} | Train Loss: {loss:.3f} | Train PPL: {math.exp(loss):7.3f}", lengths)
    encoder.eval()
    packed = rnn.pack_sequence([T.arange(3.0), T.arange(2.0), T.arange(1.0)])
    say(
        packed,
        packed.data.dtype,
        rnn.pad_packed_sequence(packed, True, -1.0, total_length=4),
        rnn.unpad_sequence(src, src_len),
    )
    for wrong in (
        lambda: rnn.pack_padded_sequence(T.ones(3, 2), T.tensor([1, 3])),
        lambda: rnn.pack_padded_sequence(T.ones(3, 2), T.tensor([3, 0])),
        lambda: rnn.pad_packed_sequence(packed, total_length=2),
        lambda: encoder.rnn(T.ones(2, 3, 7)),
        lambda: encoder.rnn(T.ones(2, 3, 4), T.ones(4, 2, 5)),
        lambda: decoder.rnn(T.ones(2, 3)),
        lambda: nn.GRU(3, 4, 1, dropout=1.5),
        lambda: nn.LSTM(3, 4, proj_size=5),
        lambda: nn.RNN(3, 4, nonlinearity="gelu"),
        lambda: nn.LSTM(3, 0),
        lambda: encoder.embedding(T.tensor([9])),
        lambda: nn.Embedding(3, 2, padding_idx=5),
    ):
        try:
            say(wrong())
        except (RuntimeError, ValueError, IndexError, AssertionError) as error:
            say(type(error).__name__, error)


@program
def attention_layers(T, say):
    """nn.Transformer as tutorials have it, its masks and parts, MultiheadAttention in all its forms."""
    nn, F = T.nn, T.nn.functional

    class PositionalEncoding(nn.Module):
        def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 50):
            super().__init__()
            self.dropout = nn.Dropout(p=dropout)
            position = T.arange(max_len).unsqueeze(1)
            div_term = T.exp(T.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
            pe = T.zeros(max_len, 1, d_model)
            pe[:, 0, 0::2] = T.sin(position * div_term)
            pe[:, 0, 1::2] = T.cos(position * div_term)
            self.register_buffer("pe", pe)

        def forward(self, x):
            return self.dropout(x + self.pe[: x.size(0)])

    class Model(nn.Module):
        def __init__(self, ntoken, d_model, nhead, d_hid, nlayers):
            super().__init__()
            self.pos_encoder = PositionalEncoding(d_model)
            layer = nn.TransformerEncoderLayer(d_model, nhead, d_hid, 0.1, activation="gelu", norm_first=True)
            self.encoder = nn.TransformerEncoder(layer, nlayers, norm=nn.LayerNorm(d_model), enable_nested_tensor=False)
            self.embedding, self.linear = nn.Embedding(ntoken, d_model), nn.Linear(d_model, ntoken)
            self.embedding.weight.data.uniform_(-0.1, 0.1)

        def forward(self, src, src_mask: T.Tensor | None = None):
            src = self.pos_encoder(self.embedding(src) * math.sqrt(8))
            if src_mask is None:
                src_mask = nn.Transformer.generate_square_subsequent_mask(len(src))
            return self.linear(self.encoder(src, src_mask, is_causal=True))

    T.manual_seed(0)
    model = Model(11, 8, 2, 12, 2)
    say(model)
    say(list(model.state_dict()))
    data = T.randint(0, 11, (6, 3))
    optimizer = T.optim.SGD(model.parameters(), lr=5.0)
    for _ in range(3):
        loss = F.cross_entropy(model(data[:-1]).view(-1, 11), data[1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        T.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        say(f"{loss:5.2f}", optimizer.param_groups[0]["lr"])
    say(
        nn.Transformer.generate_square_subsequent_mask(3),
        nn.Transformer.generate_square_subsequent_mask(2, dtype=T.float64),
    )
    whole = nn.Transformer(8, 2, 1, 1, 12, dropout=0.0, batch_first=True, bias=False)
    say(whole)
    src, tgt, pad = T.randn(2, 4, 8), T.randn(2, 3, 8), T.tensor([[False, False, False, True], [False] * 4])
    causal = whole.generate_square_subsequent_mask(3)
    say(whole(src, tgt, tgt_mask=causal, src_key_padding_mask=pad, memory_key_padding_mask=pad, tgt_is_causal=True)[0])
    attention = nn.MultiheadAttention(8, 2, kdim=3, vdim=5, add_bias_kv=True, add_zero_attn=True, batch_first=True)
    say(attention, {name: list(p.shape) for name, p in attention.named_parameters()})
    out, weights = attention(tgt, T.randn(2, 4, 3), T.randn(2, 4, 5), key_padding_mask=pad, average_attn_weights=False)
    say(
        out.shape,
        weights.shape,
        weights.sum(-1),
        attention(tgt[0], T.randn(4, 3), T.randn(4, 5), need_weights=False)[1],
    )
    plain = nn.MultiheadAttention(8, 4, bias=False)
    for wrong in (
        lambda: nn.MultiheadAttention(8, 3),
        lambda: plain(tgt, tgt, tgt, attn_mask=T.zeros(3, 3)),
        lambda: plain(tgt[..., :4], tgt, tgt),
        lambda: whole(src, tgt[:1]),
        lambda: whole(src[..., :4], tgt),
        lambda: plain(tgt[0, 0], tgt, tgt),
        lambda: plain(tgt, tgt, tgt, key_padding_mask=T.zeros(2, 3, dtype=T.int64)),
        lambda: plain(tgt, tgt, tgt, is_causal=True),
        lambda: F.scaled_dot_product_attention(tgt, tgt, tgt, attn_mask=T.ones(3, 3), is_causal=True),
        lambda: nn.TransformerEncoderLayer(8, 2, activation="swish"),
        lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2), 1, mask_check=False, norm=None, x=1),
    ):
        try:
            say(wrong())
        except (RuntimeError, AssertionError, ValueError, TypeError) as error:
            say(type(error).__name__, error)


@program
def word_vectors(T, say):
    """Skip-grams with negative samples, GloVe, bags of words, an adaptive softmax."""
    nn, F = T.nn, T.nn.functional
    text = "we are what we repeatedly do excellence then is not an act but a habit we repeatedly do".split()
    vocab = sorted(set(text), key=lambda w: (-Counter(text)[w], w))
    index = {word: i for i, word in enumerate(vocab)}
    T.manual_seed(0)
    ids = T.tensor([index[w] for w in text])
    pairs = T.tensor(
        [(ids[i], ids[j]) for i in range(len(ids)) for j in range(max(0, i - 2), min(len(ids), i + 3)) if i != j]
    )
    say(vocab[:3], pairs.shape, pairs.dtype, pairs[:4])
    frequency = T.bincount(ids).float()
    noise = (frequency / frequency.sum()) ** 0.75
    center, context = (nn.Embedding(len(vocab), 4, sparse=True, max_norm=n) for n in (None, 1.0))
    for table in (center, context):
        nn.init.uniform_(table.weight, -0.5 / 4, 0.5 / 4)
    optimizer = T.optim.SparseAdam([*center.parameters(), *context.parameters()], lr=0.05)
    for start in range(0, 24, 8):
        u, v = pairs[start : start + 8].unbind(1)
        negative = T.multinomial(noise, 8 * 3, replacement=True).view(8, 3)
        positive = F.logsigmoid((center(u) * context(v)).sum(1))
        sampled = F.logsigmoid(-T.bmm(context(negative), center(u).unsqueeze(2)).squeeze(2)).sum(1)
        loss = -(positive + sampled).mean()
        optimizer.zero_grad()
        loss.backward()
        say(loss, center.weight.grad.is_sparse, center.weight.grad.coalesce().indices())
        optimizer.step()
    say(center.weight.grad.coalesce())
    vectors = F.normalize(center.weight.detach())
    similar = T.mm(vectors, vectors.t()).fill_diagonal_(-1).topk(2)
    say(similar, [vocab[i] for i in similar.indices[:, 0]])
    counts = T.zeros(len(vocab), len(vocab)).index_put_(tuple(pairs.t()), T.ones(len(pairs)), accumulate=True)
    weight = (counts / 2).clamp(max=1) ** 0.75
    bias = nn.Embedding.from_pretrained(T.zeros(len(vocab), 1), freeze=False)
    glove = weight * (center.weight @ context.weight.t() + bias.weight + bias.weight.t() - T.log1p(counts)) ** 2
    say(glove.sum(), bias, counts.nonzero().shape, counts.to_sparse().sum())
    offsets = T.tensor([0, 4, 4, 9])
    for mode in ("sum", "mean", "max"):
        bag = nn.EmbeddingBag(len(vocab), 3, mode=mode, padding_idx=0)
        say(bag, bag(ids[:12], offsets), bag(ids[:12].view(3, 4)).shape)
    weighted = nn.EmbeddingBag(len(vocab), 3, mode="sum", include_last_offset=True)
    say(weighted(ids[:9], offsets, per_sample_weights=T.linspace(0, 1, 9)))
    adaptive = nn.AdaptiveLogSoftmaxWithLoss(4, len(vocab), cutoffs=[3, 7], div_value=2.0)
    out = adaptive(center(ids[:5]), ids[1:6])
    say(adaptive, out, adaptive.predict(center(ids[:5])), adaptive.log_prob(center(ids[:2])).exp().sum(1))
    for wrong in (
        lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 5, [3, 9]),
        lambda: adaptive(center(ids[:5]), ids[:4]),
        lambda: weighted(ids[:9]),
        lambda: nn.EmbeddingBag(3, 2, mode="prod")(ids[:2], offsets[:1]),
        lambda: bag(ids.view(1, -1), offsets),
        lambda: F.one_hot(ids, 3),
        lambda: nn.Embedding.from_pretrained(T.zeros(3)),
        lambda: F.cross_entropy(T.zeros(2, 3), T.tensor([0, 3])),
        lambda: F.cross_entropy(T.zeros(2, 3), T.tensor([0])),
        lambda: F.nll_loss(T.zeros(2, 3), T.tensor([0.0, 1.0])),
    ):
        try:
            say(wrong())
        except (RuntimeError, ValueError, AssertionError, IndexError) as error:
            say(type(error).__name__, error)

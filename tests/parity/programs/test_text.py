"""Programs about text in the style of well-known ones: translation, masked words, tags."""

import copy
import math

from tests.parity.support.figures import figures

program, test_same_figures = figures()


@program
def annotated_transformer(T):
    """A transformer from scratch learns to copy, then decodes greedily and with a beam."""
    nn = T.nn
    T.manual_seed(0)

    def clones(m, N):
        return nn.ModuleList([copy.deepcopy(m) for _ in range(N)])

    def subsequent_mask(size):
        return T.triu(T.ones((1, size, size)), diagonal=1).type(T.uint8) == 0

    def attention(q, k, v, mask=None, dropout=None):
        s = T.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        if mask is not None:
            s = s.masked_fill(mask == 0, -1e9)
        p = s.softmax(dim=-1)
        if dropout is not None:
            p = dropout(p)
        return T.matmul(p, v), p

    class LayerNorm(nn.Module):
        def __init__(self, f, eps=1e-6):
            super().__init__()
            self.a_2, self.b_2, self.eps = nn.Parameter(T.ones(f)), nn.Parameter(T.zeros(f)), eps

        def forward(self, x):
            return self.a_2 * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + self.eps) + self.b_2

    class Sub(nn.Module):
        def __init__(self, size, p):
            super().__init__()
            self.norm, self.dropout = LayerNorm(size), nn.Dropout(p)

        def forward(self, x, f):
            return x + self.dropout(f(self.norm(x)))

    class MHA(nn.Module):
        def __init__(self, h, d):
            super().__init__()
            self.d_k, self.h, self.linears, self.attn, self.dropout = (
                d // h,
                h,
                clones(nn.Linear(d, d), 4),
                None,
                nn.Dropout(0.1),
            )

        def forward(self, q, k, v, mask=None):
            if mask is not None:
                mask = mask.unsqueeze(1)
            n = q.size(0)
            q, k, v = [l(x).view(n, -1, self.h, self.d_k).transpose(1, 2) for l, x in zip(self.linears, (q, k, v))]
            x, self.attn = attention(q, k, v, mask, self.dropout)
            return self.linears[-1](x.transpose(1, 2).contiguous().view(n, -1, self.h * self.d_k))

    class FF(nn.Module):
        def __init__(self, d, f):
            super().__init__()
            self.w_1, self.w_2, self.dropout = nn.Linear(d, f), nn.Linear(f, d), nn.Dropout(0.1)

        def forward(self, x):
            return self.w_2(self.dropout(self.w_1(x).relu()))

    class PE(nn.Module):
        def __init__(self, d, n=30):
            super().__init__()
            pe = T.zeros(n, d)
            pos = T.arange(0, n).unsqueeze(1)
            div = T.exp(T.arange(0, d, 2) * -(math.log(10000.0) / d))
            pe[:, 0::2] = T.sin(pos * div)
            pe[:, 1::2] = T.cos(pos * div)
            self.register_buffer("pe", pe.unsqueeze(0))

        def forward(self, x):
            return x + self.pe[:, : x.size(1)].requires_grad_(False)

    class Dec(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.size, self.self_attn, self.src_attn, self.ff, self.sub = (
                d,
                MHA(2, d),
                MHA(2, d),
                FF(d, 16),
                clones(Sub(d, 0.1), 3),
            )

        def forward(self, x, m, sm, tm):
            x = self.sub[0](x, lambda x: self.self_attn(x, x, x, tm))
            x = self.sub[1](x, lambda x: self.src_attn(x, m, m, sm))
            return self.sub[2](x, self.ff)

    class Enc(nn.Module):
        def __init__(self, d):
            super().__init__()
            self.self_attn, self.ff, self.sub = MHA(2, d), FF(d, 16), clones(Sub(d, 0.1), 2)

        def forward(self, x, m):
            x = self.sub[0](x, lambda x: self.self_attn(x, x, x, m))
            return self.sub[1](x, self.ff)

    class Model(nn.Module):
        def __init__(self, V=11, d=8):
            super().__init__()
            self.src, self.tgt = nn.Sequential(nn.Embedding(V, d), PE(d)), nn.Sequential(nn.Embedding(V, d), PE(d))
            self.enc, self.dec, self.gen, self.d = clones(Enc(d), 2), clones(Dec(d), 2), nn.Linear(d, V), d
            for p in self.parameters():
                if p.dim() > 1:
                    nn.init.xavier_uniform_(p)

        def encode(self, s, m):
            x = self.src(s) * math.sqrt(self.d)
            for l in self.enc:
                x = l(x, m)
            return x

        def decode(self, mem, sm, t, tm):
            x = self.tgt(t)
            for l in self.dec:
                x = l(x, mem, sm, tm)
            return T.log_softmax(self.gen(x), dim=-1)

    class LabelSmoothing(nn.Module):
        def __init__(self, size, pad, s=0.0):
            super().__init__()
            self.criterion, self.pad, self.conf, self.s, self.size, self.true = (
                nn.KLDivLoss(reduction="sum"),
                pad,
                1.0 - s,
                s,
                size,
                None,
            )

        def forward(self, x, t):
            td = x.data.clone()
            td.fill_(self.s / (self.size - 2))
            td.scatter_(1, t.data.unsqueeze(1), self.conf)
            td[:, self.pad] = 0
            m = T.nonzero(t.data == self.pad)
            if m.dim() > 0:
                td.index_fill_(0, m.squeeze(), 0.0)
            self.true = td
            return self.criterion(x, td.clone().detach())

    m = Model()
    crit = LabelSmoothing(11, 0, 0.1)
    opt = T.optim.Adam(m.parameters(), lr=0.5, betas=(0.9, 0.98), eps=1e-9)
    sch = T.optim.lr_scheduler.LambdaLR(
        optimizer=opt, lr_lambda=lambda s: 8 ** (-0.5) * min(max(s, 1) ** (-0.5), max(s, 1) * 4 ** (-1.5))
    )
    out = []
    for _ in range(4):
        data = T.randint(1, 11, size=(4, 6))
        data[:, 0] = 1
        data[0, 5] = 0
        src = data.requires_grad_(False).clone().detach()
        tgt = data.clone().detach()
        sm = (src != 0).unsqueeze(-2)
        ti, ty = tgt[:, :-1], tgt[:, 1:]
        tm = (ti != 0).unsqueeze(-2)
        tm = tm & subsequent_mask(ti.size(-1)).type_as(tm.data)
        o = m.decode(m.encode(src, sm), sm, ti, tm)
        nt = (ty != 0).data.sum()
        loss = crit(o.contiguous().view(-1, o.size(-1)), ty.contiguous().view(-1)) / nt
        loss.backward()
        opt.step()
        opt.zero_grad(set_to_none=True)
        sch.step()
        out += [loss.item(), nt.item(), opt.param_groups[0]["lr"]]
    m.eval()
    src = T.arange(1, 7).unsqueeze(0)
    sm = T.ones(1, 1, 6)
    mem = m.encode(src, sm)
    ys = T.zeros(1, 1).fill_(1).type_as(src.data)
    for _ in range(4):
        o = m.decode(mem, sm, ys, subsequent_mask(ys.size(1)).type_as(src.data))
        _, nw = T.max(o[:, -1], dim=1)
        ys = T.cat([ys, T.zeros(1, 1).type_as(src.data).fill_(nw.data[0])], dim=1)
    # beam search
    beams = [(T.ones(1, 1, dtype=T.long), 0.0)]
    for _ in range(3):
        cand = []
        for seq, sc in beams:
            lp, ix = m.decode(mem, sm, seq, subsequent_mask(seq.size(1)))[:, -1].topk(3)
            for l, i in zip(lp[0], ix[0]):
                cand.append((T.cat([seq, i.view(1, 1)], 1), sc + l.item()))
        beams = sorted(cand, key=lambda c: c[1] / len(c[0][0]) ** 0.7, reverse=True)[:3]
    return out + ys.tolist() + [b[0].tolist() for b in beams] + [b[1] for b in beams]


@program
def bert_masked_lm(T):
    """Masked words and next sentences, with the library's encoder."""
    nn, F = T.nn, T.nn.functional
    T.manual_seed(0)

    class Embeddings(nn.Module):
        def __init__(self, vocab, dim, length):
            super().__init__()
            self.word_embeddings = nn.Embedding(vocab, dim, padding_idx=0)
            self.position_embeddings = nn.Embedding(length, dim)
            self.token_type_embeddings = nn.Embedding(2, dim)
            self.LayerNorm = nn.LayerNorm(dim, eps=1e-12)
            self.dropout = nn.Dropout(0.1)
            self.register_buffer("position_ids", T.arange(length).expand((1, -1)), persistent=False)

        def forward(self, ids, segments=None):
            if segments is None:
                segments = T.zeros_like(ids)
            n = ids.size(1)
            e = self.word_embeddings(ids) + self.token_type_embeddings(segments)
            e += self.position_embeddings(self.position_ids[:, :n])
            return self.dropout(self.LayerNorm(e))

    class Bert(nn.Module):
        def __init__(self, vocab=20, dim=16, length=10):
            super().__init__()
            self.embeddings = Embeddings(vocab, dim, length)
            layer = nn.TransformerEncoderLayer(
                dim, 2, 32, dropout=0.1, activation="gelu", batch_first=True, norm_first=False
            )
            self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
            self.pooler = nn.Sequential(nn.Linear(dim, dim), nn.Tanh())
            self.transform = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.LayerNorm(dim))
            self.decoder = nn.Linear(dim, vocab, bias=False)
            self.decoder.weight = self.embeddings.word_embeddings.weight
            self.bias = nn.Parameter(T.zeros(vocab))
            self.nsp = nn.Linear(dim, 2)
            self.apply(self._init)

        def _init(self, m):
            if isinstance(m, (nn.Linear, nn.Embedding)):
                m.weight.data.normal_(mean=0.0, std=0.02)
                if isinstance(m, nn.Embedding) and m.padding_idx is not None:
                    m.weight.data[m.padding_idx].zero_()
            elif isinstance(m, nn.LayerNorm):
                m.bias.data.zero_()
                m.weight.data.fill_(1.0)
            if isinstance(m, nn.Linear) and m.bias is not None:
                m.bias.data.zero_()

        def forward(self, ids, segments):
            h = self.encoder(self.embeddings(ids, segments), src_key_padding_mask=ids.eq(0))
            return self.decoder(self.transform(h)) + self.bias, self.nsp(self.pooler(h[:, 0]))

    model = Bert()
    named = list(model.named_parameters())
    no_decay = ["bias", "LayerNorm.weight"]
    groups = [
        {"params": [p for n, p in named if not any(nd in n for nd in no_decay)], "weight_decay": 0.01},
        {"params": [p for n, p in named if any(nd in n for nd in no_decay)], "weight_decay": 0.0},
    ]
    opt = T.optim.AdamW(groups, lr=5e-3, eps=1e-8)
    sched = T.optim.lr_scheduler.LambdaLR(opt, lambda s: float(s + 1) / 3 if s < 2 else max(0.0, (6 - s) / 4))
    ids = T.randint(5, 20, (4, 10))
    ids[1:3, 7:] = 0
    seg = (T.arange(10) > 4).long().expand(4, -1)
    out = []
    for _ in range(4):
        labels, inputs = ids.clone(), ids.clone()
        prob = T.full(labels.shape, 0.3)
        prob.masked_fill_(labels.eq(0), value=0.0)
        masked = T.bernoulli(prob).bool()
        labels[~masked] = -100
        rep = T.bernoulli(T.full(labels.shape, 0.8)).bool() & masked
        inputs[rep] = 3
        rnd = T.bernoulli(T.full(labels.shape, 0.5)).bool() & masked & ~rep
        words = T.randint(20, labels.shape, dtype=T.long)
        inputs[rnd] = words[rnd]
        scores, nsp = model(inputs, seg)
        loss = nn.CrossEntropyLoss()(scores.view(-1, 20), labels.view(-1)) + F.cross_entropy(
            nsp, T.tensor([0, 1, 1, 0])
        )
        loss.backward()
        gn = T.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        model.zero_grad()
        out += [loss.item(), gn.item(), sched.get_last_lr()]
    model.eval()
    with T.no_grad():
        s, _ = model(ids, seg)
        out += [s[:, 2].topk(3).indices.tolist(), s.mean().item()]
    return out


@program
def crf_tagger(T):
    """A recurrent network with a conditional random field, and Viterbi's algorithm."""
    nn, optim = T.nn, T.optim
    T.manual_seed(1)

    def argmax(vec):
        _, idx = T.max(vec, 1)
        return idx.item()

    def log_sum_exp(vec):
        m = vec[0, argmax(vec)]
        return m + T.log(T.sum(T.exp(vec - m.view(1, -1).expand(1, vec.size()[1]))))

    START, STOP = "<START>", "<STOP>"

    class BiLSTM_CRF(nn.Module):
        def __init__(self, vocab_size, tag_to_ix, e, h):
            super().__init__()
            self.h, self.tag_to_ix, self.n = h, tag_to_ix, len(tag_to_ix)
            self.word_embeds = nn.Embedding(vocab_size, e)
            self.lstm = nn.LSTM(e, h // 2, num_layers=1, bidirectional=True)
            self.hidden2tag = nn.Linear(h, self.n)
            self.transitions = nn.Parameter(T.randn(self.n, self.n))
            self.transitions.data[tag_to_ix[START], :] = -10000
            self.transitions.data[:, tag_to_ix[STOP]] = -10000

        def init_hidden(self):
            return (T.randn(2, 1, self.h // 2), T.randn(2, 1, self.h // 2))

        def _forward_alg(self, feats):
            init = T.full((1, self.n), -10000.0)
            init[0][self.tag_to_ix[START]] = 0.0
            fv = init
            for feat in feats:
                al = []
                for nt in range(self.n):
                    es = feat[nt].view(1, -1).expand(1, self.n)
                    al.append(log_sum_exp(fv + self.transitions[nt].view(1, -1) + es).view(1))
                fv = T.cat(al).view(1, -1)
            return log_sum_exp(fv + self.transitions[self.tag_to_ix[STOP]])

        def feats(self, s):
            o, _ = self.lstm(self.word_embeds(s).view(len(s), 1, -1), self.init_hidden())
            return self.hidden2tag(o.view(len(s), self.h))

        def score(self, feats, tags):
            score = T.zeros(1)
            tags = T.cat([T.tensor([self.tag_to_ix[START]], dtype=T.long), tags])
            for i, feat in enumerate(feats):
                score = score + self.transitions[tags[i + 1], tags[i]] + feat[tags[i + 1]]
            return score + self.transitions[self.tag_to_ix[STOP], tags[-1]]

        def viterbi(self, feats):
            bps = []
            fv = T.full((1, self.n), -10000.0)
            fv[0][self.tag_to_ix[START]] = 0
            for feat in feats:
                b, v = [], []
                for nt in range(self.n):
                    ntv = fv + self.transitions[nt]
                    best = argmax(ntv)
                    b.append(best)
                    v.append(ntv[0][best].view(1))
                fv = (T.cat(v) + feat).view(1, -1)
                bps.append(b)
            tv = fv + self.transitions[self.tag_to_ix[STOP]]
            best = argmax(tv)
            path = [best]
            for b in reversed(bps):
                best = b[best]
                path.append(best)
            path.pop()
            path.reverse()
            return tv[0][argmax(tv)], path

    tags = {"B": 0, "I": 1, "O": 2, START: 3, STOP: 4}
    m = BiLSTM_CRF(6, tags, 5, 4)
    s, t = T.tensor([0, 1, 2, 3, 4], dtype=T.long), T.tensor([0, 1, 2, 2, 0], dtype=T.long)
    opt = optim.SGD(m.parameters(), lr=0.01, weight_decay=1e-4)
    out = []
    for _ in range(4):
        m.zero_grad()
        f = m.feats(s)
        loss = m._forward_alg(f) - m.score(f, t)
        loss.backward()
        opt.step()
        out.append(loss.item())
    with T.no_grad():
        sc, p = m.viterbi(m.feats(s))
    return out + [sc.item(), p]

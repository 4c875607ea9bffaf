"""What is done with the scores of a sequence: searches, samples, tags."""

from collections import namedtuple

import numpy as np

from tests.parity.support.printed import printing_programs

program, test_same_text = printing_programs()


@program
def searches(T, say):
    """Greedy, beams with length penalty, top-k and nucleus sampling, repetition penalties, stopping, speculative."""
    F = T.nn.functional
    T.manual_seed(0)
    V, END = 7, 0
    table = T.randn(V, V).mul(1.5).log_softmax(-1)
    Hypothesis = namedtuple("Hypothesis", ["tokens", "score"])

    def model(ids):
        return table[ids[..., -1]]

    beams, done = [Hypothesis([3], 0.0)], []
    for _ in range(5):
        logp = model(T.tensor([b.tokens for b in beams])) + T.tensor([b.score for b in beams]).unsqueeze(1)
        scores, flat = logp.view(-1).topk(3)
        rows, tokens = T.div(flat, V, rounding_mode="floor"), flat % V
        grown = [
            Hypothesis(beams[r].tokens + [t], s) for r, t, s in zip(rows.tolist(), tokens.tolist(), scores.tolist())
        ]
        done += [h for h in grown if h.tokens[-1] == END]
        beams = [h for h in grown if h.tokens[-1] != END] or beams
    best = max(done + beams, key=lambda h: h.score / ((5 + len(h.tokens)) / 6) ** 0.6)
    say(best, len(done))
    ids, finished = T.tensor([[3], [1], [5]]), T.zeros(3, dtype=T.bool)
    while ids.shape[1] < 8 and not finished.all():
        logits = model(ids).clone()
        score = T.gather(logits, 1, ids)
        logits.scatter_(1, ids, T.where(score < 0, score * 1.2, score / 1.2))
        logits[:, 2] = -float("inf")
        threshold = logits.topk(5)[0][..., -1, None]
        logits = logits.masked_fill(logits < threshold, -T.inf)
        sorted_logits, order = T.sort(logits, descending=True)
        remove = sorted_logits.softmax(-1).cumsum(-1) > 0.9
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = 0
        logits[remove.scatter(1, order, remove)] = T.finfo(logits.dtype).min
        step = T.multinomial(F.softmax(logits / 0.7, dim=-1), num_samples=1).squeeze(1)
        step = step * ~finished + END * finished
        finished |= step == END
        ids = T.cat([ids, step[:, None]], dim=-1)
    say(ids, finished)
    lengths = (ids != END).sum(1)
    positions = T.arange(ids.size(1)).expand_as(ids)
    mask = positions < lengths[:, None]
    perplexity = (-(table[ids[:, :-1], ids[:, 1:]] * mask[:, 1:]).sum() / mask[:, 1:].sum()).exp()
    say(lengths, mask.int(), perplexity, (mask.cumsum(1) - 1).masked_fill(~mask, 1))
    draft, target = T.rand(4, V).softmax(-1), T.rand(4, V).softmax(-1)
    guesses = T.multinomial(draft, 1)
    ratio = (target.gather(1, guesses) / draft.gather(1, guesses)).clamp(max=1).squeeze()
    accepted = (T.rand(4) < ratio).cumprod(0).sum()
    residual = (target - draft).clamp(min=0)
    residual /= residual.sum(-1, keepdim=True)
    say(ratio, accepted, residual[min(int(accepted), 3)].argmax(), residual.sum(-1))
    ngrams = {}
    for gram in zip(*[ids[0].tolist()[i:] for i in range(2)]):
        ngrams.setdefault(gram[:-1], []).append(gram[-1])
    say(ngrams, T.unique(ids, return_counts=True), ids.mode(1), T.isin(ids, T.tensor([END, 3])).any(0))
    trellis, emission = T.full((6, 4), -T.inf), T.randn(5, V).log_softmax(-1)
    tokens = [1, 4, 2]
    trellis[:, 0] = T.cat([T.zeros(1), emission[:, END].cumsum(0)])
    for t in range(5):
        trellis[t + 1, 1:] = T.maximum(trellis[t, 1:] + emission[t, END], trellis[t, :-1] + emission[t, tokens])
    ctc = F.ctc_loss(
        emission.unsqueeze(1), T.tensor([tokens]), (5,), (3,), blank=END, reduction="sum", zero_infinity=True
    )
    say(trellis, ctc, emission.argmax(-1).unique_consecutive(), np.exp(trellis[-1].numpy()).round(4))


@program
def tagging(T, say):
    """A BiLSTM with a CRF as the advanced tutorial has it, and a vectorized one with Viterbi; they agree."""
    nn = T.nn
    START, STOP = "<START>", "<STOP>"
    tags = {"B": 0, "I": 1, "O": 2, START: 3, STOP: 4}

    def argmax(vec):
        _, idx = T.max(vec, 1)
        return idx.item()

    def log_sum_exp(vec):
        max_score = vec[0, argmax(vec)]
        broadcast = max_score.view(1, -1).expand(1, vec.size()[1])
        return max_score + T.log(T.sum(T.exp(vec - broadcast)))

    class BiLSTM_CRF(nn.Module):
        def __init__(self, vocab, emb, hid):
            super().__init__()
            self.hidden_dim = hid
            self.word_embeds = nn.Embedding(vocab, emb)
            self.lstm = nn.LSTM(emb, hid // 2, num_layers=1, bidirectional=True)
            self.hidden2tag = nn.Linear(hid, len(tags))
            self.transitions = nn.Parameter(T.randn(len(tags), len(tags)))
            self.transitions.data[tags[START], :] = -10000
            self.transitions.data[:, tags[STOP]] = -10000

        def features(self, sentence):
            hidden = (T.randn(2, 1, self.hidden_dim // 2), T.randn(2, 1, self.hidden_dim // 2))
            out, _ = self.lstm(self.word_embeds(sentence).view(len(sentence), 1, -1), hidden)
            return self.hidden2tag(out.view(len(sentence), self.hidden_dim))

        def slow(self, feats):
            forward_var = T.full((1, len(tags)), -10000.0)
            forward_var[0][tags[START]] = 0.0
            for feat in feats:
                alphas = []
                for tag in range(len(tags)):
                    emit = feat[tag].view(1, -1).expand(1, len(tags))
                    alphas.append(log_sum_exp(forward_var + self.transitions[tag].view(1, -1) + emit).view(1))
                forward_var = T.cat(alphas).view(1, -1)
            return log_sum_exp(forward_var + self.transitions[tags[STOP]])

        def fast(self, feats):
            alpha = T.full((len(tags),), -10000.0).index_fill(0, T.tensor(tags[START]), 0.0)
            for feat in feats:
                alpha = T.logsumexp(alpha + self.transitions, dim=1) + feat
            return T.logsumexp(alpha + self.transitions[tags[STOP]], dim=0)

        def score(self, feats, labels):
            path = T.cat([T.tensor([tags[START]], dtype=T.long), labels])
            steps = self.transitions[path[1:], path[:-1]].sum() + feats.gather(1, labels[:, None]).sum()
            return steps + self.transitions[tags[STOP], path[-1]]

        def viterbi(self, feats):
            best, pointers = T.full((len(tags),), -10000.0).scatter(0, T.tensor([tags[START]]), 0.0), []
            for feat in feats:
                best, pointer = (best + self.transitions).max(dim=1)
                best = best + feat
                pointers.append(pointer.tolist())
            best, last = (best + self.transitions[tags[STOP]]).max(0)
            path = [last.item()]
            for pointer in reversed(pointers):
                path.append(pointer[path[-1]])
            assert path.pop() == tags[START]
            return best, path[::-1]

    T.manual_seed(1)
    model = BiLSTM_CRF(6, 5, 4)
    say(model, [name for name, _ in model.lstm.named_parameters()], model.lstm.all_weights[0][0].shape)
    optimizer = T.optim.SGD(model.parameters(), lr=0.01, weight_decay=1e-4)
    sentence, labels = T.tensor([0, 1, 2, 3, 4, 5]), T.tensor([0, 1, 1, 2, 2, 0], dtype=T.long)
    with T.no_grad():
        say(model.viterbi(model.features(sentence)))
    for _ in range(3):
        model.zero_grad()
        feats = model.features(sentence)
        slow, fast = model.slow(feats), model.fast(feats)
        loss = slow - model.score(feats, labels)
        loss.backward()
        optimizer.step()
        say(loss, T.isclose(slow, fast), model.transitions.grad[:3, :3])
    say(model.lstm.flatten_parameters(), model.lstm)
    say(
        nn.LSTM(3, 4, 2, batch_first=True, proj_size=2, bias=False),
        nn.RNNCell(2, 3, nonlinearity="relu"),
        nn.LSTMCell(2, 3, bias=False),
    )

"""Agents that learn values and policies in the style of well-known repositories."""

import collections
import random

import numpy as np

from tests.parity.support.figures import figures

program, test_same_figures = figures()


@program
def value_agents(T):
    """Learning from memory, clipped policies with advantages, and distributions of returns."""
    nn, F = T.nn, T.nn.functional
    D = T.distributions
    T.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    out = []
    Transition = collections.namedtuple("Transition", ("state", "action", "next_state", "reward"))

    class ReplayMemory:
        def __init__(self, c):
            self.memory = collections.deque([], maxlen=c)

        def push(self, *a):
            self.memory.append(Transition(*a))

        def sample(self, n):
            return random.sample(self.memory, n)

        def __len__(self):
            return len(self.memory)

    class DQN(nn.Module):
        def __init__(self, n, a):
            super().__init__()
            self.l1, self.val, self.adv = nn.Linear(n, 12), nn.Linear(12, 1), nn.Linear(12, a)

        def forward(self, x):
            x = F.relu(self.l1(x))
            a = self.adv(x)
            return self.val(x) + a - a.mean(dim=-1, keepdim=True)

    policy, target = DQN(3, 2), DQN(3, 2)
    target.load_state_dict(policy.state_dict())
    opt = T.optim.AdamW(policy.parameters(), lr=1e-2, amsgrad=True)
    mem = ReplayMemory(50)
    state = T.tensor([0.1, 0.2, 0.3], dtype=T.float32).unsqueeze(0)
    for step in range(24):
        if random.random() > 0.5:
            with T.no_grad():
                a = policy(state).max(1).indices.view(1, 1)
        else:
            a = T.tensor([[random.randrange(2)]], dtype=T.long)
        obs = state.squeeze().numpy() * 0.9 + (0.1 if a.item() else -0.1)
        r = T.tensor([float(obs.sum())])
        done = step % 6 == 5
        nxt = None if done else T.tensor(obs, dtype=T.float32).unsqueeze(0)
        mem.push(state, a, nxt, r)
        state = nxt if nxt is not None else T.rand(1, 3)
        if len(mem) >= 8:
            b = Transition(*zip(*mem.sample(8)))
            mask = T.tensor(tuple(map(lambda s: s is not None, b.next_state)), dtype=T.bool)
            nn_ = T.cat([s for s in b.next_state if s is not None])
            sb, ab, rb = T.cat(b.state), T.cat(b.action), T.cat(b.reward)
            q = policy(sb).gather(1, ab)
            nv = T.zeros(8)
            with T.no_grad():
                nv[mask] = target(nn_).max(1).values
            loss = nn.SmoothL1Loss()(q, (nv * 0.99 + rb).unsqueeze(1))
            opt.zero_grad()
            loss.backward()
            T.nn.utils.clip_grad_value_(policy.parameters(), 100)
            opt.step()
            sd, ps = target.state_dict(), policy.state_dict()
            for k in ps:
                sd[k] = ps[k] * 0.005 + sd[k] * 0.995
            target.load_state_dict(sd)
    out.append(loss.item())

    def layer_init(layer, std=2**0.5, bias_const=0.0):
        T.nn.init.orthogonal_(layer.weight, std)
        T.nn.init.constant_(layer.bias, bias_const)
        return layer

    class Agent(nn.Module):
        def __init__(self):
            super().__init__()
            self.critic = nn.Sequential(layer_init(nn.Linear(3, 8)), nn.Tanh(), layer_init(nn.Linear(8, 1), std=1.0))
            self.actor_mean = nn.Sequential(
                layer_init(nn.Linear(3, 8)), nn.Tanh(), layer_init(nn.Linear(8, 2), std=0.01)
            )
            self.actor_logstd = nn.Parameter(T.zeros(1, int(np.prod((2,)))))

        def get(self, x, action=None):
            m = self.actor_mean(x)
            s = T.exp(self.actor_logstd.expand_as(m))
            p = D.Normal(m, s)
            if action is None:
                action = p.sample()
            return action, p.log_prob(action).sum(1), p.entropy().sum(1), self.critic(x)

    ag = Agent()
    opt = T.optim.Adam(ag.parameters(), lr=3e-3, eps=1e-5)
    n, k = 6, 2
    obs = T.zeros((n, k, 3))
    acts = T.zeros((n, k) + (2,))
    lps, rews, dones, vals = (T.zeros((n, k)) for _ in range(4))
    nxt, nd = T.Tensor(np.random.randn(k, 3)), T.zeros(k)
    for it in range(2):
        frac = 1.0 - it / 2
        opt.param_groups[0]["lr"] = frac * 3e-3
        for s in range(n):
            obs[s], dones[s] = nxt, nd
            with T.no_grad():
                a, lp, _, v = ag.get(nxt)
                vals[s] = v.flatten()
            acts[s], lps[s] = a, lp
            nxt = T.Tensor(np.tanh(nxt.cpu().numpy() + a.cpu().numpy().mean()))
            rews[s] = T.tensor(-np.abs(nxt.numpy()).sum(1)).view(-1)
            nd = T.Tensor([float(s == 3), 0.0])
        with T.no_grad():
            nv = ag.critic(nxt).reshape(1, -1)
            adv = T.zeros_like(rews)
            last = 0
            for t in reversed(range(n)):
                nonterm, nvs = (1.0 - nd, nv) if t == n - 1 else (1.0 - dones[t + 1], vals[t + 1])
                delta = rews[t] + 0.99 * nvs * nonterm - vals[t]
                adv[t] = last = delta + 0.99 * 0.95 * nonterm * last
            ret = adv + vals
        bo, blp, ba, badv, bret, bv = (
            obs.reshape(-1, 3),
            lps.reshape(-1),
            acts.reshape((-1, 2)),
            adv.reshape(-1),
            ret.reshape(-1),
            vals.reshape(-1),
        )
        inds = np.arange(n * k)
        for _ in range(2):
            np.random.shuffle(inds)
            for st in range(0, n * k, 6):
                mb = inds[st : st + 6]
                _, nlp, ent, nval = ag.get(bo[mb], ba[mb])
                lr_ = nlp - blp[mb]
                ratio = lr_.exp()
                with T.no_grad():
                    kl = ((ratio - 1) - lr_).mean()
                    cf = ((ratio - 1.0).abs() > 0.2).float().mean().item()
                ma = badv[mb]
                ma = (ma - ma.mean()) / (ma.std() + 1e-8)
                pg = T.max(-ma * ratio, -ma * T.clamp(ratio, 1 - 0.2, 1 + 0.2)).mean()
                nval = nval.view(-1)
                vc = bv[mb] + T.clamp(nval - bv[mb], -0.2, 0.2)
                vl = 0.5 * T.max((nval - bret[mb]) ** 2, (vc - bret[mb]) ** 2).mean()
                loss = pg - 0.01 * ent.mean() + vl * 0.5
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(ag.parameters(), 0.5)
                opt.step()
        yp, yt = bv.cpu().numpy(), bret.cpu().numpy()
        out += [loss.item(), kl.item(), cf, float(1 - np.var(yt - yp) / np.var(yt))]
    pol = D.Independent(D.Normal(T.zeros(3, 2), 1.0), 1)
    c = D.Categorical(logits=T.randn(4, 3))
    m = D.MixtureSameFamily(c, D.Normal(T.randn(4, 3), T.rand(4, 3)))
    out += [
        m.log_prob(T.zeros(4)).tolist(),
        D.kl.kl_divergence(pol, D.Independent(D.Normal(T.ones(3, 2), 2.0), 1)).tolist(),
        str(c),
        str(pol),
    ]
    support = T.linspace(-1, 1, 5)
    p = T.softmax(T.randn(3, 5), 1)
    tz = (T.randn(3, 1) + 0.9 * support).clamp(-1, 1)
    b = (tz + 1) / 0.5
    l, u = b.floor().long(), b.ceil().long()
    l[(u > 0) * (l == u)] -= 1
    u[(l < 4) * (l == u)] += 1
    mm = T.zeros(3, 5)
    off = T.linspace(0, 2 * 5, 3).long().unsqueeze(1).expand(3, 5)
    mm.view(-1).index_add_(0, (l + off).view(-1), (p * (u.float() - b)).view(-1))
    mm.view(-1).index_add_(0, (u + off).view(-1), (p * (b - l.float())).view(-1))
    tau = T.rand(3, 4)
    td = T.randn(3, 4, 4)
    hub = T.where(td.abs() <= 1, 0.5 * td.pow(2), td.abs() - 0.5)
    qr = (T.abs(tau[..., None] - (td.detach() < 0).float()) * hub).sum(1).mean()
    return out + [mm.tolist(), qr.item()]

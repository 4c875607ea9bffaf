"""Programs of the kinds that people train, a few steps each: both libraries print the same losses."""

import math

import pytest
import torch

import mindtorch

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")  # torch cannot do that faster
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_figures(name):
    assert PROGRAMS[name](mindtorch) == pytest.approx(PROGRAMS[name](torch), rel=1e-4, abs=1e-5)


# -------------------- pictures --------------------


@program
def dcgan(T):
    """A generator and a discriminator of convolutions, with initial values of their own."""
    nn = T.nn

    def weights_init(module):
        name = type(module).__name__
        if name.find("Conv") != -1:
            nn.init.normal_(module.weight.data, 0.0, 0.02)
        elif name.find("BatchNorm") != -1:
            nn.init.normal_(module.weight.data, 1.0, 0.02)
            nn.init.constant_(module.bias.data, 0)

    def up(inner, outer, *geometry):
        layers = [nn.ConvTranspose2d(inner, outer, *geometry, bias=False), nn.BatchNorm2d(outer), nn.ReLU(True)]
        return layers

    def down(inner, outer):
        return [nn.Conv2d(inner, outer, 4, 2, 1, bias=False), nn.BatchNorm2d(outer), nn.LeakyReLU(0.2, inplace=True)]

    T.manual_seed(999)
    make = nn.Sequential(
        *up(10, 8, 4, 1, 0), *up(8, 4, 4, 2, 1), nn.ConvTranspose2d(4, 3, 4, 2, 1, bias=False), nn.Tanh()
    )
    judge = nn.Sequential(
        nn.Conv2d(3, 4, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True), *down(4, 8),
        nn.Conv2d(8, 1, 4, 1, 0, bias=False), nn.Sigmoid(),
    )  # fmt: skip
    make.apply(weights_init)
    judge.apply(weights_init)
    criterion, figures = nn.BCELoss(), []
    optimizers = [T.optim.Adam(net.parameters(), lr=2e-3, betas=(0.5, 0.999)) for net in (judge, make)]
    for _ in range(3):
        real, noise = T.rand(6, 3, 16, 16) * 2 - 1, T.randn(6, 10, 1, 1)
        label = T.full((6,), 1.0, dtype=T.float)
        judge.zero_grad()
        loss_real = criterion(judge(real).view(-1), label)
        loss_real.backward()
        fake = make(noise)
        label.fill_(0.0)
        loss_fake = criterion(judge(fake.detach()).view(-1), label)
        loss_fake.backward()
        optimizers[0].step()
        make.zero_grad()
        label.fill_(1.0)
        loss = criterion(judge(fake).view(-1), label)
        loss.backward()
        optimizers[1].step()
        figures += [loss_real.item() + loss_fake.item(), loss.item(), fake.mean().item()]
    return figures


@program
def residual_network_with_loader_and_schedule(T):
    """Images from a dataset with a transform, label smoothing, warm-up, and an average of the weights."""
    nn, F, data = T.nn, T.nn.functional, T.utils.data

    class Shapes(data.Dataset):
        def __init__(self, count):
            self.images = T.rand(count, 1, 12, 12)
            self.labels = (self.images.mean((1, 2, 3)) > 0.5).long()

        def __len__(self):
            return len(self.labels)

        def __getitem__(self, index):
            image = self.images[index]
            if T.rand(1).item() < 0.5:
                image = image.flip(-1)
            return (image - 0.5) / 0.29, self.labels[index].item()

    class Residual(nn.Module):
        def __init__(self, inner, outer, stride=1):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer)
            self.conv2, self.bn2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer)
            self.downsample = None
            if stride != 1 or inner != outer:
                self.downsample = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

        def forward(self, x):
            identity = x if self.downsample is None else self.downsample(x)
            return F.relu(self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x))))) + identity)

    T.manual_seed(0)
    model = nn.Sequential(
        nn.LazyConv2d(4, 3, padding=1, bias=False), nn.LazyBatchNorm2d(), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        Residual(4, 4), Residual(4, 8, 2), nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Dropout(0.2), nn.LazyLinear(2)
    )  # fmt: skip
    train, test = data.random_split(Shapes(40), [0.8, 0.2])
    loaders = data.DataLoader(train, 8, shuffle=True, num_workers=2, drop_last=True), data.DataLoader(test, 8)
    model(T.zeros(2, 1, 12, 12))
    optimizer = T.optim.SGD(model.parameters(), 0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedules = T.optim.lr_scheduler
    schedule = schedules.SequentialLR(
        optimizer,
        [schedules.LinearLR(optimizer, 0.1, total_iters=2), schedules.CosineAnnealingLR(optimizer, 3)],
        milestones=[2],
    )
    average = T.optim.swa_utils.AveragedModel(model, multi_avg_fn=T.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    figures = []
    for _ in range(4):
        model.train()
        for images, labels in loaders[0]:
            optimizer.zero_grad(set_to_none=True)
            loss = F.cross_entropy(model(images), labels, label_smoothing=0.1)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            average.update_parameters(model)
        schedule.step()
        model.eval()
        with T.inference_mode():
            right = sum((model(images).argmax(1) == labels).sum().item() for images, labels in loaders[1])
        figures += [loss.item(), right, schedule.get_last_lr()[0]]
    T.optim.swa_utils.update_bn(loaders[1], average)
    return [*figures, sum(parameter.sum().item() for parameter in average.parameters())]


@program
def style_transfer_by_lbfgs(T):
    """An image whose features resemble those of two others, found by LBFGS."""
    nn, F = T.nn, T.nn.functional

    def gram(features):
        batch, channels, height, width = features.size()
        flat = features.view(batch * channels, height * width)
        return T.mm(flat, flat.t()).div(batch * channels * height * width)

    T.manual_seed(0)
    layers = nn.Conv2d(3, 6, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 8, 3, 1, 1)
    convolutions = nn.Sequential(*layers).double()
    for parameter in convolutions.parameters():
        parameter.requires_grad_(False)
    content, style = T.rand(2, 1, 3, 12, 12, dtype=T.float64)
    wanted_content, wanted_style = convolutions(content), gram(convolutions(style))
    image = content.clone().requires_grad_(True)
    optimizer = T.optim.LBFGS([image], max_iter=4, line_search_fn="strong_wolfe")
    figures = []

    def closure():
        with T.no_grad():
            image.clamp_(0, 1)
        optimizer.zero_grad()
        features = convolutions(image)
        loss = F.mse_loss(features, wanted_content) + 1e3 * F.mse_loss(gram(features), wanted_style)
        variation = (image[..., 1:] - image[..., :-1]).abs().mean()
        total = loss + 0.01 * variation
        total.backward()
        figures.append(total.item())
        return total

    for _ in range(3):
        optimizer.step(closure)
    return figures


# -------------------- random codes --------------------


@program
def variational_autoencoder(T):
    """Reparametrized normal codes, the divergence from the library."""
    nn, D = T.nn, T.distributions

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Sequential(nn.Linear(16, 12), nn.SiLU())
            self.loc, self.scale = nn.Linear(12, 3), nn.Linear(12, 3)
            self.decoder = nn.Sequential(nn.Linear(3, 12), nn.SiLU(), nn.Linear(12, 16))

        def forward(self, x):
            hidden = self.encoder(x)
            posterior = D.Independent(D.Normal(self.loc(hidden), nn.functional.softplus(self.scale(hidden))), 1)
            code = posterior.rsample()
            likelihood = D.Independent(D.Bernoulli(logits=self.decoder(code)), 1)
            prior = D.Independent(D.Normal(T.zeros(3), T.ones(3)).expand(code.shape), 1)
            return likelihood.log_prob(x) - D.kl_divergence(posterior, prior)

    T.manual_seed(1)
    model, x = VAE(), (T.rand(20, 16) > 0.5).float()
    optimizer = T.optim.AdamW(model.parameters(), lr=5e-3, amsgrad=True)
    figures = []
    for _ in range(6):
        loss = -model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        figures.append(loss.item())
    return figures


@program
def gumbel_softmax_autoencoder(T):
    """Discrete codes through which gradients pass, at a falling temperature."""
    nn, D = T.nn, T.distributions
    T.manual_seed(2)
    encoder, decoder = nn.Linear(10, 12), nn.Linear(12, 10)
    x = T.rand(8, 10)
    optimizer = T.optim.RMSprop([*encoder.parameters(), *decoder.parameters()], lr=1e-2, centered=True, momentum=0.5)
    figures = []
    for step in range(5):
        logits = encoder(x).view(8, 3, 4)
        temperature = T.tensor(max(0.5, math.exp(-0.1 * step)))
        code = D.RelaxedOneHotCategorical(temperature, logits=logits).rsample()
        hard = nn.functional.gumbel_softmax(logits, tau=1.0, hard=True)
        loss = nn.functional.mse_loss(decoder(code.flatten(1)), x) + 0.1 * (hard * logits).mean()
        uniform = D.OneHotCategorical(probs=T.full((8, 3, 4), 0.25))
        loss = loss + 0.01 * D.kl_divergence(D.OneHotCategorical(logits=logits), uniform).sum(-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        figures.append(loss.item())
    return figures


@program
def wasserstein_gan_with_gradient_penalty(T):
    """A critic whose slope is kept near 1: its gradient is differentiated again."""
    nn = T.nn
    T.manual_seed(0)
    critic = nn.Sequential(nn.Conv1d(2, 6, 3, padding=1), nn.LayerNorm([6, 5]), nn.LeakyReLU(0.2), nn.Flatten(),
                           nn.Linear(30, 1))  # fmt: skip
    make = nn.Sequential(nn.Linear(4, 10), nn.BatchNorm1d(10), nn.ELU(), nn.Linear(10, 10), nn.Unflatten(1, (2, 5)))
    optimizers = [T.optim.Adam(net.parameters(), lr=1e-2, betas=(0.0, 0.9)) for net in (critic, make)]
    figures = []
    for _ in range(4):
        real, fake = T.randn(6, 2, 5).cumsum(-1), make(T.randn(6, 4)).detach()
        share = T.rand(6, 1, 1)
        between = (share * real + (1 - share) * fake).requires_grad_(True)
        score = critic(between)
        slope = T.autograd.grad(score, between, T.ones_like(score), create_graph=True, retain_graph=True)[0]
        penalty = ((slope.flatten(1).norm(2, dim=1) - 1) ** 2).mean()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
        optimizers[0].zero_grad()
        loss.backward()
        optimizers[0].step()
        made = -critic(make(T.randn(6, 4))).mean()
        optimizers[1].zero_grad()
        made.backward()
        optimizers[1].step()
        figures += [loss.item(), penalty.item(), made.item()]
    return figures


@program
def normalizing_flow(T):
    """Triangular maps with exact densities and inverses, and couplings, over a normal base distribution."""
    nn, D = T.nn, T.distributions

    class Triangular(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.raw = nn.Parameter(T.randn(size, size) * 0.1)
            self.shift = nn.Parameter(T.zeros(size))

        def matrix(self):
            return self.raw.tril(-1) + T.diag_embed(self.raw.diagonal().exp())

        def forward(self, x):
            return x @ self.matrix().T + self.shift, self.raw.diagonal().sum().expand(len(x))

        def inverse(self, y):
            return T.linalg.solve_triangular(self.matrix(), (y - self.shift).T, upper=False).T

    class Coupling(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(size // 2, 8), nn.Tanh(), nn.Linear(8, size))

        def forward(self, x):
            kept, changed = x.chunk(2, dim=-1)
            scale, shift = self.net(kept).chunk(2, dim=-1)
            scale = scale.tanh()
            return T.cat([changed * scale.exp() + shift, kept], dim=-1), scale.sum(-1)

    T.manual_seed(0)
    layers = nn.ModuleList([Triangular(4), Coupling(4), Triangular(4), Coupling(4)])
    base = D.MultivariateNormal(T.zeros(4), T.eye(4))
    x = T.randn(32, 4) @ T.randn(4, 4) + 1
    optimizer = T.optim.NAdam(layers.parameters(), lr=2e-2)
    figures = []
    for _ in range(5):
        y, volume = x, 0
        for layer in layers:
            y, change = layer(y)
            volume = volume + change
        loss = -(base.log_prob(y) + volume).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        figures.append(loss.item())
    with T.no_grad():
        back = layers[0].inverse(layers[0](x)[0])
    planar = D.TransformedDistribution(base, [D.AffineTransform(0.5, 2.0), D.TanhTransform(cache_size=1)])
    return [*figures, (back - x).abs().max().item(), planar.log_prob(planar.sample((3,))).sum().item()]


# -------------------- sequences --------------------


@program
def character_lstm_with_packed_sequences(T):
    """Names of different lengths, packed; the language model is sampled from afterwards."""
    nn, rnn = T.nn, T.nn.utils.rnn
    names = ["anna", "bo", "christopher", "dora", "emil"]
    letters = {letter: number + 1 for number, letter in enumerate(sorted(set("".join(names)) | {"."}))}

    class CharRNN(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.embed = nn.Embedding(size, 6, padding_idx=0)
            self.lstm = nn.LSTM(6, 10, num_layers=2, dropout=0.1, batch_first=True)
            self.head = nn.Linear(10, size)

        def forward(self, tokens, lengths, state=None):
            packed = rnn.pack_padded_sequence(self.embed(tokens), lengths, batch_first=True, enforce_sorted=False)
            output, state = self.lstm(packed, state)
            padded, _ = rnn.pad_packed_sequence(output, batch_first=True)
            return self.head(padded), state

    T.manual_seed(0)
    texts = [T.tensor([letters[letter] for letter in name + "."]) for name in names]
    lengths = T.tensor([len(text) - 1 for text in texts])
    inputs = rnn.pad_sequence([text[:-1] for text in texts], batch_first=True)
    targets = rnn.pad_sequence([text[1:] for text in texts], batch_first=True, padding_value=-100)
    model = CharRNN(len(letters) + 1)
    optimizer = T.optim.Adam(model.parameters(), lr=0.02)
    schedule = T.optim.lr_scheduler.ExponentialLR(optimizer, 0.95)
    figures = []
    for _ in range(5):
        scores, _ = model(inputs, lengths)
        loss = nn.functional.cross_entropy(scores.transpose(1, 2), targets)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()
        schedule.step()
        figures += [loss.item(), math.exp(loss.item())]
    model.eval()
    token, state, drawn = T.tensor([[1]]), None, []
    with T.no_grad():
        for _ in range(6):
            scores, state = model(token, [1], state)
            token = T.distributions.Categorical(logits=scores[:, -1] / 0.8).sample().unsqueeze(0)
            drawn.append(token.item())
    return [*figures, *drawn]


@program
def sequence_to_sequence_with_attention(T):
    """An encoder, a decoder that attends to it and is forced to the truth half of the time, masks and a beam of one."""
    nn, F = T.nn, T.nn.functional

    class Attention(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.query, self.key, self.score = nn.Linear(size, size), nn.Linear(size, size), nn.Linear(size, 1)

        def forward(self, query, keys, mask):
            scores = self.score(T.tanh(self.query(query).unsqueeze(1) + self.key(keys))).squeeze(-1)
            weights = F.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
            return T.bmm(weights.unsqueeze(1), keys).squeeze(1), weights

    class Seq2Seq(nn.Module):
        def __init__(self, words, size):
            super().__init__()
            self.embed = nn.Embedding(words, size)
            self.encoder = nn.GRU(size, size // 2, bidirectional=True, batch_first=True)
            self.attend, self.cell, self.head = Attention(size), nn.GRUCell(2 * size, size), nn.Linear(2 * size, words)

        def forward(self, source, target, forced):
            keys, last = self.encoder(self.embed(source))
            hidden, mask = T.cat([last[0], last[1]], dim=-1), source == 0
            token, outputs = target[:, 0], []
            for step in range(1, target.size(1)):
                context, _ = self.attend(hidden, keys, mask)
                hidden = self.cell(T.cat([self.embed(token), context], -1), hidden)
                outputs.append(self.head(T.cat([hidden, context], -1)))
                token = target[:, step] if forced[step] else outputs[-1].argmax(-1)
            return T.stack(outputs, dim=1)

    T.manual_seed(0)
    source = T.randint(1, 9, (6, 5))
    source[:3, 4:] = 0
    target = T.cat([T.full((6, 1), 9), source.flip(1)], dim=1)
    model = Seq2Seq(10, 8)
    for name, parameter in model.named_parameters():
        if "weight" in name and parameter.dim() > 1:
            nn.init.orthogonal_(parameter)
    optimizer, figures = T.optim.Adamax(model.parameters(), lr=0.02), []
    for _ in range(4):
        forced = (T.rand(6) < 0.5).tolist()
        output = model(source, target, forced)
        loss = F.nll_loss(F.log_softmax(output, -1).flatten(0, 1), target[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        figures.append(loss.item())
    return figures


@program
def text_classifier_of_bags_and_a_gru(T):
    """Bags of words of different lengths as offsets, beside a GRU, trained on sparse-looking text."""
    nn, data = T.nn, T.utils.data
    texts = [([1, 2, 3], 0), ([4, 5], 1), ([1, 6, 2, 2], 0), ([5, 5, 4, 7, 3], 1), ([2], 0), ([7, 4], 1)]

    def collate(batch):
        labels = T.tensor([label for _, label in batch])
        words = [T.tensor(each) for each, _ in batch]
        offsets = T.tensor([0, *[len(each) for each in words[:-1]]]).cumsum(0)
        return T.cat(words), offsets, nn.utils.rnn.pad_sequence(words, batch_first=True), labels

    class Classifier(nn.Module):
        def __init__(self):
            super().__init__()
            self.bag = nn.EmbeddingBag(8, 6, mode="mean")
            self.embed = nn.Embedding(8, 5, padding_idx=0)
            self.gru = nn.GRU(5, 6, batch_first=True)
            self.fc = nn.Linear(12, 2)
            self.bag.weight.data.uniform_(-0.5, 0.5)

        def forward(self, flat, offsets, padded):
            _, last = self.gru(self.embed(padded))
            return self.fc(T.cat([self.bag(flat, offsets), last[-1]], dim=1))

    T.manual_seed(0)
    model, criterion, figures = Classifier(), nn.CrossEntropyLoss(), []
    optimizer = T.optim.SGD(model.parameters(), lr=0.5)
    schedule = T.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.7)
    loader = data.DataLoader(texts, batch_size=3, shuffle=True, collate_fn=collate)
    for _ in range(4):
        for flat, offsets, padded, labels in loader:
            optimizer.zero_grad()
            loss = criterion(model(flat, offsets, padded), labels)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            figures.append(loss.item())
        schedule.step()
    return figures


@program
def translation_transformer(T):
    """The library's transformer with masks, a schedule by a function, and greedy decoding."""
    nn = T.nn

    class Positions(nn.Module):
        def __init__(self, width, length=20):
            super().__init__()
            place = T.arange(length).unsqueeze(1)
            rate = T.exp(T.arange(0, width, 2) * (-math.log(10000.0) / width))
            table = T.zeros(length, 1, width)
            table[:, 0, 0::2], table[:, 0, 1::2] = T.sin(place * rate), T.cos(place * rate)
            self.register_buffer("table", table)

        def forward(self, x):
            return x + self.table[: x.size(0)]

    T.manual_seed(0)
    embed, places, head = nn.Embedding(12, 16), Positions(16), nn.Linear(16, 12)
    model = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0)
    for parameter in model.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_uniform_(parameter)
    source, target = T.randint(1, 12, (5, 4)), T.randint(1, 12, (6, 4))
    source[3:, 0] = 0
    parameters = [*embed.parameters(), *model.parameters(), *head.parameters()]
    optimizer = T.optim.Adam(parameters, lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    schedule = T.optim.lr_scheduler.LambdaLR(optimizer, lambda n: 16**-0.5 * min((n + 1) ** -0.5, (n + 1) * 4**-1.5))
    criterion, figures = nn.CrossEntropyLoss(ignore_index=0), []
    for _ in range(4):
        mask = nn.Transformer.generate_square_subsequent_mask(5)
        output = model(
            places(embed(source)), places(embed(target[:-1])), tgt_mask=mask,
            src_key_padding_mask=(source == 0).T, memory_key_padding_mask=(source == 0).T,
            tgt_key_padding_mask=T.zeros(4, 5),
        )  # fmt: skip
        loss = criterion(head(output).reshape(-1, 12), target[1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        figures += [loss.item(), schedule.get_last_lr()[0]]
    return figures


# -------------------- decisions --------------------


@program
def reinforce_with_a_baseline(T):
    """A policy of two actions on a small cart that must not leave the track."""
    nn, F, D = T.nn, T.nn.functional, T.distributions

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.affine1, self.dropout = nn.Linear(2, 16), nn.Dropout(p=0.2)
            self.action, self.value = nn.Linear(16, 2), nn.Linear(16, 1)

        def forward(self, x):
            x = F.relu(self.dropout(self.affine1(x)))
            return F.softmax(self.action(x), dim=-1), self.value(x)

    T.manual_seed(543)
    policy = Policy()
    optimizer, figures = T.optim.Adam(policy.parameters(), lr=3e-2), []
    for _ in range(4):
        position, speed, saved, rewards, entropies = 0.1, 0.0, [], [], []
        for _ in range(15):
            probabilities, value = policy(T.tensor([[position, speed]]))
            choice = D.Categorical(probabilities)
            action = choice.sample()
            saved.append((choice.log_prob(action), value.squeeze()))
            entropies.append(choice.entropy())
            speed += 0.1 if action.item() else -0.1
            position += speed
            rewards.append(1.0 if abs(position) < 1 else 0.0)
        total, returns = 0.0, []
        for reward in rewards[::-1]:
            total = reward + 0.99 * total
            returns.insert(0, total)
        returns = T.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        losses = [
            -log_prob * (wanted - value.item()) + F.smooth_l1_loss(value, wanted)
            for (log_prob, value), wanted in zip(saved, returns)
        ]
        loss = T.cat(losses).sum() - 0.01 * T.cat(entropies).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        figures += [loss.item(), sum(rewards)]
    return figures


@program
def soft_actor_critic(T):
    """Squashed normal actions, two critics with slow copies, a temperature that is learnt."""
    nn, F, D = T.nn, T.nn.functional, T.distributions

    def network(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, 12), nn.ReLU(), nn.Linear(12, outputs))

    T.manual_seed(0)
    actor, critics, targets = network(3, 4), [network(5, 1) for _ in range(2)], [network(5, 1) for _ in range(2)]
    for target, critic in zip(targets, critics):
        target.load_state_dict(critic.state_dict())
    log_alpha = T.zeros(1, requires_grad=True)
    for_actor = T.optim.Adam(actor.parameters(), 1e-2)
    for_critics = T.optim.Adam([each for critic in critics for each in critic.parameters()], 1e-2)
    for_alpha = T.optim.Adam([log_alpha], 1e-2)

    def act(state):
        mean, log_std = actor(state).chunk(2, -1)
        base = D.Normal(mean, log_std.clamp(-5, 2).exp())
        policy = D.TransformedDistribution(base, D.TanhTransform(cache_size=1))
        action = policy.rsample()
        return action, policy.log_prob(action).sum(-1, keepdim=True)

    def value(networks, state, action):
        return T.min(*[each(T.cat([state, action], -1)) for each in networks])

    figures = []
    for _ in range(3):
        state, following = T.randn(10, 3), T.randn(10, 3)
        action, reward = T.rand(10, 2) * 2 - 1, T.randn(10, 1)
        with T.no_grad():
            next_action, chance = act(following)
            wanted = reward + 0.99 * (value(targets, following, next_action) - log_alpha.exp() * chance)
        loss = sum(F.mse_loss(critic(T.cat([state, action], -1)), wanted) for critic in critics)
        for_critics.zero_grad()
        loss.backward()
        for_critics.step()
        new_action, chance = act(state)
        actor_loss = (log_alpha.exp().detach() * chance - value(critics, state, new_action)).mean()
        for_actor.zero_grad()
        actor_loss.backward()
        for_actor.step()
        alpha_loss = -(log_alpha * (chance.detach() - 2)).mean()
        for_alpha.zero_grad()
        alpha_loss.backward()
        for_alpha.step()
        with T.no_grad():
            for target, critic in zip(targets, critics):
                for slow, quick in zip(target.parameters(), critic.parameters()):
                    slow.lerp_(quick, 0.05)
        figures += [loss.item(), actor_loss.item(), alpha_loss.item()]
    return figures


# -------------------- mathematics --------------------


@program
def meta_learning_by_functional_call(T):
    """An inner loop of two steps, differentiated through, for a model and for many tasks at once."""
    nn, F, func = T.nn, T.nn.functional, T.func
    T.manual_seed(0)
    model = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
    meta = {name: parameter.detach().clone().requires_grad_() for name, parameter in model.named_parameters()}
    optimizer = T.optim.Adam(meta.values(), lr=1e-2)

    def loss_of(parameters, x, y):
        return F.mse_loss(func.functional_call(model, parameters, (x,)), y)

    def adapted(parameters, x, y):
        for _ in range(2):
            slopes = T.autograd.grad(loss_of(parameters, x, y), tuple(parameters.values()), create_graph=True)
            parameters = {name: each - 0.05 * slope for (name, each), slope in zip(parameters.items(), slopes)}
        return parameters

    figures = []
    for _ in range(3):
        total = 0.0
        for _ in range(3):
            x = T.empty(8, 1).uniform_(-3, 3)
            y = T.empty(1).uniform_(0.5, 2) * T.sin(x + T.empty(1).uniform_(0, math.pi))
            total = total + loss_of(adapted(meta, x[:4], y[:4]), x[4:], y[4:])
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        figures.append(total.item())
    plain = {name: each.detach() for name, each in meta.items()}
    slopes = func.vmap(func.grad(loss_of), (None, 0, 0))(plain, T.ones(4, 2, 1), T.arange(8.0).view(4, 2, 1))
    return [*figures, *(slope.norm().item() for slope in slopes.values())]


@program
def neural_differential_equation(T):
    """A spiral, followed by Runge and Kutta's method through a small network, in double precision."""
    nn = T.nn
    T.set_default_dtype(T.float64)
    try:
        T.manual_seed(0)
        field = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))
        for module in field.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0, std=0.1)
                nn.init.constant_(module.bias, val=0)

        def follow(function, start, times):
            points = [start]
            for before, after in zip(times[:-1], times[1:]):
                h, y = after - before, points[-1]
                k1 = function(y)
                k2 = function(y + h / 2 * k1)
                k3 = function(y + h / 2 * k2)
                k4 = function(y + h * k3)
                points.append(y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
            return T.stack(points)

        spiral = T.tensor([[-0.1, 2.0], [-2.0, -0.1]])
        start, times = T.tensor([[2.0, 0.0]]), T.linspace(0.0, 2.0, 12)
        with T.no_grad():
            truth = follow(lambda y: (y**3) @ spiral, start, times)
        optimizer, figures = T.optim.RMSprop(field.parameters(), lr=1e-2), []
        for _ in range(4):
            loss = T.mean(T.abs(follow(lambda y: field(y**3), start, times) - truth))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            figures.append(loss.item())
        return figures
    finally:
        T.set_default_dtype(T.float32)


@program
def physics_informed_network(T):
    """A damped oscillator, from its equation: second derivatives are part of the loss. Adam first, then LBFGS."""
    nn = T.nn
    T.manual_seed(123)
    model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))
    boundary, t = T.tensor(0.0).view(-1, 1).requires_grad_(True), T.linspace(0, 1, 12).view(-1, 1).requires_grad_(True)

    def losses():
        u = model(boundary)
        slope = T.autograd.grad(u, boundary, T.ones_like(u), create_graph=True)[0]
        start = (T.squeeze(u) - 1) ** 2 + 1e-1 * (T.squeeze(slope) - 0) ** 2
        u = model(t)
        first = T.autograd.grad(u, t, T.ones_like(u), create_graph=True)[0]
        second = T.autograd.grad(first, t, T.ones_like(first), create_graph=True)[0]
        return start + 1e-4 * T.mean((second + 4 * first + 400 * u) ** 2)

    optimizer, figures = T.optim.Adam(model.parameters(), lr=1e-3), []
    for _ in range(4):
        optimizer.zero_grad()
        loss = losses()
        loss.backward()
        optimizer.step()
        figures.append(loss.item())
    second = T.optim.LBFGS(model.parameters(), lr=0.5, max_iter=3, history_size=5)

    def closure():
        second.zero_grad()
        loss = losses()
        loss.backward()
        return loss

    return [*figures, second.step(closure).item(), closure().item()]


@program
def gaussian_process(T):
    """Its marginal likelihood by a Cholesky factor, and a prediction."""
    T.manual_seed(0)
    x = T.linspace(0, 1, 15).unsqueeze(-1)
    y = T.sin(6 * x).squeeze() + 0.1 * T.randn(15)
    raw = T.nn.ParameterDict({name: T.nn.Parameter(T.zeros(1)) for name in ("length", "height", "noise")})
    optimizer, figures = T.optim.Adagrad(raw.parameters(), lr=0.2), []

    def kernel(a, b):
        length, height = T.nn.functional.softplus(raw["length"]), T.nn.functional.softplus(raw["height"])
        return height * T.exp(-0.5 * T.cdist(a, b).pow(2) / length**2)

    for _ in range(4):
        covariance = kernel(x, x) + T.nn.functional.softplus(raw["noise"]) * T.eye(15)
        loss = -T.distributions.MultivariateNormal(T.zeros(15), covariance).log_prob(y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        figures.append(loss.item())
    with T.no_grad():
        factor = T.linalg.cholesky(kernel(x, x) + T.nn.functional.softplus(raw["noise"]) * T.eye(15))
        weights = T.cholesky_solve(y.unsqueeze(-1), factor)
        return [*figures, *(kernel(T.tensor([[0.25], [0.8]]), x) @ weights).flatten().tolist()]


@program
def spectrally_normalized_discriminator(T):
    """Hinge losses, a weight kept at norm 1, one kept orthogonal, and one pruned."""
    nn, utils = T.nn, T.nn.utils
    T.manual_seed(0)
    judge = nn.Sequential(
        utils.parametrizations.spectral_norm(nn.Conv1d(2, 6, 3, padding=1)), nn.ReLU(), nn.Flatten(),
        utils.parametrizations.weight_norm(nn.Linear(24, 8)), nn.PReLU(),
        utils.parametrizations.orthogonal(nn.Linear(8, 8)), utils.spectral_norm(nn.Linear(8, 1)),
    )  # fmt: skip
    optimizer, figures = T.optim.RAdam(judge.parameters(), lr=1e-2), []
    for _ in range(4):
        real, fake = T.randn(5, 2, 4) + 1, T.randn(5, 2, 4)
        loss = nn.functional.relu(1 - judge(real)).mean() + nn.functional.relu(1 + judge(fake)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        figures.append(loss.item())
    weight = judge[5].weight
    return [
        *figures,
        (weight @ weight.T - T.eye(8)).abs().max().item(),
        T.linalg.svdvals(judge[0].weight.flatten(1))[0].item(),
    ]

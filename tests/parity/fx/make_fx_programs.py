"""`make_fx` and fake tensors: the ops of a function."""


def plain_functions():
    from torch.fx.experimental.proxy_tensor import make_fx

    def f(x, y):
        z = torch.nn.functional.linear(x, y).relu()
        return (z * 2 + x.sum()).mean(), torch.zeros(2) + z[0]

    x, y = torch.ones(2, 3), torch.ones(2, 3)
    for mode in ("real", "fake"):
        g = make_fx(f, tracing_mode=mode)(x, y)
        show(g.code)
        show(g.graph)
        g.print_readable()
        show([(node.name, str(node.meta.get("val")), node.meta.get("tensor_meta")) for node in g.graph.nodes])
    show(g(x, y), type(g).__name__)
    refused(lambda: make_fx(f, tracing_mode="other"))


def nested_arguments():
    from torch.fx.experimental.proxy_tensor import make_fx

    def f(t):
        return {"a": t[0] + t[1]["z"], "b": [t[0].view(-1), 3, None]}

    x = torch.ones(2)
    g = make_fx(f)((x, {"z": x * 2}))
    show(g.code)
    show(g((x, {"z": x})))


def in_place():
    from torch.fx.experimental.proxy_tensor import make_fx

    def f(x):
        y = x + 1
        y.add_(2)
        y[0].mul_(5)
        return y.mul_(x), y

    show(make_fx(f)(torch.ones(2, 2)).code)


def gradients():
    from torch.fx.experimental.proxy_tensor import make_fx

    def f(x):
        x = x.detach().requires_grad_()
        (x * x).sum().backward()
        return x.grad

    def g(x, w):
        return torch.autograd.grad((x @ w).sin().sum(), (x, w))

    # Gradients that belong together are computed in another order.
    show(sorted(str(node.target) for node in make_fx(f)(torch.ones(2, 3)).graph.nodes))
    x, w = torch.ones(2, 3, requires_grad=True), torch.ones(3, 2, requires_grad=True)
    made = make_fx(g)(x, w)
    show(sorted(str(node.target) for node in made.graph.nodes))
    show(all(torch.equal(a, b) for a, b in zip(made(x, w), g(x, w))))


def constants_and_several_results():
    from torch.fx.experimental.proxy_tensor import make_fx

    c = torch.ones(3)

    def f(x):
        return x + c, torch.rand(3).shape[0], torch.max(x, 1), x.split(1), x.topk(2)[0]

    made = make_fx(f)(torch.ones(2, 3))
    show(made.code)
    show([name for name, _ in made.named_buffers()])


def values_are_refused():
    from torch.fx.experimental.proxy_tensor import make_fx

    refused(lambda: make_fx(lambda x: x.sum().item() + 1)(torch.ones(2)))
    refused(lambda: make_fx(lambda x: 1 if x.sum() > 0 else 2)(torch.ones(2)))
    refused(lambda: make_fx(lambda x: x + torch.ones(1).item())(torch.ones(2)))


def modules():
    from torch.fx.experimental.proxy_tensor import make_fx

    net = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.Softplus())
    made = make_fx(net)(torch.ones(1, 3))
    show(made.code)
    show([name for name, _ in made.named_parameters()], torch.equal(made(torch.ones(1, 3)), net(torch.ones(1, 3))))


def star_arguments():
    from torch.fx.experimental.proxy_tensor import make_fx

    show(make_fx(lambda *args: args[0] + args[1])(torch.ones(1), torch.ones(1)).code)


def own_decompositions():
    from torch.fx.experimental.proxy_tensor import make_fx

    aten = torch.ops.aten
    table = {aten.addmm.default: lambda b, x, w: x.mm(w) + b, aten.relu.default: lambda x: NotImplemented}

    def f(b, x, w):
        return torch.addmm(b, x, w).relu()

    show(make_fx(f, decomposition_table=table)(torch.ones(2), torch.ones(1, 3), torch.ones(3, 2)).code)


def fake_tensors():
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode, is_fake, unset_fake_temporarily

    mode = FakeTensorMode()
    x = torch.ones(2, 3)
    y = mode.from_tensor(x)
    show(y, type(y).__name__, y.shape, y.device, y.dtype, y.stride(), is_fake(y), is_fake(x), y.fake_mode is mode)
    show(mode.from_tensor(x) is y, isinstance(y, torch.Tensor), isinstance(y, FakeTensor))
    with mode:
        z = torch.empty(3, 4, dtype=torch.float64) + torch.ones(4)
        show(z, y @ z.float(), y.sum(), y.view(3, 2).T.stride(), torch.max(y, 1), y.add_(1) is y)
        with unset_fake_temporarily() as found:
            show(found is mode, torch.ones(2))
        refused(lambda: torch.add(y, x))
        refused(lambda: y.sum().item())
        refused(lambda: torch.nonzero(y).shape if False else bool(y.sum()))
    show(y * 2, y.relu().shape)
    with FakeTensorMode(allow_non_fake_inputs=True) as other:
        show(torch.add(x, other.from_tensor(x)))


def fake_propagation():
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.passes.fake_tensor_prop import FakeTensorProp

    g = torch.fx.symbolic_trace(lambda x, y: torch.relu(x @ y).sum(0))
    FakeTensorProp(g).propagate(torch.ones(2, 3), torch.ones(3, 4))
    show([(node.name, str(node.meta.get("val"))) for node in g.graph.nodes])

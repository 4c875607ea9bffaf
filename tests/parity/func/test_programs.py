"""What researchers write with autograd and torch.func, in float64: the same numbers and strides."""

from tests.parity.support.programs import programs, sample

program, test_program = programs()


def numbers(T, *shape, seed=0, requires_grad=False):
    return sample(T, *shape, requires_grad=requires_grad, seed=seed, dtype=T.float64)


def filled(T, module):
    module.double()
    with T.no_grad():
        for seed, parameter in enumerate(module.parameters()):
            parameter.copy_(numbers(T, *parameter.shape, seed=seed) * 0.3)
    return module


def mlp(T, *sizes):
    layers = [layer for pair in zip(sizes, sizes[1:]) for layer in (T.nn.Linear(*pair), T.nn.Tanh())]
    return filled(T, T.nn.Sequential(*layers[:-1]))


def values_of(module):
    return {name: parameter.detach() for name, parameter in module.named_parameters()}


@program
def meta_learning(T):
    net, tasks = mlp(T, 2, 5, 1), numbers(T, 3, 4, 2)

    def loss(weights, x):
        return T.nn.functional.mse_loss(T.func.functional_call(net, weights, (x,)), x.sin().sum(-1, keepdim=True))

    def after_steps(weights, x):
        for _ in range(2):
            slopes = T.func.grad(loss)(weights, x)
            weights = {name: value - 0.1 * slopes[name] for name, value in weights.items()}
        return loss(weights, x)

    def meta_loss(weights):
        return T.vmap(after_steps, in_dims=(None, 0))(weights, tasks).mean()

    meta_loss(dict(net.named_parameters())).backward()
    return T.func.grad(meta_loss)(values_of(net)), [each.grad for each in net.parameters()]


@program
def adjoint_of_an_ode(T):
    class Solve(T.autograd.Function):
        @staticmethod
        def forward(ctx, field, state, *weights):
            for _ in range(5):
                state = state + 0.1 * field(state)
            ctx.field = field
            ctx.save_for_backward(state, *weights)
            return state

        @staticmethod
        def backward(ctx, adjoint):
            state, *weights = ctx.saved_tensors
            total = [T.zeros_like(weight) for weight in weights]
            for _ in range(5):
                with T.enable_grad():
                    state = state.detach().requires_grad_()
                    flow = ctx.field(state)
                    slope, *parts = T.autograd.grad(flow, [state, *weights], adjoint)
                total = [each + 0.1 * part for each, part in zip(total, parts)]
                adjoint, state = adjoint + 0.1 * slope, state - 0.1 * flow
            return None, adjoint, *total

    field, start = mlp(T, 3, 5, 3), numbers(T, 2, 3, requires_grad=True)
    end = Solve.apply(field, start, *field.parameters())
    end.pow(2).sum().backward()
    return end, start.grad, [each.grad for each in field.parameters()]


@program
def deep_equilibrium(T):
    layer, x = mlp(T, 4, 4), numbers(T, 2, 4, requires_grad=True)
    with T.no_grad():
        z = T.zeros_like(x)
        for _ in range(30):
            z = T.tanh(layer(z) + x)
    z = T.tanh(layer(z) + x)
    fixed = z.detach().requires_grad_()
    again = T.tanh(layer(fixed) + x)

    def solve(grad):
        result = grad
        for _ in range(30):
            result = T.autograd.grad(again, fixed, result, retain_graph=True)[0] + grad
        return result

    z.register_hook(solve)
    z.pow(2).sum().backward()
    return x.grad, [each.grad for each in layer.parameters()]


@program
def private_gradients(T):
    nn = T.nn
    layers = [nn.Conv2d(1, 2, 3), nn.GroupNorm(1, 2), nn.ReLU(), nn.Flatten(), nn.Linear(18, 3)]
    net = filled(T, nn.Sequential(*layers))

    def loss(weights, x, y):
        return nn.functional.cross_entropy(T.func.functional_call(net, weights, (x[None],)), y[None])

    slopes = T.vmap(T.func.grad(loss), (None, 0, 0))(values_of(net), numbers(T, 3, 1, 5, 5), T.tensor([0, 1, 2]))
    norms = sum(each.flatten(1).pow(2).sum(1) for each in slopes.values()).sqrt()
    scale = (1 / norms).clamp(max=1)
    return slopes, {name: T.einsum("i,i...->...", scale, each) for name, each in slopes.items()}


@program
def physics_informed(T):
    net, points = mlp(T, 2, 8, 8, 2), numbers(T, 7, 2, requires_grad=True)
    u = net(points)[:, :1]
    du = T.autograd.grad(u, points, T.ones_like(u), create_graph=True)[0]
    uxx = T.autograd.grad(du[:, 0].sum(), points, create_graph=True)[0][:, 0]
    residual = du[:, 1] + u[:, 0] * du[:, 0] - 0.01 * uxx
    residual.pow(2).mean().backward()
    return residual, [each.grad for each in net.parameters()]


@program
def physics_informed_by_transforms(T):
    net, points = mlp(T, 2, 8, 1), numbers(T, 7, 2)

    def u(weights, x, t):
        return T.func.functional_call(net, weights, (T.stack([x, t]),))[0]

    def residual(weights, x, t):
        return T.func.grad(u, 2)(weights, x, t) - T.func.grad(T.func.grad(u, 1), 1)(weights, x, t)

    def loss(weights):
        return T.vmap(residual, (None, 0, 0))(weights, points[:, 0], points[:, 1]).pow(2).mean()

    return T.func.grad_and_value(loss)(values_of(net))


@program
def gradient_penalty(T):
    critic = filled(T, T.nn.Sequential(T.nn.Conv2d(1, 3, 3), T.nn.LeakyReLU(0.2), T.nn.Flatten(), T.nn.Linear(27, 1)))
    x = numbers(T, 3, 1, 5, 5, requires_grad=True)
    slopes = T.autograd.grad(critic(x).sum(), x, create_graph=True)[0]
    ((slopes.flatten(1).norm(2, dim=1) - 1) ** 2).mean().backward()
    return [each.grad for each in critic.parameters()]


@program
def lanczos(T):
    net, x = mlp(T, 3, 4, 1), numbers(T, 6, 3)
    weights = list(net.parameters())
    slopes = T.autograd.grad(net(x).pow(2).mean(), weights, create_graph=True)
    flat = T.cat([each.reshape(-1) for each in slopes])
    v, before, found = T.ones_like(flat) / len(flat) ** 0.5, None, []
    for _ in range(3):
        product = T.cat([each.reshape(-1) for each in T.autograd.grad(flat, weights, v, retain_graph=True)])
        found.append(product @ v)
        product = product - found[-1] * v - (0 if before is None else found[-2] * before)
        before, v = v, product / product.norm()
        found.append(product.norm())
    return found


@program
def tangent_kernel(T):
    net = mlp(T, 3, 4, 2)

    def output(weights, x):
        return T.func.functional_call(net, weights, (x,))

    def kernel(x, y):
        products = T.func.vjp(lambda weights: output(weights, x), values_of(net))[1]

        def column(v):
            return T.func.jvp(lambda weights: output(weights, y), (values_of(net),), products(v))[1]

        return T.vmap(column)(T.eye(2, dtype=T.float64))

    points = numbers(T, 3, 3)
    jacobians = T.vmap(T.func.jacrev(output), (None, 0))(values_of(net), points)
    direct = sum(T.einsum("naf,mbf->nmab", each.flatten(2), each.flatten(2)) for each in jacobians.values())
    return direct, T.vmap(T.vmap(kernel, (None, 0)), (0, None))(points, points) * 1


@program
def an_ensemble(T):
    nets = [mlp(T, 3, 4, 2) for _ in range(3)]
    weights, buffers = T.func.stack_module_state(nets)

    def output(weights, buffers, x):
        return T.func.functional_call(nets[0], (weights, buffers), (x,))

    y = T.vmap(output, (0, 0, None))(weights, buffers, numbers(T, 5, 3))
    y.pow(2).sum().backward()
    return y, {name: each.grad for name, each in weights.items()}


@program
def implicit_differentiation(T):
    class Root(T.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            y = T.ones_like(x)
            for _ in range(20):
                y = y - (y**3 + y - x) / (3 * y**2 + 1)
            return y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(output)
            ctx.save_for_forward(output)

        @staticmethod
        def backward(ctx, grad):
            return grad / (3 * ctx.saved_tensors[0] ** 2 + 1)

        @staticmethod
        def jvp(ctx, tangent):
            return tangent / (3 * ctx.saved_tensors[0] ** 2 + 1)

    x, root = numbers(T, 4).abs(), Root.apply
    slope = T.func.grad(root)
    return T.vmap(slope)(x), T.vmap(T.func.grad(slope))(x), T.func.jvp(root, (x,), (x,)), T.func.jacfwd(root)(x)


@program
def a_pipeline_of_edges(T):
    first, second, x = mlp(T, 3, 4), mlp(T, 4, 2), numbers(T, 2, 3, requires_grad=True)
    h = first(x)
    edge = T.autograd.graph.get_gradient_edge(h)
    received = h.detach().requires_grad_()
    y = second(received)
    ends = [T.autograd.graph.get_gradient_edge(received), second[0].weight]
    slope, own = T.autograd.grad(T.autograd.graph.get_gradient_edge(y), ends, T.ones_like(y))
    T.autograd.backward(edge, slope)
    return slope, own, x.grad, [each.grad for each in first.parameters()], edge.node.name()


@program
def strides_of_linear_gradients(T):
    found = []
    for shape in ((5, 3), (2, 5, 3), (1, 3)):
        for bias in (True, False):
            layer = filled(T, T.nn.Linear(3, 4, bias=bias))
            x = numbers(T, *shape, requires_grad=True)
            found += T.autograd.grad(layer(x).pow(2).sum(), [x, *layer.parameters()], create_graph=True)
    transposed = numbers(T, 4, 3, requires_grad=True)
    found += T.autograd.grad((transposed.t() @ transposed).sum(), transposed)
    found += T.autograd.grad(transposed.t().mm(numbers(T, 4, 2)).sin().sum(), transposed)
    return [(each.stride(), each.detach()) for each in found]

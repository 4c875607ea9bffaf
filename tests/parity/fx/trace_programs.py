"""What `symbolic_trace` makes of programs."""


def operators_of_python():
    def f(x, y):
        a = x + y - 2 * x / 3 // y % 2
        b = -a @ x.T
        c = (a > b) & (a < 1) | ~(b == 2) ^ (b != a)
        return 2**a, 1 - b, 3 / a, c, a[0], a[1:, None, ...], 1 @ b, abs(a), +b, a >= 1, 5 % a, 7 // b

    g = torch.fx.symbolic_trace(f)
    show(g.graph)
    show(g.code)


def shifts():
    def f(x):
        return x << 1, x >> 2, 1 << x, 2 >> x

    show(torch.fx.symbolic_trace(f).code)


def functions():
    F = torch.nn.functional

    def f(x, w):
        y = torch.relu(x) + torch.sin(input=x)
        y = F.relu(y) * F.softmax(y, dim=1)
        y = F.linear(y, w) + F.gelu(y) - F.dropout(y, 0.5, training=False)
        return torch.cat([y, x], dim=0).sum(dim=1, keepdim=True)

    g = torch.fx.symbolic_trace(f)
    show(g.graph)
    show(g.code)


def methods_and_attributes():
    def f(x):
        n = x.shape[0]
        return x.view(n, -1).relu_().size(1), x.dtype, x.T.contiguous(), x.to(torch.float64)

    g = torch.fx.symbolic_trace(f)
    show(g.graph)
    show(g.code)


def modules_of_library_are_leaves():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = torch.nn.Conv2d(3, 4, 3)
            self.layers = torch.nn.Sequential(torch.nn.BatchNorm2d(4), torch.nn.ReLU())
            self.heads = torch.nn.ModuleList([torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)])

        def forward(self, x):
            x = self.layers(self.conv1(x))
            x = x.mean((2, 3))
            return [head(x) for head in self.heads]

    g = torch.fx.symbolic_trace(Net())
    show(g.graph)
    show(g.code)
    show([node.name for node in g.graph.nodes])
    show([node.meta.get("nn_module_stack") for node in g.graph.nodes])


def a_module_called_twice():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = torch.nn.ReLU()

        def forward(self, x):
            return self.act(self.act(x) + 1)

    g = torch.fx.symbolic_trace(Net())
    show(g.code)
    for node in g.graph.nodes:
        show(node.name, node.target, node.meta)


def parameters_and_buffers():
    class Inner(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("b", torch.zeros(2))

        def forward(self, x):
            return x * self.w + self.b

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()
            self.scale = torch.nn.Parameter(torch.ones(1))
            self.plain = torch.arange(2.0)

        def forward(self, x):
            return self.inner(x) * self.scale + self.plain + self.inner.w

    g = torch.fx.symbolic_trace(Net())
    show(g.graph)
    show(g.code)
    show(g(torch.ones(2)).tolist())
    show(list(g.state_dict()), [name for name, _ in g.named_modules()])


def constants_become_attributes():
    t = torch.ones(2)

    def f(x):
        return x + t, x * t, x - torch.zeros(2)

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    show([name for name, _ in g.named_buffers()])


def tensor_on_the_left():
    def f(x):
        return torch.ones(2) + x, torch.ones(2) * x, torch.ones(2).add(x), torch.ones(2) @ x

    show(torch.fx.symbolic_trace(f).code)


def annotations():
    from typing import List, Optional, Tuple

    def f(x: torch.Tensor, y: Optional[int] = 3, z: List[torch.Tensor] = None) -> Tuple[torch.Tensor, int]:
        return x, y

    def g(x: "torch.Tensor", y: dict[str, int], z: list[int]) -> torch.Tensor:
        return x

    def h(x: int, m: torch.nn.Linear, d: torch.dtype, e: float = float("inf")):
        return x

    show(torch.fx.symbolic_trace(f).code)
    show(torch.fx.symbolic_trace(g).code)
    show(torch.fx.symbolic_trace(h).code)
    show(torch.fx.symbolic_trace(f).graph)


def defaults():
    def f(x, y=1, z="a", d=torch.float32, t=(1, 2), n=None, dev=torch.device("cpu")):
        return x * y

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    show(g.graph)
    show(g(torch.ones(1)))


def star_arguments():
    def f(x, *args, **kwargs):
        return x + args[0] + kwargs["a"]

    def only(*, key):
        return key + 1

    def keyword(x, *, key=2):
        return x + key

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    show(g(torch.ones(1), torch.ones(1), a=2))
    show(torch.fx.symbolic_trace(only).code)
    show(torch.fx.symbolic_trace(keyword).code)


def control_flow_is_refused():
    def branch(x):
        return x if x.sum() > 0 else -x

    def loop(x):
        return [row for row in x]

    def star(x):
        return torch.cat([*x])

    def length(x):
        return len(x)

    def index(x):
        return [1, 2][x]

    def contains(x):
        return 3 in x

    def number(x):
        return int(x)

    def real(x):
        return float(x)

    for function in (branch, loop, star, length, index, contains, number, real):
        refused(torch.fx.symbolic_trace, function)


def control_flow_without_values():
    def f(x):
        if x is None:
            return 1
        for i in range(3):
            x = x + i
        while False:
            pass
        return x

    show(torch.fx.symbolic_trace(f).code)


def unpacking():
    def f(x):
        a, b = x
        (c, d), e = torch.max(x, 1), 3
        return a + b + c + d + e

    show(torch.fx.symbolic_trace(f).code)


def nested_results():
    def f(x):
        return {"a": x, "b": [x + 1, (x, None)], 3: slice(x, 2)}

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    show(type(g.graph.output_node().args[0]).__name__)


def wrapped_functions():
    torch.fx.wrap("len")
    torch.fx.wrap("helper")
    from math import sqrt

    def helper(x, k=1):
        return x + k

    torch.fx.wrap("sqrt")

    @torch.fx.wrap
    def decorated(x):
        return x * 2

    def f(x):
        return helper(x, k=3) + len(x) + sqrt(x) + decorated(x) + helper(2)

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    show([node.meta for node in g.graph.nodes])
    show(g(torch.tensor([4.0])))
    show(torch.fx.symbolic_trace(g).code)


def wrap_refuses():
    def inside():
        torch.fx.wrap("len")

    refused(inside)
    refused(torch.fx.wrap, 3)


def functions_of_math_are_wrapped():
    import math
    from math import floor

    def f(x):
        return math.sqrt(x.size(0)) + floor(x.size(1))

    show(torch.fx.symbolic_trace(f).code)


def autowrap_functions():
    def helper(x):
        return [y for y in x]

    class T(torch.fx.Tracer):
        def __init__(self):
            super().__init__(autowrap_functions=(helper,))

    def f(x):
        return helper(x)

    t = T()
    graph = t.trace(f)
    show(graph)
    show(torch.fx.GraphModule(t.root, graph).code)


def custom_leaves():
    class Block(torch.nn.Module):
        def forward(self, x):
            return x + 1

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.block = Block()
            self.lin = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.lin(self.block(x))

    class T(torch.fx.Tracer):
        def is_leaf_module(self, m, qualname):
            show(type(m).__name__, qualname)
            return isinstance(m, Block)

    t = T()
    net = Net()
    show(t.trace(net))
    show(t.root is net, t.graph._tracer_cls.__name__, t.submodule_paths, t.root_module_name)
    show(sorted(t.node_name_to_scope.items(), key=str))


def inside_of_library_modules():
    class T(torch.fx.Tracer):
        def is_leaf_module(self, m, qualname):
            return False

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 3)
            self.b = torch.nn.LayerNorm(3)
            self.c = torch.nn.Conv1d(1, 1, 1)
            self.d = torch.nn.GELU()
            self.e = torch.nn.Dropout(0.1)
            self.f = torch.nn.Softmax(-1)

        def forward(self, x):
            return self.c(self.f(self.e(self.d(self.b(self.a(x))))))

    t = T()
    net = Net()
    show(t.trace(net))
    show(torch.fx.GraphModule(net, t.graph).code)


def create_proxy_can_be_changed():
    class T(torch.fx.Tracer):
        def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, *_):
            show(kind, getattr(target, "__name__", target), name)
            return super().create_proxy(kind, target, args, kwargs, name, type_expr)

        def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
            node = super().create_node(kind, target, args, kwargs, name, type_expr)
            node.tag = "mine"
            return node

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(1))

        def forward(self, x):
            return torch.relu(x + self.w).view(-1)

    graph = T().trace(Net())
    show([node.tag for node in graph.nodes])


def parameter_shapes_as_constants():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(2, 3))

        def forward(self, x):
            if self.w.shape[0] == 2 and self.w.dim() == 2 and self.w.numel() == 6 and self.w.ndim == 2:
                return x.view(self.w.size()) + self.w
            return x

    t = torch.fx.Tracer(param_shapes_constant=True)
    net = Net()
    show(torch.fx.GraphModule(net, t.trace(net)).code)
    refused(torch.fx.Tracer().trace, net)


def proxied_buffers():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("b", torch.ones(2))

        def forward(self, x):
            return self.b.sum() + x

    class T(torch.fx.Tracer):
        proxy_buffer_attributes = True

    show(T().trace(Net()))
    show(torch.fx.Tracer().trace(Net()))


def concrete_arguments():
    def f(x, flag, n=None):
        if flag:
            x = x + 1
        return x if n is None else x * n

    g = torch.fx.symbolic_trace(f, concrete_args={"flag": True, "n": None})
    show(g.code)
    show(g.graph)
    show(g(torch.ones(1), True, None))
    refused(g, torch.ones(1), False, None)
    refused(g, torch.ones(1), True, 3)
    g = torch.fx.symbolic_trace(f, concrete_args={"flag": False})
    show(g.code)


def concrete_arguments_that_are_nested():
    PH = torch.fx.PH

    def f(x, pair, table):
        return {"sum": pair[0] + pair[1], "more": [x, table["k"]]}

    g = torch.fx.symbolic_trace(f, concrete_args={"pair": (PH, PH), "table": {"k": PH}})
    show(g.code)
    show(g.graph)
    show(g(1, (2, 3), {"k": 4}))
    show(g.graph.process_inputs(1, (2, 3), {"k": 4}), g.graph.process_outputs([5, 1, 4]))
    show(torch.fx.Interpreter(g).run(1, (2, 3), {"k": 4}))
    show(PH)


def concrete_arguments_as_tuple():
    def f(x, y):
        return x + y

    show(torch.fx.symbolic_trace(f, concrete_args=(torch.fx.PH, 3)).code)
    refused(lambda: torch.fx.symbolic_trace(f, concrete_args=(1, 2, 3)))


def assert_statements():
    def f(x):
        torch._assert(x.ndim == 1, "one dimension")
        return x

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    refused(g, torch.ones(1, 1))
    refused(torch._assert, torch.zeros(1), "text")

    def with_statement(x):
        assert x.shape[0] == 2

    refused(torch.fx.symbolic_trace, with_statement)


def mutable_operations_can_be_refused():
    class T(torch.fx.Tracer):
        check_mutable_operations = True

    def f(x):
        return torch.relu_(x)

    def g(x):
        return torch.relu(x)

    refused(T().trace, f)
    show(T().trace(g))


def what_is_no_argument():
    class Strange:
        pass

    class Known:
        def __fx_create_arg__(self, tracer):
            return tracer.create_node("call_function", dict, (), {"a": 1})

    def f(x):
        return x.add(Strange())

    def g(x):
        return x.foo(Known(), [range(2)], {"a": x})

    def h(x):
        return x.foo({x: 1})

    refused(torch.fx.symbolic_trace, f)
    show(torch.fx.symbolic_trace(g).graph)
    refused(torch.fx.symbolic_trace, h)


def dataclasses_named_tuples_and_enums():
    from collections import namedtuple
    from dataclasses import dataclass
    from enum import Enum

    Pair = namedtuple("Pair", "a b")

    @dataclass
    class Point:
        x: int
        y: int

    class Color(Enum):
        RED = 1

    torch.fx.wrap("leaf")

    def leaf(*args):
        return args

    def f(x):
        return leaf(x, Pair(x, 1), Point(x, 2), Color.RED)

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    show(g.graph)


def proxyable_classes():
    class Pair(metaclass=torch.fx.ProxyableClassMeta):
        def __init__(self, left, right):
            self.left, self.right = left, right

        def add(self):
            return self.left + self.right

    def f(x, y):
        pair = Pair(x, y)
        return pair.add() + pair.left

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    show(g(2, 3))
    show(Pair(1, 2).add())


def proxies():
    def f(x):
        show(x, x.foo, x.shape, type(x).__name__, isinstance(x, torch.fx.Proxy))
        show(x.node, x.foo.node, x.tracer.__class__.__name__)
        y = x(1, k=2)
        return {**y} if False else y

    show(torch.fx.symbolic_trace(f).code)


def dictionaries_of_proxies():
    def f(x):
        return dict(**x)

    refused(torch.fx.symbolic_trace, f)


def proxies_without_a_trace():
    graph = torch.fx.Graph()
    tracer = torch.fx.proxy.GraphAppendingTracer(graph)
    x = torch.fx.Proxy(graph.placeholder("x"), tracer=tracer)
    y = torch.fx.Proxy(graph.placeholder("y"), tracer)
    z = torch.einsum("ij,jk->ik", x, y).reshape(2) * torch.ones(2).sum().item()
    z = torch.tensordot(z, y, dims=1)
    graph.output(z.node)
    show(graph)
    show(torch.fx.GraphModule({}, graph, class_name="Made").code)


def proxies_of_two_tracers():
    a = torch.fx.Proxy(torch.fx.Graph().placeholder("a"))
    b = torch.fx.Proxy(torch.fx.Graph().placeholder("b"))
    try:
        torch.add(a, b)
    except RuntimeError as error:
        show(str(error).split("[")[0])


def modules_that_are_not_submodules():
    other = torch.nn.Linear(2, 2)

    class Net(torch.nn.Module):
        def forward(self, x):
            return other(x)

    class Loose(torch.nn.Module):
        def forward(self, x):
            return x + torch.nn.Parameter(torch.ones(1))

    refused(torch.fx.symbolic_trace, Net())
    refused(torch.fx.symbolic_trace, Loose())


def what_cannot_be_traced():
    import functools

    refused(torch.fx.symbolic_trace, 3)
    refused(torch.fx.symbolic_trace, functools.partial(lambda x: x))


def methods_of_modules_other_than_forward():
    class Net(torch.nn.Module):
        def forward(self, x):
            return x

        def other(self, x):
            return x + 1

    class T(torch.fx.Tracer):
        traced_func_name = "other"

    show(T().trace(Net()))
    T.traced_func_name = "missing"
    refused(T().trace, Net())


def graph_modules_can_be_traced():
    def f(x):
        return torch.relu(x) + 1

    g = torch.fx.symbolic_trace(f)
    h = torch.fx.symbolic_trace(g)
    show(h.code == g.code, type(h).__name__, h.__class__.__bases__[0].__name__)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.g = g

        def forward(self, x):
            return self.g(x) * 2

    show(torch.fx.symbolic_trace(Net()).code)


def lambdas_and_closures():
    k = 3
    g = torch.fx.symbolic_trace(lambda x: x * k)
    show(g.code, type(g).__name__, g)


def in_place():
    def f(x, y):
        x += y
        x[0] = 3
        x.add_(1)
        return x

    refused(torch.fx.symbolic_trace, f)

    def g(x, y):
        x += y
        x *= 2
        return x.add_(1)

    show(torch.fx.symbolic_trace(g).code)


def is_tracing():
    from torch.fx._symbolic_trace import is_fx_symbolic_tracing as tracing

    def f(x):
        show(tracing())
        return x

    torch.fx.symbolic_trace(f)
    show(tracing())


def names_of_nodes():
    def f(input, x1, self_, len_, x_1, x_2):
        a = torch.sum(x1)
        b = a.sum() + x1.Size() + x1.toFoo()
        return b.__foo__(), x_1 + x_2, x1.x_1, a.add(1), a.add_(1)

    g = torch.fx.symbolic_trace(f)
    show([node.name for node in g.graph.nodes])
    show(g.code)


def builtins_as_functions():
    torch.fx.wrap("max")
    torch.fx.wrap("isinstance")

    def f(x, y):
        return max(x, y), isinstance(x, 1), getattr(x, "a-b"), getattr(x, "foo", 3)

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    show([str(node.target) for node in g.graph.nodes])


def lists_of_operands():
    def f(x, y):
        return torch.einsum("ij,jk->ik", (x, y)), torch.einsum("ij->ji", [x]), torch.cat([x, y]), torch.meshgrid(x, y)

    show(torch.fx.symbolic_trace(f).code)

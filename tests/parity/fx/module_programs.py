"""`GraphModule`: attributes, pickles, copies, folders, errors."""


def submodules():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
            self.b = torch.nn.Linear(2, 2)
            self.unused = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.b(self.a(x)) + self.a[0].weight

    g = torch.fx.symbolic_trace(Net())
    show([name for name, _ in g.named_modules()])
    show(g.add_submodule("c.d.e", torch.nn.ReLU()), g.add_submodule("b.f", torch.nn.ReLU()))
    show([name for name, _ in g.named_modules()])
    show(
        g.delete_submodule("c.d"),
        g.delete_submodule("missing"),
        g.delete_submodule("b.weight"),
        g.delete_submodule("c.x.y"),
    )
    g.delete_all_unused_submodules()
    show([name for name, _ in g.named_modules()])
    show(g.training, type(g).__mro__[1].__name__, type(g).__name__, g._get_name())


def roots_that_are_dictionaries():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_module("a.b", (x,))
    graph.output((y, graph.get_attr("a.b.weight"), graph.get_attr("t"), graph.get_attr("p.q")))
    layer = torch.nn.Linear(1, 1)
    root = {"a.b": layer, "a.b.weight": layer.weight, "t": torch.ones(1), "p.q": torch.nn.Parameter(torch.zeros(1))}
    g = torch.fx.GraphModule(root, graph, class_name="Made")
    show(g.code, type(g).__name__, sorted(g.state_dict()))
    show(g)


def training_is_kept():
    net = torch.nn.Sequential(torch.nn.Dropout()).eval()
    show(torch.fx.symbolic_trace(net).training, torch.fx.symbolic_trace(net.train()).training)


def recompiling():
    g = torch.fx.symbolic_trace(lambda x: x + 1)
    before = g.code
    list(g.graph.nodes)[1].args = (list(g.graph.nodes)[0], 5)
    show(g.code == before, g(1))
    code = g.recompile()
    show(g.code, g(1), type(code).__name__, code.src == g.code)
    g.graph = torch.fx.symbolic_trace(lambda y: y * 7).graph
    show(g(2), g.graph.owning_module is g)
    refused(lambda: setattr(g, "graph", 3))


def pickles():
    import pickle

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 2)
            self.register_buffer("b", torch.ones(2))
            self.w = torch.nn.Parameter(torch.ones(2))

        def forward(self, x: torch.Tensor, k: float = float("inf")):
            return self.a(x) + self.b * self.w, torch.device("cpu"), torch.nn.functional.relu(x)

    g = torch.fx.symbolic_trace(Net())
    made = pickle.loads(pickle.dumps(g))
    show(made.code == g.code, type(made).__name__, sorted(made.state_dict()))
    show(made.graph)
    x = torch.ones(1, 2)
    show(torch.equal(made(x)[0], g(x)[0]))
    again = pickle.loads(pickle.dumps(made))
    show(again.code == g.code)


def pickles_of_what_has_no_name():

    def local(x):
        return x

    graph = torch.fx.Graph()
    graph.output(graph.call_function((lambda: lambda x: x)(), (graph.placeholder("x"),)))
    refused(lambda: torch.fx.GraphModule({}, graph))


def pickles_of_wrapped_functions():
    import pickle

    torch.fx.wrap("len")
    torch.fx.wrap("mine")

    def mine(x):
        return x * 2

    def f(x):
        return mine(x) + len(x)

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    made = pickle.loads(pickle.dumps(g))
    show(made.code)
    show(made(torch.ones(2)))


def pickles_with_nested_arguments():
    import pickle

    PH = torch.fx.PH

    def f(x, pair):
        return {"a": x + pair[0], "b": pair[1]}

    g = torch.fx.symbolic_trace(f, concrete_args={"pair": (PH, PH)})
    made = pickle.loads(pickle.dumps(g))
    show(made.code)
    show(made(1, (2, 3)))


def pickles_keep_stacks():
    import pickle

    g = torch.fx.symbolic_trace(lambda x: x + 1)
    g.meta["k"] = 1
    made = pickle.loads(pickle.dumps(g))
    show(made.meta, made._tracer_cls, g._tracer_cls)


def deep_copies():
    import copy

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 2)
            self.w = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            return self.a(x) + self.w

    g = torch.fx.symbolic_trace(Net())
    g.meta["note"] = [1]
    g.extra = 3
    g.kept = 4
    g.meta["_user_preserved_attributes"] = {"kept": 4}
    list(g.graph.nodes)[1].meta["m"] = 2
    made = copy.deepcopy(g)
    show(made.code == g.code, made.a is g.a, made.w is g.w, made.meta, hasattr(made, "extra"), made.kept)
    show([node.meta.get("m") for node in made.graph.nodes], made.graph.owning_module is made, type(made).__name__)
    with torch.no_grad():
        made.w.zero_()
    show(g.w.tolist())
    shallow = copy.copy(g)
    show(shallow.a is g.a, shallow.code == g.code, shallow.graph is g.graph, type(shallow).__name__)


def subclasses():
    class Dual(torch.fx.GraphModule):
        def __init__(self, root, graph):
            super(torch.fx.GraphModule, self).__init__()
            self.extra = "yes"
            torch.fx.graph_module._copy_attr(root, self, "a")
            self.graph = graph

    net = torch.nn.Module()
    net.a = torch.nn.ReLU()
    graph = torch.fx.Graph()
    graph.output(graph.call_module("a", (graph.placeholder("x"),)))
    g = Dual(net, graph)
    show(g.code, g(torch.tensor([-1.0, 1.0])), type(g).__name__, isinstance(g, Dual), g.extra)


def subclasses_with_call():
    class Loud(torch.fx.GraphModule):
        def __call__(self, *args):
            show("called")
            return super().__call__(*args)

    base = torch.fx.symbolic_trace(lambda x: x + 1)
    g = Loud(torch.nn.Module(), base.graph)
    show(g(1))
    g.recompile()
    show(g(2))


def folders():
    import importlib.util
    import pathlib
    import tempfile

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 3)
            self.act = torch.nn.ReLU()
            self.w = torch.nn.Parameter(torch.ones(3))
            self.register_buffer("b", torch.ones(3, dtype=torch.int64))

        def forward(self, x):
            return self.act(self.a(x)) * self.w + self.b

    g = torch.fx.symbolic_trace(Net())
    with tempfile.TemporaryDirectory() as place:
        g.to_folder(place, "Made")
        show(sorted(path.name for path in pathlib.Path(place).iterdir()))
        text = (pathlib.Path(place) / "module.py").read_text().replace(place, "PLACE")
        show(text[text.index("class Made") :])
        spec = importlib.util.spec_from_file_location("made_module", f"{place}/module.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        made = module.Made()
        x = torch.ones(1, 2)
        show(torch.equal(made(x), g(x)), sorted(made.state_dict()))


def errors_show_the_line():
    def f(x, y):
        a = torch.relu(x)
        return a.nope(y)

    g = torch.fx.symbolic_trace(f)
    import contextlib
    import io

    text = io.StringIO()
    with contextlib.redirect_stderr(text):
        refused(g, torch.ones(1), 2)
    shown = text.getvalue()
    show(shown[shown.index("Call using") :])


def errors_deeper_do_not():
    torch.fx.wrap("bad")

    def bad(x):
        raise ValueError("bad")

    refused(torch.fx.symbolic_trace(lambda x: bad(x)), 1)


def hooks_of_changes():
    g = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    made, erased, replaced = [], [], []
    g._register_create_node_hook(lambda node: made.append(node.name))
    g._register_erase_node_hook(lambda node: erased.append(node.name))
    nodes = list(g.graph.nodes)
    with g._set_replace_hook(lambda old, new, user: replaced.append((old.name, new, user.name))):
        with g.graph.inserting_after(nodes[1]):
            new = g.graph.call_function(torch.sin, (nodes[0],))
        nodes[1].replace_all_uses_with(new)
        new.name = "fresh"
        g.graph.erase_node(nodes[1])
    new.name = "later"
    show(made, erased, replaced)
    refused(g._register_create_node_hook, 3)
    refused(g._register_erase_node_hook, 3)
    refused(g._register_deepcopy_hook, 3)


def get_attr_warns():
    g = torch.fx.symbolic_trace(lambda x: x + 1)
    with g.graph.inserting_before():
        g.graph.get_attr("missing")
        g.graph.get_attr("a.b")
    refused(g.graph.call_module, "nope")
    g.w = torch.nn.Parameter(torch.ones(1))
    g.graph.get_attr("w")


def attributes_by_path():
    from torch.fx.graph_module import _assign_attr, _copy_attr, _del_attr, _get_attr, _has_attr

    m = torch.nn.Module()
    _assign_attr(torch.ones(1), m, "a.b.c")
    _assign_attr(3, m, "d")
    show(list(m.state_dict()), m.d, _get_attr(m, "a.b.c"), _get_attr(m, "d"))
    show(_has_attr(m, "a"), _has_attr(m, "zz"))
    n = torch.nn.Module()
    _copy_attr(m, n, "a.b.c")
    show(list(n.state_dict()))
    _del_attr(m, "a.b.c")
    show(list(m.state_dict()))
    refused(_get_attr, m, "x.y")


def state_dicts():
    net = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.BatchNorm1d(1))
    g = torch.fx.symbolic_trace(net)
    show(list(g.state_dict()) == list(net.state_dict()), g.load_state_dict(net.state_dict()))
    show([name for name, _ in g.named_parameters()], getattr(g, "0") is net[0])


def gradients_flow():
    net = torch.nn.Linear(2, 1)
    g = torch.fx.symbolic_trace(torch.nn.Sequential(net, torch.nn.Tanh()))
    g(torch.ones(1, 2)).sum().backward()
    show(net.weight.grad is not None, net.weight.grad.shape)


def str_and_repr():
    g = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.ReLU()))
    show(repr(g))
    show(str(g))
    show(type(g).__qualname__, type(g).__module__)


def hooks_of_modules_run():
    g = torch.fx.symbolic_trace(lambda x: x + 1)
    g.register_forward_hook(lambda module, args, result: result * 10)
    g.register_forward_pre_hook(lambda module, args: (args[0] + 100,))
    show(g(1))


def placeholders_with_defaults():
    def f(x, y=2, *, z=3):
        return x + y + z

    g = torch.fx.symbolic_trace(f)
    show(g.code)
    show(g(1), g(1, 1), g(1, 1, 1))

"""`Interpreter`, `Transformer`, replaced patterns."""


def runs():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 2)
            self.w = torch.nn.Parameter(torch.ones(2))

        def forward(self, x, y=2):
            return (self.a(x) + self.w * y).relu(), torch.sum(x, dim=0)

    torch.manual_seed(0)
    g = torch.fx.symbolic_trace(Net())
    x = torch.ones(1, 2)
    interpreter = torch.fx.Interpreter(g)
    show(all(torch.equal(a, b) for a, b in zip(interpreter.run(x), g(x))))
    show(all(torch.equal(a, b) for a, b in zip(interpreter.run(x, 5), g(x, 5))))
    show(interpreter.env.keys(), interpreter.name, sorted(interpreter.submodules))
    show(torch.fx.Interpreter(g, garbage_collect_values=False).run(x) is not None)


def overriding():
    class Swapped(torch.fx.Interpreter):
        def call_function(self, target, args, kwargs):
            if target == torch.sigmoid:
                return torch.neg(*args, **kwargs)
            return super().call_function(target, args, kwargs)

        def call_method(self, target, args, kwargs):
            show(target, len(args))
            return super().call_method(target, args, kwargs)

        def run_node(self, n):
            result = super().run_node(n)
            show(n, n.op)
            return result

    g = torch.fx.symbolic_trace(lambda x: torch.sigmoid(x).add(1))
    show(Swapped(g).run(torch.ones(1)))


def errors():
    g = torch.fx.symbolic_trace(lambda x, y: x.nope(y))
    refused(torch.fx.Interpreter(g).run, 1, 2)
    refused(torch.fx.Interpreter(g).run, 1)

    torch.fx.wrap("key")

    def key(x):
        raise KeyError("k")

    refused(torch.fx.Interpreter(torch.fx.symbolic_trace(lambda x: key(x))).run, 1)
    i = torch.fx.Interpreter(g)
    i.extra_traceback = False
    refused(i.run, 1, 2)


def missing_values():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_method("relu", (x,))
    graph.output(y)
    y.append(x)
    refused(torch.fx.Interpreter(torch.fx.GraphModule({}, graph)).run, torch.ones(1))


def missing_attributes():
    graph = torch.fx.Graph()
    graph.output(graph.get_attr("a.b"))
    net = torch.nn.Module()
    net.a = torch.nn.Module()
    net.a.b = 3
    g = torch.fx.GraphModule(net, graph)
    del g.a.b
    refused(torch.fx.Interpreter(g).run)


def initial_environments():
    g = torch.fx.symbolic_trace(lambda x, y: (x + y) * 2)
    nodes = list(g.graph.nodes)
    show(torch.fx.Interpreter(g).run(1, 2, initial_env={nodes[2]: 10}))
    show(torch.fx.Interpreter(g).run(initial_env={nodes[0]: 3, nodes[1]: 4}))


def boxed():
    g = torch.fx.symbolic_trace(lambda x, y: x + y)
    values = [1, 2]
    show(torch.fx.Interpreter(g).boxed_run(values), values)
    refused(torch.fx.Interpreter(g).boxed_run, [1])
    refused(torch.fx.Interpreter(g).boxed_run, [1, 2, 3])


def star_arguments():
    def f(x, *args):
        return x + args[1]

    g = torch.fx.symbolic_trace(f)
    show(torch.fx.Interpreter(g).run(1, 2, 3))


def other_graphs():
    g = torch.fx.symbolic_trace(lambda x: x + 1)
    other = torch.fx.symbolic_trace(lambda x: x * 5).graph
    show(torch.fx.Interpreter(g, graph=other).run(3))


def transforming():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 2)
            self.w = torch.nn.Parameter(torch.ones(2))

        def forward(self, x, y=3):
            return torch.sigmoid(self.a(x)).neg() + self.w * y

    class Swap(torch.fx.Transformer):
        def call_function(self, target, args, kwargs):
            return super().call_function(torch.tanh if target == torch.sigmoid else target, args, kwargs)

        def call_method(self, target, args, kwargs):
            return super().call_method("abs" if target == "neg" else target, args, kwargs)

    g = torch.fx.symbolic_trace(Net())
    list(g.graph.nodes)[2].meta["k"] = "v"
    made = Swap(g).transform()
    show(made.code, made.graph)
    show(type(made).__name__, [sorted(node.meta.keys() - {"seq_nr"}) for node in made.graph.nodes])
    show(torch.fx.Transformer(g).transform().code)


def transforming_nested():
    PH = torch.fx.PH
    g = torch.fx.symbolic_trace(lambda x: {"a": x[0] + x[1]}, concrete_args={"x": (PH, PH)})
    made = torch.fx.Transformer(g).transform()
    show(made.code)
    show(made((1, 2)))


def meta_is_preserved():
    import torch.fx.traceback as tb

    g = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
    for node in g.graph.nodes:
        node.meta["stack_trace"] = f"stack of {node}"
        node.meta["nn_module_stack"] = {"a": 1}
    with tb.preserve_node_meta():
        show(tb.has_preserved_node_meta())
        made = torch.fx.Transformer(g).transform()
    for node in made.graph.nodes:
        show(
            node, node.meta.get("stack_trace"), node.meta.get("nn_module_stack"), sorted(node.meta.keys() - {"seq_nr"})
        )
    show(tb.has_preserved_node_meta(), tb.get_current_meta())
    sources = list(made.graph.nodes)[1].meta["from_node"]
    show(sources[0].name, sources[0].pass_name, sources[0]._get_action_string())


def sources_of_nodes():
    from torch.fx.traceback import NodeSource, NodeSourceAction

    node = torch.fx.Graph().placeholder("x")
    source = NodeSource(node, "pass", NodeSourceAction.CREATE)
    known = {**source.to_dict(), "graph_id": 0}
    show(known, NodeSource(None).to_dict())
    show(
        NodeSource._from_dict(source.to_dict()) == source, hash(source) == hash(NodeSource._from_dict(source.to_dict()))
    )
    node.meta["from_node"] = [source]
    show(
        str(NodeSource(node, "next", [NodeSourceAction.REPLACE, NodeSourceAction.CREATE])).replace(
            str(id(node.graph)), "ID"
        )
    )
    refused(lambda: NodeSource(node, "p", "create"))


def annotations():
    import torch.fx.traceback as tb

    with tb.annotate({"a": 1}):
        show(tb.get_current_meta())
        with tb.annotate({"b": 2}):
            show(tb.get_current_meta())
        show(tb.get_current_meta())
    show(tb.get_current_meta())

    @tb.annotate_fn({"c": 1})
    def f():
        return tb.get_current_meta()["custom"]

    show(f())


def type_annotations_inside():
    from torch.fx.annotate import annotate

    def f(x):
        y = annotate(x + 1, int)
        return annotate(3, int) + y

    show(torch.fx.symbolic_trace(f).code)
    refused(torch.fx.symbolic_trace, lambda x: annotate(annotate(x + 1, int), float))


def replaced_patterns():
    def f(x, w1, w2):
        a = torch.cat([w1, w2]).sum()
        b = torch.cat([w1, w2]).sum()
        return x + a.max() + b.max()

    def pattern(w1, w2):
        return torch.cat([w1, w2]).sum()

    def replacement(w1, w2):
        return torch.stack([w1, w2])

    g = torch.fx.symbolic_trace(f)
    found = torch.fx.replace_pattern(g, pattern, replacement)
    show(g.code)
    show(found)
    g.graph.lint()


def patterns_with_several_results():
    def f(x):
        a = torch.relu(x)
        b = torch.sigmoid(x)
        return a + b

    def pattern(x):
        return torch.relu(x), torch.sigmoid(x)

    def replacement(x):
        return torch.tanh(x), torch.exp(x)

    g = torch.fx.symbolic_trace(f)
    show(len(torch.fx.replace_pattern(g, pattern, replacement)), g.code)


def patterns_that_do_not_match():
    def f(x):
        a = torch.relu(x)
        return a + torch.sigmoid(a)

    g = torch.fx.symbolic_trace(f)
    before = g.code
    show(torch.fx.replace_pattern(g, lambda x: torch.sigmoid(torch.relu(x)), lambda x: x))
    show(g.code == before)


def patterns_that_follow_each_other():
    def f(x):
        return torch.relu(torch.relu(torch.relu(x)))

    g = torch.fx.symbolic_trace(f)
    show(len(torch.fx.replace_pattern(g, lambda x: torch.relu(x), lambda x: torch.tanh(x))), g.code)
    g = torch.fx.symbolic_trace(f)
    show(len(torch.fx.replace_pattern(g, lambda x: torch.relu(torch.relu(x)), lambda x: torch.tanh(x))), g.code)


def patterns_with_modules():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)
            self.act = torch.nn.Tanh()

        def forward(self, x):
            return self.act(self.linear(x)) + 1

    class Pattern(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.linear(x)

    class Replacement(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fresh = torch.nn.Sigmoid()

        def forward(self, x):
            return self.fresh(x)

    g = torch.fx.symbolic_trace(Net())
    replacement = torch.fx.symbolic_trace(Replacement())
    show(len(torch.fx.replace_pattern(g, torch.fx.symbolic_trace(Pattern()), replacement)))
    show(g.code, [name for name, _ in g.named_modules()])


def patterns_with_literals():
    from torch.fx.subgraph_rewriter import replace_pattern_with_filters

    def f(x):
        return torch.add(x, 2) + torch.add(x, 3)

    def pattern(x):
        return torch.add(x, 7)

    def replacement(x):
        return torch.mul(x, 5)

    g = torch.fx.symbolic_trace(f)
    show(replace_pattern_with_filters(g, pattern, replacement))
    found = replace_pattern_with_filters(g, pattern, replacement, ignore_literals=True)
    show(found, g.code)


def patterns_with_filters():
    from torch.fx.subgraph_rewriter import replace_pattern_with_filters

    def f(x, y):
        return torch.add(x, 2) + torch.add(y, 2)

    def is_of_y(match, original, pattern):
        return match.placeholder_nodes[0].name == "y"

    def made(match, original, pattern):
        return torch.fx.symbolic_trace(lambda x: torch.neg(x)).graph

    g = torch.fx.symbolic_trace(f)
    show(replace_pattern_with_filters(g, lambda x: torch.add(x, 2), lambda x: torch.mul(x, 3), [is_of_y]))
    show(g.code)
    replace_pattern_with_filters(g, lambda x: torch.add(x, 2), replacement_callback=made)
    show(g.code)
    refused(lambda: replace_pattern_with_filters(g, lambda x: torch.neg(x)))


def patterns_with_other_parameters():
    g = torch.fx.symbolic_trace(lambda x, y: torch.add(x, y))
    refused(lambda: torch.fx.replace_pattern(g, lambda x, y: torch.add(x, y), lambda x: torch.neg(x)))


def matching():
    from torch.fx.passes.utils.matcher_utils import SubgraphMatcher

    graph = torch.fx.symbolic_trace(lambda x, y: torch.relu(x + y) * torch.relu(x + 1)).graph
    pattern = torch.fx.symbolic_trace(lambda a, b: torch.relu(a + b)).graph
    for match in SubgraphMatcher(pattern).match(graph):
        show(match.anchors, match.nodes_map, match.placeholder_nodes, match.returning_nodes)
    refused(lambda: SubgraphMatcher(torch.fx.Graph()))
    refused(lambda: SubgraphMatcher(torch.fx.symbolic_trace(lambda x: (x + 1, x)[1]).graph))
    show(len(SubgraphMatcher(pattern, match_output=True).match(graph)))
    show(len(SubgraphMatcher(pattern, match_placeholder=True).match(graph)))


def normalized_arguments():
    from torch.fx.operator_schemas import create_type_hint, normalize_function, normalize_module, type_matches
    from typing import List, Optional, Tuple, Union

    F = torch.nn.functional
    show(normalize_function(F.dropout, (1,)))
    show(normalize_function(F.cross_entropy, (1, 2), {"reduction": "sum"}, normalize_to_only_use_kwargs=True))
    show(normalize_function(torch.relu, (1,), normalize_to_only_use_kwargs=True))
    show(normalize_function(torch.ops.aten.clamp.default, (1,), {"max": 3}))
    show(normalize_module(torch.nn.Sequential(torch.nn.ReLU()), "0", (1,), normalize_to_only_use_kwargs=True))
    refused(normalize_module, torch.nn.Module(), "0", (1,))
    show(create_type_hint([int, int]), create_type_hint((int, bool)), create_type_hint([]), create_type_hint(int))
    pairs = [(int, int), (Union[int, str], int), (List[int], int), (List[int], List[int]), (List[int], Tuple[int, int]),
             (Optional[int], int), (int, torch.dtype), (torch.Tensor, torch.nn.Parameter), (float, int)]  # fmt: skip
    show([type_matches(*pair) for pair in pairs])
    graph = torch.fx.symbolic_trace(lambda x: F.relu(x)).graph
    show(list(graph.nodes)[1].normalized_arguments(torch.nn.Module(), normalize_to_only_use_kwargs=True))

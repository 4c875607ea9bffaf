"""Making and changing graphs by hand."""


def made_by_hand():
    graph = torch.fx.Graph()
    x = graph.placeholder("x", type_expr=torch.Tensor)
    y = graph.placeholder("y", default_value=2)
    w = graph.get_attr("layer.weight")
    z = graph.call_function(torch.add, (x, w), {"alpha": y})
    z = graph.call_method("view", (z, -1), {"size": None})
    z = graph.call_module("layer", (z,))
    graph.output((z, [x, {"a": y}]), type_expr=tuple)
    show(graph)
    show(graph.python_code("self").src)
    show(graph.python_code("root").src)
    show(sorted(graph.python_code("self").globals))
    show(len(graph.nodes), [node.op for node in graph.nodes], [node.op for node in reversed(graph.nodes)])
    graph.lint()


def names_are_unique():
    graph = torch.fx.Graph()
    for name in (
        "x",
        "x",
        "x_1",
        "x_1",
        "1a",
        "a-b",
        "",
        "for",
        "list",
        "x_0",
        "ReLU",
        "fooBar",
        "inf",
        "torch",
        "x_7",
    ):
        graph.create_node("placeholder", name or "e", name=name)
    show([(node.name, node.target) for node in graph.nodes])
    for target in (torch.relu, torch.nn.functional.relu, sum, len, torch.Tensor.add):
        show(graph.call_function(target).name)
    for target in ("__call__", "__getitem__", "_private", "toTensor", "add_"):
        show(graph.call_method(target, (graph.output_node if False else target,)).name)
    show(graph.call_module("a.b.0").name, graph.get_attr("A.b_c").name, graph.call_module("0").name)
    show(graph.create_node("call_function", torch.add, (1, 2), name="sum_3").name)
    show(graph.python_code("self").src)


def what_is_checked():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    refused(lambda: graph.create_node("placeholder", len))
    refused(lambda: graph.create_node("call_function", "add"))
    refused(lambda: graph.create_node("call_foo", "add"))
    refused(lambda: graph.create_node("call_method", "add", args=[x]))
    refused(lambda: graph.create_node("call_method", "add", kwargs=[x]))
    refused(lambda: graph.output_node())
    refused(lambda: graph.find_nodes(op="call_function"))


def erasing():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.relu, (x,))
    z = graph.call_function(torch.sin, (y,))
    refused(graph.erase_node, y)
    graph.erase_node(z)
    graph.erase_node(z)
    show(graph, x.users, y.users, z.args, y.args)
    refused(torch.fx.Graph().erase_node, y)
    graph.erase_node(y)
    show(len(graph.nodes), x.users)


def erasing_while_iterating():
    def f(x):
        a = x + 1
        b = a * 2
        x - 3
        b + 4
        return x

    graph = torch.fx.symbolic_trace(f).graph
    for node in reversed(graph.nodes):
        if node.op == "call_function" and not node.users:
            graph.erase_node(node)
    show(graph)
    for node in graph.nodes:
        if node.op == "placeholder":
            with graph.inserting_after(node):
                graph.call_function(torch.relu, (node,))
        if len(graph.nodes) > 10:
            break
    show(graph)


def inserting():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    out = graph.output(x)
    with graph.inserting_before(out):
        a = graph.call_function(torch.relu, (x,))
        b = graph.call_function(torch.sin, (a,))
    with graph.inserting_after(x):
        c = graph.call_function(torch.cos, (x,))
        d = graph.call_function(torch.tan, (x,))
    with graph.inserting_before():
        graph.placeholder("first")
    with graph.inserting_after():
        graph.call_method("last", (d,))
    show(graph)
    show(list(graph.nodes), sorted([b, a, d, c, x]))
    show(a < b, a > b, a <= a, x >= b)
    other = torch.fx.Graph().placeholder("o")
    refused(lambda: graph.inserting_before(other))
    refused(lambda: graph.inserting_after(other))
    graph.inserting_before(out)
    graph.call_function(torch.exp, (x,))
    show(list(graph.nodes))


def moving_nodes():
    def f(x, y):
        return x + y, x - y, x * y

    graph = torch.fx.symbolic_trace(f).graph
    x, y, add, sub, mul, out = graph.nodes
    add.prepend(mul)
    show(list(graph.nodes), sorted(graph.nodes))
    mul.append(sub)
    show(list(graph.nodes), sorted(graph.nodes), mul.next, mul.prev, x.prev.op, out.next.op)
    refused(torch.fx.Graph().placeholder("z").append, x)
    add.append(add)
    show(list(graph.nodes))


def replacing_uses():
    def f(x, y):
        a = x + y
        return a * 2, a.relu(a), [a, {"k": a}], x[a : a + 1]

    graph = torch.fx.symbolic_trace(f).graph
    nodes = {node.name: node for node in graph.nodes}
    a, y = nodes["add"], nodes["y"]
    a.meta["note"] = 1
    show(a.users, a.all_input_nodes, nodes["relu"].all_input_nodes)
    show(a.replace_all_uses_with(y, lambda user: user.op == "call_method"))
    show(graph)
    refused(lambda: y.replace_all_uses_with(a, propagate_meta=True))
    show(a.replace_all_uses_with(y, propagate_meta=True), y.meta, a.users, y.users)
    show(graph)
    nodes["mul"].replace_input_with(y, nodes["x"])
    show(nodes["mul"].args, nodes["x"].users)
    graph.lint()


def changing_arguments():
    graph = torch.fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    n = graph.call_function(torch.add, (x, 1), {"alpha": y})
    n.args = (y, [x, x])
    show(n.args, n.kwargs, x.users, y.users, n.all_input_nodes)
    n.update_arg(0, 3)
    n.update_kwarg("alpha", 5)
    n.update_kwarg("beta", (y,))
    show(n.args, n.kwargs, x.users, y.users)
    n.insert_arg(1, y)
    n.insert_arg(0, "s")
    show(n.args, y.users)
    refused(n.insert_arg, 7, 1)
    refused(n.update_arg, 9, 1)
    refused(n.args[-1].append, 1)
    refused(lambda: n.kwargs.update(a=1))
    n.target, n.op = "add", "call_method"
    show(graph, graph.find_nodes(op="call_method"), graph.find_nodes(op="call_function", target=torch.add))
    n.name = "other"
    show(graph)
    n._rename("x")
    show(n, n.name)


def immutable_containers():
    from torch.fx.immutable_collections import immutable_dict, immutable_list

    a, d = immutable_list([1, [2]]), immutable_dict(a=1)
    for change in (
        lambda: a.append(1), lambda: a.__setitem__(0, 1), lambda: a.pop(), lambda: a.__iadd__([1]), lambda: a.sort(),
        lambda: d.update(b=1), lambda: d.pop("a"), lambda: d.__setitem__("b", 2), lambda: d.clear(), lambda: d.setdefault(1),
    ):  # fmt: skip
        refused(change)
    import copy
    import pickle

    show(a == [1, [2]], d == {"a": 1}, a + [3], type(a + [3]).__name__, a, d, isinstance(a, list))
    show(hash(immutable_list([1, 2])) == hash((1, 2)), {immutable_dict(a=1): 2})
    for value in (immutable_list([1]), d):
        for made in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            show(type(made).__name__, made)
    from torch.utils import _pytree

    leaves, spec = _pytree.tree_flatten(immutable_list([1, immutable_dict(b=2)]))
    show(leaves, spec, type(_pytree.tree_unflatten(leaves, spec)).__name__)


def mapping_arguments():
    from torch.fx.node import map_aggregate, map_arg
    from collections import namedtuple

    P = namedtuple("P", "a b")
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    value = (x, [x, 1], {"k": x}, slice(x, None, 2), P(x, 3), "s")
    show(map_arg(value, lambda node: node.name))
    show(map_aggregate(value, lambda leaf: [leaf]))
    show([type(each).__name__ for each in map_arg(value, lambda node: node)])
    refused(lambda: map_arg(value, 3))
    show(torch.fx.map_arg is map_arg)


def dead_code():
    def f(x):
        a = x + 1
        b = a * 2
        x.add_(1)
        torch._assert(x, "text")
        torch.relu(x)
        torch.rand(3)
        torch.nn.functional.dropout(x)
        return x

    g = torch.fx.symbolic_trace(f)
    show(g.graph.eliminate_dead_code(), g.graph)
    show(g.graph.eliminate_dead_code())
    g = torch.fx.symbolic_trace(f)
    show(g.graph.eliminate_dead_code(is_impure_node=lambda node: node.op != "call_function"), g.graph)


def dead_modules():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(1, 1)
            self.b = torch.nn.Linear(1, 1)
            self.b._is_impure = True
            self.w = torch.nn.Parameter(torch.ones(1))

        def forward(self, x):
            self.a(x), self.b(x)
            self.w + 1
            return x

    g = torch.fx.symbolic_trace(Net())
    show(g.graph.eliminate_dead_code(), g.graph)
    g.delete_all_unused_submodules()
    show([name for name, _ in g.named_modules()], list(g.state_dict()))


def side_effects():
    def note(x):
        return None

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.call_function(note, (x,))
    n = graph.call_function(torch.fx.has_side_effect(lambda x: x), (x,))
    s = graph.call_function(__import__("operator").setitem, (x, 0, 1))
    graph.output(x)
    show(n.is_impure(), s.is_impure(), x.is_impure())
    graph.eliminate_dead_code()
    show([node.op for node in graph.nodes])


def impure_overloads():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    aten = torch.ops.aten
    for target in (aten.add.Tensor, aten.add_.Tensor, aten.bernoulli.default, aten.native_dropout.default, aten.relu):
        node = graph.call_function(target, (x,))
        show(node.is_impure(), node.is_impure(impure_random=False))


def lint_errors():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_function(torch.relu, (x,))
    graph.output(y)
    y.append(x)
    refused(graph.lint)
    y.prepend(x)
    graph.lint()
    other = torch.fx.Graph()
    other.call_function(torch.relu, (x,))
    refused(other.lint)
    z = graph.call_function(torch.relu, (x,))
    z._rename("fine")
    z.name = "x"
    refused(graph.lint)


def lint_of_modules():
    graph = torch.fx.Graph()
    graph.output(graph.call_module("a.b", (graph.placeholder("x"),)))
    g = torch.fx.GraphModule({"a.b": torch.nn.ReLU()}, graph)
    graph.lint()
    show([name for name, _ in g.named_modules()])
    del g.a.b
    refused(graph.lint)
    g.a.b = 3
    refused(graph.lint)
    del g.a
    refused(graph.lint)
    refused(lambda: torch.fx.GraphModule({}, graph))
    refused(lambda: torch.fx.GraphModule(3, graph))


def copying_graphs():
    def f(x):
        return {"a": torch.relu(x) + 1}

    import copy

    graph = torch.fx.symbolic_trace(f).graph
    list(graph.nodes)[1].meta["note"] = [1]
    made = copy.deepcopy(graph)
    show(made, [node.meta for node in made.nodes], made.owning_module, made._tracer_cls.__name__)
    new = torch.fx.Graph()
    values = {}
    result = new.graph_copy(graph, values)
    show(new, result, values)
    new = torch.fx.Graph()
    x = new.placeholder("y")
    show(new.graph_copy(graph, {list(graph.nodes)[0]: x}), new)
    show(new.graph_copy(graph, {list(graph.nodes)[0]: x}, return_output_node=True))
    node = new.node_copy(list(graph.nodes)[1], lambda node: x)
    show(node, node.args, node.meta)


def finding_nodes():
    def f(x):
        return torch.relu(x) + torch.relu(x + 1).sum() + x.sum()

    graph = torch.fx.symbolic_trace(f).graph
    show(graph.find_nodes(op="call_function", target=torch.relu))
    show(graph.find_nodes(op="call_method", target="sum"), graph.find_nodes(op="call_method"))
    show(graph.find_nodes(op="placeholder"), graph.find_nodes(op="placeholder", target="z"))
    show(graph.find_nodes(op="output", sort=False))


def nodes_print():
    graph = torch.fx.Graph()
    x = graph.placeholder("x", type_expr=int)
    y = graph.placeholder("y", default_value=3)
    w = graph.get_attr("w", type_expr=torch.Tensor)
    nodes = [
        x, y, w, graph.call_function(torch.add, (x, [y, (w,)]), {"a": {"b": x}}), graph.call_method("foo", (x, "s", None)),
        graph.call_module("m", (x, slice(1, x), 2.5, torch.float32, True)), graph.output([x], type_expr=list),
    ]  # fmt: skip
    for node in nodes:
        show(node.format_node(), repr(node), str(node))
    show(nodes[3].format_node(include_tensor_metadata=True))
    nodes[3].meta["val"] = torch.ones(2, 3)
    show(nodes[3].format_node(include_tensor_metadata=True))
    show(graph)


def pretty_targets():
    import math
    import operator

    graph = torch.fx.Graph()
    targets = [
        torch.add, torch.nn.functional.relu, torch.nn.functional.linear, operator.add, operator.getitem, getattr, len,
        math.sqrt, torch.ops.aten.add.Tensor, torch.ops.aten.add, torch.Tensor.add, torch.linalg.inv, torch.Size,
        torch.nn.functional.max_pool2d, torch.einsum, torch.fft.fft, torch.nn.functional.conv2d, torch._assert,
    ]  # fmt: skip
    for target in targets:
        show(graph.call_function(target, (1, 2)).format_node())
    show(graph.python_code("self").src)


def tables():
    def f(x, y):
        return (x + y).relu() * 2

    refused(torch.fx.symbolic_trace(f).graph.print_tabular)  # where tabulate is not installed; a table elsewhere


def special_values_in_code():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    values = (
        float("inf"), -float("inf"), float("nan"), None, ..., 1j, True, "q'u\"o", torch.float32, torch.device("cpu"),
        torch.strided, torch.channels_last, torch.Size([1, 2]), slice(None, 2), range(3), (1,), (), [], {},
        torch.ops.aten.add.Tensor, type(None), torch.ones(2),
    )  # fmt: skip
    for value in values:
        graph.call_function(torch.foo if hasattr(torch, "foo") else torch.add, (x, value))
    graph.output(x)
    show(graph.python_code("self").src)


def fields_that_are_no_identifiers():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    a = graph.get_attr("layers.0.weight")
    b = graph.call_module("a-b.c", (x,))
    c = graph.call_function(getattr, (x, "a b"))
    d = graph.call_function(getattr, (x, "shape"))
    e = graph.call_function(getattr, (x, "shape", None))
    f = graph.call_method("0", (x,))
    graph.output((a, b, c, d, e, f))
    show(graph.python_code("self").src)


def operators_in_place():
    import operator

    graph = torch.fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    for name in ("iadd", "isub", "imul", "itruediv", "ipow", "iand", "ilshift", "imatmul"):
        graph.call_function(getattr(operator, name), (x, y))
    graph.call_function(operator.setitem, (x, 0, y))
    graph.call_function(operator.not_, (x,))
    graph.call_function(operator.contains, (x, 1))
    graph.output(x)
    show(graph.python_code("self").src)


def code_is_transformed():
    def f(x):
        return torch.relu(x) + 1

    g = torch.fx.symbolic_trace(f)

    def loud(body):
        return ["print('called')\n", *body]

    with g.graph.on_generate_code(lambda before: loud):
        g.recompile()
        show(g.code)
    show(g(torch.ones(1)))
    g.recompile()
    show(g.code)
    g.graph.on_generate_code(lambda before: (lambda body: loud(before(body) if before else body)))
    g.recompile()
    show(g.code)


def own_code_generators():
    class Listed(torch.fx.graph.CodeGen):
        def gen_fn_def(self, free_vars, maybe_return_annotation):
            return f"def forward(self, args_list){maybe_return_annotation}:\n    {', '.join(free_vars)}, = args_list"

        def additional_globals(self):
            return [("List", list)]

        def process_inputs(self, *inputs):
            return inputs[0]

        def process_outputs(self, out):
            return [out]

        def generate_output(self, output_args):
            return f"return [{output_args!r}]"

    def f(x, y):
        return x + y

    g = torch.fx.symbolic_trace(f)
    g.graph.set_codegen(Listed())
    g.recompile()
    show(g.code)
    show(g([1, 2]), torch.fx.Interpreter(g).run([1, 2]))
    import copy

    show(copy.deepcopy(g).code)


def boxed_code():
    def f(x, y=2):
        return x + y

    g = torch.fx.symbolic_trace(f)
    g.graph.set_codegen(torch.fx.graph._BoxedCodeGen())
    g.recompile()
    show(g.code)
    values = [1, 2]
    show(g(values), values, g._boxed_call)


def expanded_heads():
    def f(x: int, y=2):
        return x + y, y

    g = torch.fx.symbolic_trace(f)
    list(g.graph.nodes)[0].meta["desc"] = "the first"
    g.graph.output_node().meta["desc"] = ["sum", "second"]
    show(g.graph.python_code("self", expanded_def=True).src)
    show(g.print_readable(print_output=False, expanded_def=True))


def line_numbers():
    def f(x):
        a = x + 1
        return a * 2

    g = torch.fx.symbolic_trace(f)
    code = g.graph.python_code("self")
    show(code._lineno_map, code._prologue_start, g._lineno_map)


def readable():
    def f(x):
        a = torch.relu(x)
        return a + 1

    g = torch.fx.symbolic_trace(f)
    nodes = list(g.graph.nodes)
    nodes[1].meta["val"] = torch.ones(2, 3)
    nodes[2].stack_trace = 'File "a.py", line 3, in forward\n    a + 1\n'
    nodes[2].meta["custom"] = {"k": "v" * 50}
    nodes[0].meta["tensor_meta"] = torch.zeros(2, dtype=torch.int64)
    g.print_readable()
    show(g.print_readable(print_output=False, include_stride=True, include_device=True))
    show(g.print_readable(print_output=False, colored=True))
    show(g.print_readable(print_output=False, additional_meta=["custom"]))


def readable_with_submodules():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.fx.symbolic_trace(lambda x: x + 1)

        def forward(self, x):
            return self.inner(x)

    class T(torch.fx.Tracer):
        def is_leaf_module(self, m, name):
            return True

    net = Net()
    g = torch.fx.GraphModule(net, T().trace(net), "Outer")
    g.print_readable()
    show(g)

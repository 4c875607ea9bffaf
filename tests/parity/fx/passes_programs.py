"""Passes over graphs."""


def shapes():
    from torch.fx.passes.shape_prop import ShapeProp, TensorMetadata, _extract_tensor_metadata

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(3, 4)
            self.w = torch.nn.Parameter(torch.ones(4))

        def forward(self, x):
            y = (self.a(x) * self.w).relu()
            return torch.max(y, 1), y.T, y.shape[0], [y.sum()]

    g = torch.fx.symbolic_trace(Net())
    ShapeProp(g).propagate(torch.ones(2, 3))
    for node in g.graph.nodes:
        show(node, node.meta.get("type").__name__, node.meta.get("tensor_meta"))
    show(_extract_tensor_metadata(torch.ones(1, 2, 3, 4).to(memory_format=torch.channels_last)))
    show(TensorMetadata._fields, TensorMetadata.__name__)
    g.print_readable()
    import contextlib
    import io

    with contextlib.redirect_stderr(io.StringIO()):
        refused(ShapeProp(torch.fx.symbolic_trace(lambda x: x.nope())).propagate, torch.ones(1))


def splitting():
    from torch.fx.passes.split_module import split_module

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = torch.nn.Parameter(torch.ones(3))
            self.a = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())

        def forward(self, x, y=2):
            z = self.a(x + self.w)
            q = torch.sin(z) * y
            return q + z + self.a[0].weight, x

    torch.manual_seed(0)
    net = Net()
    x = torch.ones(1, 3)
    for options in ({}, {"keep_original_order": True}, {"keep_original_node_name": True}, {"keep_original_input_name": False},
                    {"partition_affix": "p"}, {"tuple_return": True}):  # fmt: skip
        g = torch.fx.symbolic_trace(net)
        count = iter(range(100))
        names = {}
        made = split_module(g, net, lambda node: next(count) // 3, names, **options)
        show(made.graph)
        for name, child in made.named_children():
            if isinstance(child, torch.fx.GraphModule):
                show(name, child.code)
        show(sorted(names.items()), sorted(made.meta["partition_names"]), torch.equal(made(x)[0], g(x)[0]))


def splitting_in_cycles():
    from torch.fx.passes.split_module import split_module

    g = torch.fx.symbolic_trace(lambda x: ((x + 1) * 2) - 3)
    parts = {"add": 0, "mul": 1, "sub": 0}
    refused(lambda: split_module(g, g, lambda node: parts[node.name]))


def splitting_by_tags():
    from torch.fx.passes.split_utils import split_by_tags

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = (torch.nn.Linear(2, 2) for _ in range(3))
            self.w = torch.nn.Parameter(torch.ones(2))

        def forward(self, x, y):
            p = self.a(x)
            q = self.b(y)
            r = p + q * self.w
            return self.c(r), p

    g = torch.fx.symbolic_trace(Net())
    tags = {"a": "red", "b": "blue", "mul": "green", "add": "green", "c": "green"}
    for node in g.graph.nodes:
        if node.name in tags:
            node.tag = tags[node.name]
    made, names = split_by_tags(g, ["red", "blue", "green"], return_fqn_mapping=True)
    show(made.graph, names)
    for name, child in made.named_children():
        show(name, child.code)
    show(split_by_tags(g, ["red", "blue", "green"], return_tuple=True).code)
    refused(lambda: split_by_tags(g, ["green", "blue", "red"]))


def partitions():
    from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner, Partition
    from torch.fx.passes.operator_support import OperatorSupport, create_op_support

    def f(a, b):
        c = torch.relu(a + b)
        d = torch.sin(c)
        e = torch.cos(c) * 2
        h = torch.relu(d) + torch.relu(e)
        return h, torch.max(h, 0)[0]

    support = create_op_support(lambda modules, node: node.op == "call_function" and node.name not in ("sin", "max_1"))
    for single in (False, True):
        g = torch.fx.symbolic_trace(f)
        partitioner = CapabilityBasedPartitioner(g, support, allows_single_node_partition=single)
        found = partitioner.propose_partitions()
        show(sorted(sorted(node.name for node in each.nodes) for each in found))
        fused = partitioner.fuse_partitions(found)
        show(fused.graph)
        show(len(fused(torch.ones(2), torch.ones(2))))
    show(Partition(1, [1, 2]).size())


def partitions_with_dictionaries():
    from torch.fx.passes.operator_support import OperatorSupport, OpSupports, any_chain, chain
    from torch.fx.passes.shape_prop import ShapeProp

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(2, 2)

        def forward(self, x):
            return torch.relu(self.a(x)).neg()

    g = torch.fx.symbolic_trace(Net())
    ShapeProp(g).propagate(torch.ones(1, 2))
    modules = dict(g.named_modules())
    floats = OperatorSupport({"torch.nn.modules.linear.Linear": None, "torch.relu": ([[torch.int64]], {})})
    names = OpSupports.decline_if_node_in_names({"a"})
    dtypes = OpSupports.decline_if_input_dtype(torch.float32)
    for support in (floats, names, dtypes, chain(floats, names), any_chain(floats, names)):
        show([support.is_node_supported(modules, node) for node in g.graph.nodes])


def pass_managers():
    from torch.fx.passes.infra.pass_base import PassBase, PassResult
    from torch.fx.passes.infra.pass_manager import PassManager, pass_result_wrapper, this_before_that_pass_constraint

    class AddToMul(PassBase):
        def call(self, module):
            changed = False
            for node in module.graph.nodes:
                if node.target == torch.add:
                    node.target, changed = torch.mul, True
            return PassResult(module, changed)

        def requires(self, module):
            show("requires")

        def ensures(self, module):
            show("ensures")

    def other(module):
        show("other")

    g = torch.fx.symbolic_trace(lambda x: torch.add(x, 1))
    wrapped = pass_result_wrapper(other)
    one = AddToMul()
    manager = PassManager(passes=[one, wrapped], steps=3)
    result = manager(g)
    show(result.graph_module.code, result.modified)
    manager = PassManager(
        [one, wrapped], [this_before_that_pass_constraint(wrapped, one)], run_checks_after_each_pass=True
    )
    manager.add_checks(lambda module: show("checked"))
    manager(g)
    refused(manager.add_checks, lambda a, b: 1)
    bad = PassManager(
        [one, wrapped], [this_before_that_pass_constraint(wrapped, one), this_before_that_pass_constraint(one, wrapped)]
    )
    try:
        bad(g)
    except RuntimeError as error:
        show(str(error).split(":")[0])
    try:
        PassManager([lambda module: 3])(g)
    except Exception as error:
        show(str(error).replace("<lambda>", "L"), type(error.__cause__).__name__)


def orders():
    from torch.fx.passes.tools_common import get_node_target, legalize_graph, stable_topological_sort

    for sort in (legalize_graph, stable_topological_sort):
        g = torch.fx.symbolic_trace(lambda x, y: torch.relu(x) + torch.sin(y) * 2)
        nodes = list(g.graph.nodes)
        nodes[2].prepend(nodes[4])
        nodes[0].prepend(nodes[3])
        show(g.graph)
        sort(g)
        show(g.graph)
        g.graph.lint()
    net = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(1, 1)))
    modules = dict(net.named_modules())
    show(get_node_target(modules, list(net.graph.nodes)[-2]), get_node_target(modules, list(g.graph.nodes)[3]))
    refused(get_node_target, modules, list(net.graph.nodes)[-1]) if False else None


def sources():
    from torch.fx.passes.utils.source_matcher_utils import check_subgraphs_connected, get_source_partitions

    g = torch.fx.symbolic_trace(lambda x: torch.sin(torch.relu(x) + 1))
    nodes = list(g.graph.nodes)
    nodes[1].meta["source_fn_stack"] = [("relu", torch.relu)]
    nodes[2].meta["source_fn_stack"] = [("block", torch.add)]
    nodes[3].meta["source_fn_stack"] = [("block", torch.add)]
    found = get_source_partitions(g.graph, [torch.relu, torch.add])
    relu, block = found[torch.relu][0], found[torch.add][0]
    for each in (relu, block):
        show(each.nodes, each.input_nodes, each.output_nodes, each.params)
    show(check_subgraphs_connected(relu, block), check_subgraphs_connected(block, relu))
    show(list(get_source_partitions(g.graph, [torch.relu], filter_fn=lambda node: False).values()))


def comparing_graphs():
    from torch.fx.passes.utils import HolderModule, compare_graphs, lift_subgraph_as_module

    a = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1).graph
    b = torch.fx.symbolic_trace(lambda y: torch.relu(y) + 1).graph
    c = torch.fx.symbolic_trace(lambda y: torch.relu(y) + 2).graph
    show(compare_graphs(a, b), compare_graphs(a, c))
    show(HolderModule({"a": torch.nn.ReLU()}))
    g = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU()))
    made, names = lift_subgraph_as_module(g, g.graph, "part", "Lifted")
    show(made, names)


def types_of_items():
    from typing import List, NamedTuple, Tuple

    from torch.fx.passes.annotate_getitem_nodes import annotate_getitem_nodes

    def f(a: Tuple[int, torch.Tensor], b: List[float], c: tuple[int, ...], d: list[str]):
        return a[0], a[1], b[0], c[5], d[0]

    g = torch.fx.symbolic_trace(f)
    annotate_getitem_nodes(g.graph)
    g.recompile()
    show(g.code)


def fused_norms():
    from torch.fx.experimental.optimization import extract_subgraph, fuse, remove_dropout

    net = torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 1), torch.nn.BatchNorm2d(2), torch.nn.ReLU(), torch.nn.Dropout()
    ).eval()
    made = fuse(net)
    show(made.code, [type(module).__name__ for module in made.modules()][1:])
    x = torch.ones(1, 1, 2, 2)
    show(torch.allclose(made(x), net(x)))
    show(remove_dropout(net).code)
    g = torch.fx.symbolic_trace(net)
    nodes = list(g.graph.nodes)
    show(extract_subgraph(g, nodes[2:4], nodes[1:2], nodes[3:4]).code)


def folded_constants():
    from torch.fx.experimental.const_fold import get_unique_attr_name_in_module, split_const_subgraphs

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Parameter(torch.ones(2))
            self.b = torch.nn.Parameter(torch.ones(2))

        def forward(self, x):
            c = self.a + self.b
            d = c * 2
            return x * d + self.a, torch.sin(c)

    made = split_const_subgraphs(Net())
    show(made.code)
    show(made.const_subgraph_module.code)
    show(made(torch.ones(2)), made.has_folding_been_run)
    show(made(torch.ones(2)))
    plain = split_const_subgraphs(torch.nn.Sequential(torch.nn.ReLU()))
    show(plain.code, plain.const_subgraph_module)
    show(get_unique_attr_name_in_module(made, "a"), get_unique_attr_name_in_module(made, "1-x"))


def normalized_graphs():
    from torch.fx.experimental.normalize import NormalizeArgs

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.Linear(1, 1)

        def forward(self, x):
            return torch.nn.functional.dropout(self.a(x) + 1, 0.5) * 3

    g = torch.fx.symbolic_trace(Net())
    show(NormalizeArgs(g).transform().code)


def attributes_for_lowering():
    from torch.fx.passes.param_fetch import extract_attrs_for_lowering, lift_lowering_attrs_to_nodes

    show(sorted(extract_attrs_for_lowering(torch.nn.Conv2d(1, 1, 1))), extract_attrs_for_lowering(torch.nn.ReLU()))
    g = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.MaxPool2d(2)))
    lift_lowering_attrs_to_nodes(g)
    show(list(g.graph.nodes)[1].attrs_for_lowering)


def replaced_targets():
    from torch.fx.passes.graph_manipulation import get_size_of_all_nodes, replace_target_nodes_with

    g = torch.fx.symbolic_trace(lambda x: torch.add(x, 1))
    replace_target_nodes_with(g, "call_function", torch.add, "call_function", torch.mul)
    show(g.code)
    net = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 3)))
    get_size_of_all_nodes(net, [torch.ones(1, 2)])
    show([node.size_bytes for node in net.graph.nodes if node.op != "output"])


def patterns_with_names():
    from torch.fx.passes.utils.matcher_with_name_node_map_utils import SubgraphMatcherWithNameNodeMap

    PH = torch.fx.PH

    def pattern(x, pair):
        y = torch.relu(x)
        return y + pair[0], {"act": y}

    found = torch.fx.symbolic_trace(pattern, concrete_args={"pair": (PH,)})
    matcher = SubgraphMatcherWithNameNodeMap(found)
    g = torch.fx.symbolic_trace(lambda a, b: torch.sin(torch.relu(a) + b))
    show([match.name_node_map for match in matcher.match(g.graph)])

"""`torch.fx`: programs as graphs that Python code can read, change and run again.

`symbolic_trace` runs a module or function on stand-ins (`Proxy`) that note every call as a `Node` of a `Graph`; a
`GraphModule` is a module whose `forward` is Python code generated from such a graph.
"""

from mindtorch.fx import immutable_collections as immutable_collections
from mindtorch.fx._symbolic_trace import PH as PH
from mindtorch.fx._symbolic_trace import ProxyableClassMeta as ProxyableClassMeta
from mindtorch.fx._symbolic_trace import Tracer, symbolic_trace, wrap
from mindtorch.fx.graph import CodeGen as CodeGen
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.interpreter import Interpreter, Transformer
from mindtorch.fx.node import Node, has_side_effect, map_arg
from mindtorch.fx.proxy import Proxy
from mindtorch.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "has_side_effect", "map_arg",
    "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip

"""What passes share: matching and replacing parts of graphs."""

from mindtorch.fx.passes.utils.common import HolderModule as HolderModule
from mindtorch.fx.passes.utils.common import compare_graphs as compare_graphs
from mindtorch.fx.passes.utils.common import lift_subgraph_as_module as lift_subgraph_as_module

"""The graph and its engine: nodes, histories, saved tensors, hooks, the backward pass."""

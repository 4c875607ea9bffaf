"""Automatic differentiation: the graph, the engine that runs it, and what users call."""

"""Ops that are written in other ops: no kernel, no autograd node of their own."""

"""Runs both states of a change on the same samples and compares what comes out: ``python -m codegen diff BASE --run``.

Only this package executes what it compares, each state in a process of its own, from a checkout in a temporary folder.
"""

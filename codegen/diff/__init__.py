"""The schema diff: what a change of the two YAML files does to callers, gradients, memory and backends."""

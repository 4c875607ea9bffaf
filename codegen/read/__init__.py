"""From YAML to the model: entries of ops.yaml and derivatives.yaml, schemas and formulas, parsed and checked."""

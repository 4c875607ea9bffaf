"""What users call and is not an op: creation, indexing, printing, comparison, searching."""

"""The rules for entries beside each other and beside the hand-written sources: what is reported as an error."""

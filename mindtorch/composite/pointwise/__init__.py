"""The pointwise ops that are written in other ops."""

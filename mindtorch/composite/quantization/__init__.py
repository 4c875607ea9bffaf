"""The quantization ops that are written in other ops."""

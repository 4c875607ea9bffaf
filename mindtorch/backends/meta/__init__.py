"""The meta backend: shapes, strides and dtypes without data."""

"""The resampling ops that are written in other ops."""

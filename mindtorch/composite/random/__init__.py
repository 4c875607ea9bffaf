"""The random ops that are written in other ops."""

"""The recurrent ops that are written in other ops."""

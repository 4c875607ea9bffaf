"""The loss ops that are written in other ops."""

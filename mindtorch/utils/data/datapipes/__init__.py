"""Datasets that are made of others step by step, each of which a method of the one before makes."""

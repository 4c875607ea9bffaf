"""What PyTorch has and this library has not: names that can be imported, and refuse when they are used.

`import` finds a module of PyTorch's that is no file here as a `StandIn` (`finder`), whose names are made when they
are looked up (`making`): from the table of PyTorch's names, and the texts in `reasons`. What PyTorch has in several
places is taken from the one that is here, if there is any.
"""

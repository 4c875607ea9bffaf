"""Functions of NumPy without its question whether an argument wants to do the work itself (`__array_function__`).

For a few elements the question is more than half of the price. Arrays of other backends do want it, to refuse in words
of their own: where one may stand, who gets a TypeError here asks NumPy's own function.
"""

import numpy as np

concatenate = getattr(np.concatenate, "_implementation", np.concatenate)
copyto = getattr(np.copyto, "_implementation", np.copyto)
may_share_memory = getattr(np.may_share_memory, "_implementation", np.may_share_memory)

"""Functions of NumPy without its question whether an argument wants to do the work itself (`__array_function__`).

None of our arrays does, and for a few elements the question is more than half of the price.
"""

import numpy as np

concatenate = getattr(np.concatenate, "_implementation", np.concatenate)
copyto = getattr(np.copyto, "_implementation", np.copyto)
may_share_memory = getattr(np.may_share_memory, "_implementation", np.may_share_memory)

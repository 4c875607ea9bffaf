"""Rows that are added to those that an index means: the name of the kernel, and what it is as a `np.ufunc`.

It reads its result, too, which NumPy does not know: who calls it sees to it that the memory is handed on as it is.
"""

ADD_ROWS = "add_rows"
SIGNATURE = "(m),(m,k)->(n,k)"  # the index, the rows, and what they are added to

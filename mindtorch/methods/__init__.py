"""The methods of Tensor that are written by hand and need the layers above `mindtorch.tensor`.

Importing a module of this package puts its methods on the class (`extend_tensor`).
"""

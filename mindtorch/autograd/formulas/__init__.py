"""The helpers that derivatives.yaml calls: the parts of gradient formulas that do not fit on a line.

A new helper goes into the folder of its op's family, or into common.py if several families use it; the generator finds
it there. Everything here works on tensors with tensor methods and ops, so that every formula can be differentiated
again. Arguments follow the op's schema; `grad` may be None only where several outputs have gradients. Source: calculus.
"""

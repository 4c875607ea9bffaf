"""Operators whose arguments are functions."""

from mindtorch._functions.control_flow import cond as cond
from mindtorch._functions.control_flow import while_loop as while_loop
from mindtorch._higher_order_ops.associative_scan import associative_scan as associative_scan
from mindtorch._higher_order_ops.out_dtype import out_dtype as out_dtype

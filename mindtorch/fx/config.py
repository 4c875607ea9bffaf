"""Switches of `torch.fx`."""

disable_progress = True  # nothing draws a bar of progress here
verbose_progress = False
do_not_emit_stack_traces = False

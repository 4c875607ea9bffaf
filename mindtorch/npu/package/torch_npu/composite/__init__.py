"""The functions behind the ops, in ops of mindtorch."""

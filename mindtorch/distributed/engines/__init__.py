"""What moves the data of process groups: an engine has communicators, and a process group has one of them."""

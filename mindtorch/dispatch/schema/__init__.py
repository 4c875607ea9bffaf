"""What an op is: its schema, its tags, and the forms that it had before."""

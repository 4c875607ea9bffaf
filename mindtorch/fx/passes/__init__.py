"""What is done to graphs: shapes, partitions, pictures."""

"""What training by several processes is made of: inputs of different length, and hooks of the communication."""

"""What the composite ops of several families share."""

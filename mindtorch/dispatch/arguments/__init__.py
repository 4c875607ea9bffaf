"""What a call is given: conversions, the order of overloads, and torch's texts for errors."""

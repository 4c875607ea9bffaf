"""The documentation, and in builder/ what makes a site of it."""

"""Training questions, their labels, and the base policy: everything that a cell learns from."""

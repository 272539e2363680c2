"""A comparison as a table and as text, from its figures alone."""

"""What can be asked: the query of a link, its fields and metrics, and the records of rows."""

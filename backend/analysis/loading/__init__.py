"""From PostgreSQL: the rows a query selects, and what is kept of them between requests."""

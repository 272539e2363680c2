"""Django's backend for PostgreSQL, with a cheaper look at a connection (the setting ENGINE)."""

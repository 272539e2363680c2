"""From a finished trial to a stored upload: envelope, spool, redaction and delivery."""

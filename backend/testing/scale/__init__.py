"""One machine plays several: web, worker and beat machines that share no disk."""

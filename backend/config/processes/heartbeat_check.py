"""`python -m backend.config.processes.heartbeat_check worker`: a container's health check."""

import sys

from backend.config.environment.environment import text
from backend.config.processes.heartbeat import check

if __name__ == "__main__":
    sys.exit(check(sys.argv[1], text("DATABASE_URL", "the PostgreSQL to use", is_secret=True)))

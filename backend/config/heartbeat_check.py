"""`python -m backend.config.heartbeat_check worker`: a container's health check."""

import os
import sys

from backend.config.heartbeat import check

if __name__ == "__main__":
    sys.exit(check(sys.argv[1], os.environ["DATABASE_URL"]))

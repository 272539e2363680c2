"""Prints docs/checks.md."""

import sys

from backend.runs.checks.page import as_markdown

sys.stdout.write(as_markdown())

"""What other packages may learn of, inside the transaction in which it happens."""

from __future__ import annotations

from django.dispatch import Signal

# A run is complete and stored. Argument: run_id.
run_read = Signal()

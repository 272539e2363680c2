"""What other packages may learn of, inside the transaction in which it happens."""

from django.dispatch import Signal

# Runs of one workspace are complete and stored. Arguments: workspace_id, run_ids.
runs_read = Signal()

"""What other packages may learn of, inside the transaction in which it happens."""

from django.dispatch import Signal

# A member left a workspace or was removed. Arguments: workspace_id, user_id.
member_left = Signal()

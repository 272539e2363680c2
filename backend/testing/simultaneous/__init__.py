"""Destructive acts beside everything that writes: no deadlock, no 5xx, nothing left or lost."""

"""Exporting everything of a workspace as one archive, and importing it into a new workspace."""

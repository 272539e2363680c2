"""Cells grouped into series and points, with the figures of each point."""

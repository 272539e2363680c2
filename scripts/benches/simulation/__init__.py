"""Trials with a known truth, and how often the statistics say it."""

"""Alerts: rules over what was measured, what they noticed, and what members said of it."""

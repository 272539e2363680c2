"""This machine: its facts, its clock, and what would spoil a measurement on it."""

"""Carrying out a plan: servers, load tools, samples, and the record of what happened."""

"""Reads the results of other benchmark projects into envelopes, without judging their figures."""

"""Trials made by simulation, and the outputs that load tools would print of them."""

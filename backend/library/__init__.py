"""The library: published benchmarks as data, their servers, and the workspace that shows them."""

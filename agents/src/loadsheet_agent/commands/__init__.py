"""One module per command; each has `run(arguments) -> Exit`. Imported only when asked for."""

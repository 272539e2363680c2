"""What single pages show beside comparisons: front page, run, trial, session."""

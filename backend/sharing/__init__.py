"""Links that are cited: freezing and saving comparisons, reading, changing and drawing them."""

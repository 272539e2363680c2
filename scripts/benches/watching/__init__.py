"""What scripts/bench watch measures: builds held against their history, and nights of alerts."""

"""What may be said of the series: comparability, ranking, saturation, capacity, trend."""

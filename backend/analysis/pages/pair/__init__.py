"""Two runs, or two versions of a server, side by side: what differs, and by how much."""

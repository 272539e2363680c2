"""The plan: from TOML text to the trials it asks for."""

"""Messages to people and programs outside: channels, a durable queue, and how each is sent."""

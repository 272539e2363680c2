"""The socket of the web processes, for who starts them: it loads nothing of the web server."""

import socket

BACKLOG = 1024
# For so long a web process that was told to stop answers what it has read, and keeps the socket.
STOP_S = 25


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on this address; raises OSError."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(BACKLOG)
    return listener

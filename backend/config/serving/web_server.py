"""Settings of gunicorn, the web server.

It starts as `gunicorn --config=python:backend.config.serving.web_server`.

Gunicorn reads requests, holds clients to these limits, leaves the body out of answers to HEAD, and
ends by SIGTERM once it has answered what it had read. It runs `backend.config.serving.asgi`.
"""

import resource
import socket
from typing import Any

from backend.config.site.commands import BACKLOG, STOP_S
from backend.untrusted.limits import HEADER_FIELDS, HEADER_LINE_BYTES, SLOW_AFTER_S

wsgi_app = "backend.config.serving.asgi:application"
worker_class = "asgi"
asgi_lifespan = "off"
asgi_loop = "asyncio"
# Of the first line of a request and of each field of its header, and the number of fields.
limit_request_line = limit_request_field_size = HEADER_LINE_BYTES
limit_request_fields = HEADER_FIELDS
# Seconds: how long a connection may be idle, the rest of a body may be silent, and a stop may take.
# A proxy must let go of idle connections before.
keepalive = 60
timeout = SLOW_AFTER_S
graceful_timeout = STOP_S
backlog = BACKLOG
loglevel = "warning"
# A request of a client that went away takes no thread any more.
asgi_disconnect_grace_period = 0
# Gunicorn believes no header about the client. Django does where TRUST_PROXY is set.
forwarded_allow_ips = ""
control_socket_disable = True

# A connection takes a file descriptor, and so does its body; many systems allow 1,024 unless a
# process asks for more.
_, _most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (_most, _most))
# Bytes of an answer that the system keeps for a slow reader, where it would keep up to 4 MiB.
SEND_BUFFER_BYTES = 64 << 10


def when_ready(server: Any) -> None:
    """Gunicorn calls this when it listens; connections inherit the buffer."""
    for listener in server.LISTENERS:
        listener.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)

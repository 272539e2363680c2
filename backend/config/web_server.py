"""Settings of gunicorn, the web server: `gunicorn --config=python:backend.config.web_server`.

Gunicorn reads requests, holds clients to these limits, leaves the body out of answers to HEAD, and
ends by SIGTERM once it has answered what it had read. `backend.config.asgi` is what it runs.
"""

import resource

from backend.config.listening import BACKLOG, STOP_S

wsgi_app = "backend.config.asgi:application"
worker_class = "asgi"
asgi_lifespan = "off"
asgi_loop = "asyncio"
# Of the first line of a request and of each field of its header, and the number of fields.
limit_request_line = limit_request_field_size = 32 << 10
limit_request_fields = 100
# Seconds: how long a connection may be idle, the rest of a body may be silent, and a stop may take.
# A proxy must let go of idle connections before.
keepalive = 60
timeout = 120
graceful_timeout = STOP_S
backlog = BACKLOG
loglevel = "warning"
# Gunicorn believes no header about the client. Django does where TRUST_PROXY is set.
forwarded_allow_ips = ""
control_socket_disable = True

# A connection takes a file descriptor, and so does its body; many systems allow 1,024 unless a
# process asks for more.
_, _most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (_most, _most))

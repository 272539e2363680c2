"""The WSGI application."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.config.settings")

application = get_wsgi_application()

# The views are imported now rather than at the first request. Then all that was imported is kept
# out of the collector's sight: walking through it stopped a request for 60 to 100 ms. A request
# itself leaves few cycles behind, so young objects are looked at less often than by default.
get_resolver().url_patterns  # noqa: B018
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 20, 20)

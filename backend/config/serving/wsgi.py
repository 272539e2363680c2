"""The WSGI application."""

import gc
import os
import threading

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from backend.stats.simultaneous import prepare_quantiles

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "backend.config.settings")

application = get_wsgi_application()

# isort: split
# Models can be imported once there is an application.
from backend.broker import limits_storage  # noqa: E402

# The views are imported now rather than at the first request, and so are the names of the routes
# and the clients of Valkey.
# Then all that was imported is kept out of the collector's sight: walking through it stopped a
# request for 60 to 100 ms. A request itself leaves few cycles behind, so young objects are looked
# at less often than by default.
get_resolver().reverse_dict  # noqa: B018
limits_storage()
gc.collect()
gc.freeze()
gc.set_threshold(20_000, 20, 20)

# Without it the first comparison takes three times as long as the others. No request waits for it.
preparing = threading.Thread(target=prepare_quantiles, name="quantiles", daemon=True)
preparing.start()

"""The library: the published benchmarks that a site shows from its first start on."""

from backend.config.site.progress import say
from backend.config.site.site import Site
from backend.config.site.site_folder import StartFailed


def load_library(site: Site) -> None:
    """Load what is not loaded yet. Where that fails the site runs without it."""
    try:
        site.manage("load_library")
    except (StartFailed, OSError) as failed:
        say(f"The library was not loaded: {failed} Loadsheet runs; the next start tries again.")
    else:
        say(f"The library of published benchmarks is at {site.url}/library/")

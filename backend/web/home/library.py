"""The library: the published benchmarks, and a page for every server that they name."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from backend.accounts.models import Workspace
from backend.library.loading import SLUG, result_set_id, today_name
from backend.library.published import highest_printed
from backend.library.shelf import ShelvedServer, find_shelved, read_shelf
from backend.library.study import Study, read_studies
from backend.links import compare_link, link_to
from backend.runs.catalogue.naming import distinct_names
from backend.runs.models import Server
from backend.web.base import visible
from backend.web.results.study_answers import today_answers


@require_safe
def library(request: HttpRequest) -> HttpResponse:
    """Every study with its answers, and every server that a study names."""
    paths = result_set_paths(request)
    context = {
        "nav": "library",
        "workspace_url": link_to("workspace", SLUG) if _workspace() else "",
        "studies": [_study(request, study, paths) for study in read_studies()],
        "servers": read_shelf(),
    }
    return render(request, "library.html", context)


def _study(request: HttpRequest, study: Study, paths: dict[str, str]) -> dict[str, Any]:
    today = today_answers(request, study)
    return {
        "study": study,
        "url": paths.get(study.name, ""),
        "today": today,
        "plot": next((each["plot"] for each in today if each["plot"]), None),
        "today_url": paths.get(today_name(study.name), ""),
    }


@require_safe
def library_server(request: HttpRequest, slug: str) -> HttpResponse:
    """A server of the studies: what is known, where it was measured, whether it runs today."""
    server = visible.or_404(find_shelved(slug))
    paths = result_set_paths(request)
    context = {
        "nav": "library",
        "server": server,
        "features": server.features.items(),
        "studies": [_measured(request, server, study, paths) for study in server.named_in],
        "measured": _measured_servers(server),
    }
    return render(request, "library_server.html", context)


def _measured(
    request: HttpRequest, server: ShelvedServer, study: Study, paths: dict[str, str]
) -> dict[str, Any]:
    return {
        "study": study,
        "url": paths.get(study.name, ""),
        "figure": highest_printed(server, study),
        "faults": study.first_faults,
        "today": today_answers(request, study, server.run_names),
    }


def _measured_servers(server: ShelvedServer) -> list[dict[str, Any]]:
    """Its names in the library's runs, each with the comparison of it."""
    names = Server.objects.filter(workspace__slug=SLUG, name__in=server.run_names)
    return [
        {"name": name, "compare_url": compare_link(SLUG, server=name)}
        for name in distinct_names(names)
    ]


def _workspace() -> Workspace | None:
    return Workspace.objects.public().filter(slug=SLUG).first()


def result_set_paths(request: HttpRequest) -> dict[str, str]:
    """The path of each result set that the viewer may open, by its name; empty if the library is
    not loaded."""
    workspace = Workspace.objects.filter(slug=SLUG).first()
    if workspace is None:
        return {}
    studies = [study.name for study in read_studies()]
    names = [*studies, *map(today_name, studies)]
    links = {result_set_id(name): name for name in names}
    listed = visible.result_sets(request, workspace).filter(link__in=links).defer("snapshot")
    return {links[row.link]: row.path for row in listed if not row.is_gone}

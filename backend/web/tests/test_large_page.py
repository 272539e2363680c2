"""A large page is written in parts, and has the bytes that it would have written at once."""

import re

import pytest
from django.template.loader import render_to_string
from django.test import Client

from backend.sharing.models import SharedRun, Visibility
from backend.web.base import large_page
from backend.web.base.large_page import render_large
from backend.web.runs import run_page, shared_run

CSRF = re.compile(rb'name="csrfmiddlewaretoken" value="[^"]*"')


@pytest.fixture
def written_at_once(monkeypatch):
    """The pages as `render` of Django writes them, in the order in which they were asked for."""
    pages = []

    def render_both(request, template, context):
        pages.append(render_to_string(template, context, request).encode())
        return render_large(request, template, context)

    for view in (run_page, shared_run):
        monkeypatch.setattr(view, "render_large", render_both)
    return pages


def test_the_pages_of_a_run_have_the_same_bytes(owner, scene, written_at_once):
    scene.run.trials.update(resources={"server_cpu_s": 1.5, "client_cpu_s": 0.25})
    link = SharedRun.objects.create(run=scene.run, visibility=Visibility.PUBLIC).link
    for client, path in ((owner, f"/r/{scene.run.pk}"), (Client(), f"/shared/runs/{link}")):
        page = client.get(path).content
        assert CSRF.sub(b"", page) == CSRF.sub(b"", written_at_once.pop()), path
        assert b"\0" not in page
        assert b'id="used-' in page


def test_every_row_of_a_trial_is_a_part(owner, scene, monkeypatch):
    counts = []

    def join(_texts, parts):
        counts.append(len(parts))
        return iter(())

    scene.run.trials.update(resources={"server_cpu_s": 1.5})
    monkeypatch.setattr(large_page, "_joined", join)
    owner.get(f"/r/{scene.run.pk}")
    # In the summary, in the tables of trials and of resource use, and among the commands.
    assert counts[0] >= 4 * scene.run.trials.count()


def test_a_part_that_is_lost_is_no_page():
    with pytest.raises(ValueError, match="zip"):
        list(large_page._joined(["a", "b"], []))

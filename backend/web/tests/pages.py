"""Reading pages, and keeping the result sets they show."""

from django.http import HttpResponse

from backend.analysis.query.compare_query import CompareQuery
from backend.sharing.freezing import Description, freeze
from backend.sharing.models import Visibility


def html_of(response: HttpResponse) -> str:
    """The page with every run of white space as one space: how a template is laid out is free."""
    return " ".join(response.content.decode().split())


def keep(scene, how=freeze, text="", **fields):
    """A result set of the scene's run, or of the comparison `text`."""
    description = Description(**{"title": "A title", "visibility": Visibility.PUBLIC, **fields})
    query = CompareQuery.parse(text or f"run={scene.run.pk}")
    return how(query, workspace=scene.own.workspace, author=scene.own.user, description=description)

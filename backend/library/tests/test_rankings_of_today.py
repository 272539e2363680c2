"""Each sentence about today leads to the ranking of its workload, which has the same leader."""

import re
from html import unescape

import pytest
from django.test import Client

from backend.accounts.models import Workspace
from backend.analysis.compare.comparison import compare
from backend.analysis.figures import plain_figures
from backend.analysis.query.compare_query import CompareQuery
from backend.library.loading import SLUG
from backend.library.study import read_studies
from backend.library.summary import today_sentences

pytestmark = pytest.mark.django_db
LINK = re.compile(r'href="/w/library/compare\?([^"]*)">Compare')


@pytest.mark.parametrize("study", read_studies(), ids=lambda study: study.name)
def test_a_sentence_about_a_workload_leads_to_its_ranking(library, study):
    leaders = [sentence.leader for sentence in today_sentences(study) if sentence.leader]
    links = LINK.findall(Client().get(library.paths[study.name]).content.decode())
    assert len(links) == len(leaders)
    assert set(links) <= set(LINK.findall(Client().get("/library/").content.decode()))
    workspace_ids = [Workspace.objects.get(slug=SLUG).pk]
    for leader, link in zip(leaders, map(unescape, links), strict=True):
        query = CompareQuery.parse(link)
        assert query.wanted("workload") == (leader.workload,)
        rows = plain_figures(compare(query, workspace_ids=workspace_ids))["ranking"]["rows"]
        values = [row["value"] for row in rows if row["value"] is not None]
        assert max(values) == pytest.approx(leader.figure.centre, rel=0.01)

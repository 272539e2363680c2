"""What staff took down is in no cache: members read it, and no copy is kept for others."""

import pytest
from django.test import Client

from backend.accounts.models import User
from backend.accounts.takedown_models import Report
from backend.sharing.models import ResultSet, Visibility
from backend.web.tests.takedown_steps import make_things

pytestmark = pytest.mark.django_db
FORMS = ("/s/{}", "/s/{}.json", "/s/{}.svg", "/s/{}.png", "/s/{}/changes")


def headers_of(client, link):
    answers = {form: client.get(form.format(link)) for form in FORMS}
    assert {answer.status_code for answer in answers.values()} == {200}
    return {
        form: (answer["Cache-Control"], "Access-Control-Allow-Origin" in answer)
        for form, answer in answers.items()
    }


@pytest.mark.parametrize("visibility", [Visibility.PUBLIC, Visibility.UNLISTED])
def test_after_a_takedown_members_read_it_as_private(scene, visibility):
    link = make_things(scene)["shared"]
    ResultSet.objects.filter(link=link).update(visibility=visibility)
    member, staff = Client(), Client()
    member.force_login(scene.own.user)
    before = headers_of(member, link)
    assert any("public" in kept for kept, _ in before.values())
    assert any(is_for_all for _, is_for_all in before.values())

    staff.force_login(User.objects.create_user("op", is_staff=True))
    Client().post("/report", {"page": f"/s/{link}", "reason": "spam"})
    report = Report.objects.get()
    form = {"decision": "take down", "public_reason": "It is spam."}
    assert staff.post(f"/staff/accounts/report/{report.pk}/change/", form).status_code == 302

    for form, (kept, is_for_all) in headers_of(member, link).items():
        assert kept.startswith("private"), form
        assert not is_for_all, form

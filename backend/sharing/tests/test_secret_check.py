"""What is shared holds no secrets: texts of result sets, and what members write about runs."""

import pytest

from backend.accounts.credentials import token_format
from backend.analysis.query.compare_query import CompareQuery
from backend.runs.amending.dismissals import DismissalRefused, dismiss, fired_in
from backend.runs.amending.editing import CorrectionRefused, correct
from backend.sharing.edits import edit
from backend.sharing.freezing import Description, freeze, save_live
from backend.sharing.models import ResultSet, Visibility
from backend.sharing.secret_check import SecretShared, refuse_secrets
from backend.testing.scenes import make_result_set, make_scene

pytestmark = pytest.mark.django_db
PRIVATE, UNLISTED, PUBLIC = Visibility
TOKEN = token_format.new_token("api")


@pytest.fixture
def scene(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    return make_scene()


@pytest.mark.parametrize("kind", ["agent", "api", "link", "invite", "share", "feed"])
def test_every_kind_of_token_is_recognised_wherever_it_stands(kind):
    token = token_format.new_token(kind)
    for text in (token, f"x{token}y", f"https://h/?t={token}&b", f"[{token}](a)"):
        assert token_format.holds_token(text)
    assert not token_format.holds_token(token[:-1])
    assert not token_format.holds_token(f"ls_{kind}_{'0' * 36}")


@pytest.mark.parametrize(
    ("text", "excerpt"),
    [
        ("a long text before password=hunter2", "“ext before password=[redacted]”"),
        ("api_key=[redacted] and secret=hunter2", "secret=[redacted]”"),
        ("https://eve:hunter2@host/", "“https://eve:[redacted]”"),
        ("one line\ntoken: hunter2", "“one line token: [redacted]”"),
    ],
)
def test_the_message_shows_the_place_and_not_the_secret(text, excerpt):
    with pytest.raises(SecretShared) as refused:
        refuse_secrets("notes", text)
    assert excerpt in str(refused.value)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("save", [freeze, save_live])
def test_a_new_result_set_with_a_secret_is_not_stored(scene, save):
    def keep(visibility):
        description = Description(title=f"with {TOKEN}", visibility=visibility)
        query = CompareQuery.parse(f"run={scene.run.pk}")
        save(query, workspace=scene.own.workspace, author=None, description=description)

    for visibility in (UNLISTED, PUBLIC):
        with pytest.raises(SecretShared, match="title"):
            keep(visibility)
    assert not ResultSet.objects.exists()
    # Members may write what they like where only members read it.
    keep(PRIVATE)


def test_no_token_comes_in_by_a_correction_or_a_dismissal(scene):
    run = scene.run
    for values in ({"notes": TOKEN}, {"labels": {"a": TOKEN}}, {"labels": {TOKEN: "a"}}):
        with pytest.raises(CorrectionRefused, match="Loadsheet token"):
            correct(run.pk, values, author=None)
    check = sorted(fired_in(run))[0]
    with pytest.raises(DismissalRefused, match="Loadsheet token"):
        dismiss(run, check, reason=f"see {TOKEN}", author=None)


@pytest.mark.parametrize("fields", [{"notes": f"with {TOKEN}"}, {"notes": "password=hunter2"}])
def test_a_result_set_with_a_secret_in_its_notes_is_not_shared(scene, fields):
    made = make_result_set(scene.own.workspace, PRIVATE)
    # Members may write what they like where only members read it.
    edit(made, **fields)
    with pytest.raises(SecretShared, match="notes"):
        edit(made, visibility=UNLISTED)
    edit(made, visibility=UNLISTED, notes="none")
    with pytest.raises(SecretShared, match="notes"):
        edit(made, **fields)
    stored = ResultSet.objects.get(pk=made.pk)
    assert (stored.notes, stored.visibility) == ("none", UNLISTED)


def test_a_result_set_with_a_token_in_its_figures_is_not_shared(scene):
    made = make_result_set(scene.own.workspace, PRIVATE)
    made.snapshot = made.snapshot.replace(b"secret-finding", TOKEN.encode())
    made.save()
    with pytest.raises(SecretShared, match="figures"):
        edit(made, visibility=PUBLIC)

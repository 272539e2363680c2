"""manage.py make_user and make_workspace: twice is as once, and no password in sight."""

import io

import pytest
from django.core.management import CommandError, call_command

from backend.accounts.models import Membership, User, Workspace

pytestmark = pytest.mark.django_db
PASSWORD = "a long right password"


@pytest.fixture
def stdin(monkeypatch):
    def give(text):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    return give


def run(*arguments):
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue().strip()


class TestMakeUser:
    def test_reads_the_password_from_standard_input(self, stdin):
        stdin(PASSWORD + "\n")

        assert run("make_user", "ada") == "User ada: made."
        assert User.objects.get(username="ada").check_password(PASSWORD)

    def test_asks_for_it_twice_at_a_terminal(self, monkeypatch):
        monkeypatch.setattr("sys.stdin.isatty", lambda: True)
        answers = iter([PASSWORD, PASSWORD, PASSWORD, "another long password"])
        monkeypatch.setattr("getpass.getpass", lambda _: next(answers))

        assert run("make_user", "ada") == "User ada: made."
        with pytest.raises(CommandError, match="two passwords differ"):
            run("make_user", "bob")
        assert User.objects.count() == 1

    def test_leaves_a_user_who_is_there(self, stdin):
        stdin(PASSWORD + "\n")
        run("make_user", "ada")
        stdin("another long password\n")

        assert "exists already" in run("make_user", "ada")
        assert User.objects.get().check_password(PASSWORD)

        assert run("make_user", "ada", "--new-password") == "User ada: has a new password."
        assert User.objects.get().check_password("another long password")

    @pytest.mark.parametrize("password", ["short", "", "password1234"])
    def test_refuses_a_password_that_can_be_guessed(self, stdin, password):
        stdin(password + "\n")

        with pytest.raises(CommandError):
            run("make_user", "ada")
        assert not User.objects.exists()

    def test_takes_no_password_on_the_command_line(self):
        with pytest.raises(CommandError):
            run("make_user", "ada", PASSWORD)

    def test_can_make_one_who_signs_in_by_links_only(self):
        run("make_user", "ada", "--no-password")

        assert not User.objects.get().has_usable_password()

    def test_refuses_a_name_with_its_reason(self):
        with pytest.raises(CommandError, match="The user name is 'a b'"):
            run("make_user", "a b", "--no-password")


class TestMakeWorkspace:
    def test_makes_it_once(self):
        assert run("make_workspace", "lab", "--name", "Our lab") == "Workspace lab: made."
        assert run("make_workspace", "lab") == "Workspace lab: exists already."
        assert Workspace.objects.get().name == "Our lab"
        assert "renamed" in run("make_workspace", "lab", "--name", "The lab")
        assert Workspace.objects.get().name == "The lab"

    def test_makes_a_user_its_member(self):
        run("make_user", "ada", "--no-password")

        assert "User ada is now owner of lab." in run("make_workspace", "lab", "--member", "ada")
        run("make_workspace", "lab", "--member", "ada", "--role", "viewer")
        assert Membership.objects.get().role == "viewer"

    def test_changes_nothing_for_a_user_who_is_missing(self):
        with pytest.raises(CommandError, match="make_user ada"):
            run("make_workspace", "lab", "--member", "ada")
        assert not Workspace.objects.exists()

    def test_refuses_a_slug_with_its_reason(self):
        with pytest.raises(CommandError, match="The slug is 'our lab'"):
            run("make_workspace", "our lab")

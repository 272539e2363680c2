"""Two people who open the link of the first owner make one account of the operator."""

import contextlib
import io
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from allauth.account.adapter import DefaultAccountAdapter
from django.core.management import call_command
from django.db import connection
from django.test import Client

from backend.accounts.models import User

pytestmark = pytest.mark.django_db(transaction=True)
ACCOUNT = {"password1": "a long right password", "password2": "a long right password"}
# A form waits so long for the other to get as far; less than the lock_timeout of the database.
PATIENCE_S = 2


@pytest.mark.parametrize("is_open", [False, True])
def test_forms_that_are_sent_at_once_make_one_operator(is_open, settings, monkeypatch):
    settings.OPEN_SIGN_UP = is_open
    both = threading.Barrier(2, timeout=PATIENCE_S)
    save_user = DefaultAccountAdapter.save_user

    def save_when_both_are_here(self, *given, **options):
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait()
        return save_user(self, *given, **options)

    monkeypatch.setattr(DefaultAccountAdapter, "save_user", save_when_both_are_here)
    out = io.StringIO()
    call_command("first_owner_link", stdout=out)
    path = out.getvalue().strip().removeprefix("http://127.0.0.1:8000")

    def sign_up(name):
        client = Client(raise_request_exception=False)
        try:
            form = client.get(path)["Location"]
            return client.post(form, {"username": name, **ACCOUNT}).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        statuses = sorted(pool.map(sign_up, ["ada", "eve"]))
    assert User.objects.filter(is_staff=True).count() == 1
    assert (statuses, User.objects.count()) == (([302, 302], 2) if is_open else ([302, 410], 1))

"""What a page changes, the API changes too, or it is named here why only a browser does.

The pages are those of the URL configuration that take a form: a new one needs an entry.
"""

from pathlib import Path

import pytest
from django.test import Client

from backend.api.protocol.scopes import NEEDED_SCOPES
from backend.web.tests.access_rows import ROWS
from backend.web.tests.test_access import ids_of
from backend.web.urls import urlpatterns

pytestmark = pytest.mark.django_db
DOCUMENT = Path(__file__).parents[3] / "docs/api.md"

# By the page's route: the operation, as method and route.
BY_API = {
    "agents-page": "POST token-list",
    "alert-rules-page": "POST alert-rule-list",
    "answer-alert": "PATCH alert",
    "change-alert-rule": "PATCH alert-rule",
    "change-role": "PATCH member",
    "channels-page": "POST channel-list",
    "delete-alert-rule": "DELETE alert-rule",
    "delete-channel": "DELETE channel",
    "delete-export": "DELETE export",
    "delete-run": "DELETE run",
    "delete-view": "DELETE view",
    "delete-workspace": "DELETE workspace-settings-api",
    "dismissals": "POST dismissal-list",
    "edit-result-set": "PATCH result-set",
    "edit-run": "PATCH run",
    "edit-view": "PATCH view",
    "erase-run": "DELETE run",
    "exports-page": "POST export-list",
    "make-token": "POST token-list",
    "make-workspace-link": "POST workspace-link",
    "members-page": "POST invitation-list",
    "merge-host": "POST merge-list",
    "merge-server": "POST merge-list",
    "merge-workload": "POST merge-list",
    "new-feed-token": "POST feed-token-list",
    "new-upload": "POST upload-list",
    "new-workspace": "POST workspace-list",
    "raw-output": "PATCH workspace-settings-api",
    "remove-member": "DELETE member",
    "rename-host": "POST renames",
    "rename-server": "POST renames",
    "rename-workload": "POST renames",
    "rename-workspace": "PATCH workspace-settings-api",
    "renew-channel-secret": "POST channel-secret",
    "restore-run": "POST restore-run-api",
    "revoke": "POST result-set-revoke",
    "revoke-feed-token": "DELETE feed-token",
    "revoke-invitation": "DELETE invitation-api",
    "revoke-run-link": "POST run-sharing-revoke",
    "revoke-token": "DELETE token",
    "revoke-workspace-link": "DELETE workspace-link",
    "save-view": "POST view-list",
    "settings": "PATCH workspace-settings-api",
    "share": "POST result-set-list",
    "share-run": "PATCH run-sharing",
    "supersede": "PATCH result-set",
    "test-channel": "POST channel-test",
    "ticked-runs": "PATCH run",
    "tokens-page": "POST token-list",
    "undo-correction": "DELETE correction",
    "undo-merge": "DELETE merge",
    "withdraw": "POST result-set-withdraw",
    "workspace-readers": "PATCH workspace-settings-api",
}
# By the page's route: what docs/api.md says of it.
BY_BROWSER_ONLY = {
    "account-export": "Downloading your own data",
    "erase-account": "Erasing your account",
    "feature": "What the operator does",
    "join": "Accepting an invitation",
    "report": "Reporting what is public",
    "try": "Trying the reader without an account",
}


def pages_with_forms(scene):
    """The routes of pages that take POST: a method that none of them takes is told which do."""
    ids, owner = ids_of(scene), Client()
    owner.force_login(scene.own.user)
    for name in {pattern.name for pattern in urlpatterns}:
        answer = owner.put(ROWS[name].path.format(**ids))
        if answer.status_code == 405 and "POST" in answer["Allow"]:
            yield name


def test_every_page_with_a_form_has_its_operation_or_a_reason(scene):
    assert set(pages_with_forms(scene)) == {*BY_API, *BY_BROWSER_ONLY}


def test_the_operations_exist():
    operations = {
        f"{method} {route}" for route, methods in NEEDED_SCOPES.items() for method in methods
    }
    assert set(BY_API.values()) <= operations


@pytest.mark.parametrize("reason", BY_BROWSER_ONLY.values())
def test_the_reasons_are_documented(reason):
    assert reason in DOCUMENT.read_text()

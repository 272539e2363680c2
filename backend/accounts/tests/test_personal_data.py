"""Every column that refers to a person, or holds a name or an address, is decided about."""

import re

import pytest
from django.apps import apps
from django.conf import settings
from django.db import models

from backend.accounts.models import User
from backend.accounts.own_data.personal_data import FORGETS, GOES, RELATIONS, TEXTS, exported_keys

ON_DELETE = {GOES: models.CASCADE, FORGETS: models.SET_NULL}
# How a column is named that says who somebody is, or where from.
OF_A_PERSON = re.compile(r"(^|_)(e?mail|username|first_name|last_name|by_name|actor_name|sender)$")
SECRET = {"digest", "lookup", "pepper_id", "password", "data", "session_key", "address", "snapshot"}


def columns():
    for model in apps.get_models(include_auto_created=True):
        for field in model._meta.local_concrete_fields:
            yield f"{model._meta.label}.{field.name}", field


def test_every_relation_to_an_account_is_decided():
    relations = {name for name, field in columns() if field.related_model is User}

    decided = [relation.column for relation in RELATIONS]
    assert len(relations) > 25
    assert set(decided) == relations
    assert len(decided) == len(set(decided))


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.column)
def test_deleting_the_account_does_to_the_row_what_was_decided(relation):
    field = relation.model._meta.get_field(relation.field)

    assert field.remote_field.on_delete is ON_DELETE[relation.erasure]


def test_every_text_that_names_a_person_is_decided():
    kinds = (models.EmailField, models.GenericIPAddressField)
    texts = {
        name
        for name, field in columns()
        if isinstance(field, kinds)
        or (isinstance(field, models.CharField) and OF_A_PERSON.search(field.name))
    }

    assert texts <= TEXTS.keys(), (
        "Decide what erasing the account does with them: personal_data.TEXTS."
    )
    assert TEXTS.keys() <= {name for name, _ in columns()}


def test_no_secret_is_exported():
    for relation in RELATIONS:
        assert SECRET.isdisjoint(relation.columns), relation.column
        names = {field.name for field in relation.model._meta.fields}
        columns = {column.removesuffix("__slug") for column in relation.columns}
        assert columns - {"workspace_id"} <= names


# Texts of rows of a workspace that the person gets also without it: nobody else writes them, and
# they say nothing of the workspace.
STAY = {
    "accounts.Token.user": {"scopes", "networks"},
    "accounts.StaffAccess.user": {"reason"},
    "accounts.Takedown.by": {"reason"},
    "runs.Dismissal.author": {"check_id"},
    "runs.Dismissal.undone_by": {"check_id"},
}


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.column)
def test_every_text_of_a_workspace_is_decided(relation):
    fields = {name: relation.model._meta.get_field(name) for name in own_columns(relation)}
    kinds = (models.CharField, models.TextField, models.JSONField)
    texts = {
        name for name, field in fields.items() if isinstance(field, kinds) and not field.choices
    }

    assert set(relation.texts) <= fields.keys()
    if not relation.workspace:
        assert not relation.texts
        return
    assert texts - set(relation.texts) == STAY.get(relation.column, set()), (
        "Decide whether who left the workspace gets them: Relation.texts."
    )


def own_columns(relation):
    return [name for name in relation.columns if not name.startswith("workspace_")]


def test_every_key_of_the_export_is_documented():
    text = (settings.BASE_DIR / "docs" / "your-data.md").read_text()
    documented = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)

    assert documented == exported_keys()

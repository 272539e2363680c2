"""Tokens: what one looks like, what a mistake in it shows, and what is stored of it."""

import random

import pytest
from django.db import connection

from backend.accounts.credentials.token_format import (
    ALPHABET,
    RANDOM_LENGTH,
    is_well_formed,
    new_token,
)
from backend.accounts.models import Token
from backend.testing.uploads import make_tenant

TOKENS = 10_000


@pytest.mark.long
@pytest.mark.parametrize("kind", ["agent", "api", "link", "invite"])
def test_tokens_are_long_distinct_and_well_formed(kind):
    made = {new_token(kind) for _ in range(TOKENS)}

    assert len(made) == TOKENS
    assert all(map(is_well_formed, made))
    assert len(ALPHABET) ** RANDOM_LENGTH > 2**178


def test_one_wrong_character_is_found():
    chance = random.Random(7)
    for _ in range(TOKENS):
        token = new_token("agent")
        place = chance.randrange(len("ls_agent_"), len(token))
        other = chance.choice(ALPHABET.replace(token[place], ""))

        assert not is_well_formed(token[:place] + other + token[place + 1 :])


@pytest.mark.django_db
def test_a_token_is_not_stored():
    token = make_tenant().token

    with connection.cursor() as cursor:
        cursor.execute("SELECT token::text FROM accounts_token AS token")
        rows = cursor.fetchall()
    secret = token.split("_")[2]
    assert len(rows) == Token.objects.count() == 1
    # Eight characters find the row; the others cannot be tried.
    assert secret[:8] in rows[0][0]
    assert all(secret[start : start + 9] not in rows[0][0] for start in range(len(secret) - 8))

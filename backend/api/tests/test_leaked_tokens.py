"""Reports of published tokens: each of ours ends by its own text, and by no other."""

import random

import pytest
from django.test import Client

from backend.accounts.credentials import token_format
from backend.accounts.models import Invitation, Role, Token, TokenKind, WorkspaceLink
from backend.accounts.tokens import tokens
from backend.accounts.workspace import invitations, workspace_links
from backend.feeds.models import FeedToken
from backend.feeds.tokens import make_token
from backend.testing.uploads import make_tenant

pytestmark = pytest.mark.django_db
TEXTS, AT_ONCE = 2000, 100


def make_tokens():
    """The clear text of a token of each kind."""
    tenant = make_tenant()
    user, workspace = tenant.user, tenant.workspace
    lifetime = tokens.LINK_LIFETIME
    return [
        tenant.token,
        tokens.issue(TokenKind.LINK, workspace, user=user, name="l", lifetime=lifetime),
        invitations.invite(user, workspace, Role.VIEWER),
        workspace_links.make_link(user, workspace),
        make_token(workspace, user, "reader")[1],
    ]


def other_texts(clear):
    """Texts that are no token of `clear`: random ones, ones with another character, well-formed
    ones that nobody made, and such that begin as one of `clear` does."""
    chance, alphabet = random.Random(7), token_format.ALPHABET
    texts = set()
    for number in range(TEXTS // 2):
        token = clear[number % len(clear)]
        at = chance.randrange(len(token))
        other = chance.choice(alphabet.replace(token[at], ""))
        texts.add(token[:at] + other + token[at + 1 :])
    for number in range(TEXTS // 20):
        token = clear[number % len(clear)]
        head = token[: token.index("_", 3) + 1 + token_format.LOOKUP_LENGTH]
        body = head + "".join(chance.choices(alphabet, k=token_format.RANDOM_LENGTH - 8))
        texts |= {body + token_format.checksum(body), token_format.new_token("agent")}
    while len(texts) < TEXTS:
        texts.add("".join(chance.choices(alphabet + "_-.", k=chance.randint(1, 60))))
    return sorted(texts)


def report(*texts):
    leaked = [{"token": text, "type": "ls", "url": "https://ex.org/a"} for text in texts]
    answer = Client().post("/api/v1/leaked-tokens", leaked, content_type="application/json")
    assert answer.status_code == 204


def count_working():
    revocable = (Token, Invitation, WorkspaceLink)
    working = sum(model.objects.filter(revoked_at=None).count() for model in revocable)
    return working + FeedToken.objects.count()


def test_other_texts_end_nothing(settings):
    settings.LEAK_REPORTS_PER_MINUTE = 10**6
    clear = make_tokens()
    texts = other_texts(clear)
    assert len({*texts} - {*clear}) == TEXTS

    for start in range(0, TEXTS, AT_ONCE):
        report(*texts[start : start + AT_ONCE])
    assert count_working() == len(clear)

    report(*clear)
    assert count_working() == 0

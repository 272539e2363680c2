"""Heartbeats as if every process ran, and the answer of /readyz."""

from datetime import timedelta

from django.db.models.functions import Now
from django.test import Client

from backend.config.models import Heartbeat


def heard(name, seconds_ago):
    Heartbeat.objects.update_or_create(
        name=name, defaults={"at": Now() - timedelta(seconds=seconds_ago)}
    )


def everything_runs():
    heard("worker@a", 5)
    heard("beat@a", 5)
    heard("canary", 40)


def readyz():
    answer = Client().get("/readyz")
    return answer.status_code, answer.content.decode().splitlines()

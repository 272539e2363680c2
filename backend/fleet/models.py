"""Who measures, and what each said last of the run it is about.

A run's id is made by the agent before its tools start, so these rows know runs the service has
nothing of yet: they hold the id, and no foreign key.
"""

from __future__ import annotations

import uuid
from datetime import datetime

from django.db import models
from django.utils import timezone

from backend.accounts.models import Token, Workspace


class Agent(models.Model):
    """A token in use on one host."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="agents")
    token = models.ForeignKey(Token, on_delete=models.CASCADE, related_name="agents")
    host_name = models.CharField(max_length=200)
    # The program and its version, as it says.
    program = models.CharField(max_length=60)
    version = models.CharField(max_length=40)
    first_seen_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-last_seen_at"]
        constraints = [
            models.UniqueConstraint(fields=["token", "host_name"], name="agent_of_a_token")
        ]

    def __str__(self) -> str:
        return f"{self.program} on {self.host_name}"


class Progress(models.Model):
    """What an agent said last of one run: how far it is, and how long it will be silent."""

    class State(models.TextChoices):
        RUNNING = "running"
        FINISHED = "finished"
        STOPPED = "stopped"  # by a rule of its plan
        INTERRUPTED = "interrupted"

    run = models.UUIDField(primary_key=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="progress")
    state = models.CharField(max_length=12, choices=State.choices)
    # Warm-ups included; the total of an adaptive plan grows.
    trials_planned = models.PositiveIntegerField(null=True)
    trials_done = models.PositiveIntegerField(default=0)
    # The trial under way: server, workload, connections, rate_rps, repeat, phase. Null: none is.
    current = models.JSONField(null=True)
    # The load tool's own figures of the trial before: throughput_rps, p99_us, error_rate.
    last = models.JSONField(null=True)
    seconds_left = models.FloatField(null=True)
    heard_at = models.DateTimeField(default=timezone.now)
    # An agent says nothing while it measures; it said until when that would be.
    silent_until = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-heard_at"]
        indexes = [
            models.Index(fields=["workspace", "-heard_at"], name="progress_by_workspace"),
        ]

    def __str__(self) -> str:
        return f"{self.run}: {self.state}, {self.trials_done} of {self.trials_planned}"

    def is_alive(self, now: datetime) -> bool:
        """Whether the run goes on: it did not end, and its agent is not silent for too long."""
        return self.state == self.State.RUNNING and now <= self.silent_until

    def state_at(self, now: datetime) -> str:
        """The state, or "silent" where the agent should have been heard by now."""
        if self.state == self.State.RUNNING and not self.is_alive(now):
            return "silent"
        return self.state


class Session(models.Model):
    """Agents that carry out one plan together, so that each of its trials begins at one time."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    # How many agents it takes.
    parts = models.PositiveSmallIntegerField()
    plan_sha256 = models.CharField(max_length=64)
    # Of the order of the trials: the first agent's.
    seed = models.BigIntegerField()
    # The trial that all were last ready for, and when it begins.
    step = models.PositiveIntegerField(null=True)
    starts_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="session_of_a_workspace")
        ]

    def __str__(self) -> str:
        return f"{self.name}, {self.parts} agents"


class Seat(models.Model):
    """One agent's place in a session: its run, and the trial it waits for."""

    run = models.UUIDField(primary_key=True)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="seats")
    host_name = models.CharField(max_length=200)
    ready_for = models.PositiveIntegerField(null=True)
    heard_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.host_name} in {self.session_id}"

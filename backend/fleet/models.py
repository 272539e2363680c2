"""Agents, the progress they report, and the sessions they join.

The agent makes the id of a run before its load tool starts. So these rows name runs that are not
recorded yet: they hold the id without a foreign key.
"""

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
    # Program and version as the agent reports them.
    program = models.CharField(max_length=60)
    version = models.CharField(max_length=40)
    last_seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-last_seen_at"]
        constraints = [
            models.UniqueConstraint(fields=["token", "host_name"], name="agent_of_a_token")
        ]

    def __str__(self) -> str:
        return f"{self.program} on {self.host_name}"


class Progress(models.Model):
    """The last heartbeat of one run: how far it is, and how long its agent will be silent."""

    class State(models.TextChoices):
        RUNNING = "running"
        FINISHED = "finished"
        STOPPED = "stopped"  # by a rule of its plan
        INTERRUPTED = "interrupted"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Two workspaces may report the same id: a refusal would tell one of the other's run.
    run = models.UUIDField()
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="progress")
    state = models.CharField(max_length=12, choices=State.choices)
    # Warm-ups included; the total of an adaptive plan grows.
    trials_planned = models.PositiveIntegerField(null=True)
    trials_done = models.PositiveIntegerField(default=0)
    # The trial under way (null between trials): server, workload, connections, rate_rps, repeat,
    # phase.
    current = models.JSONField(null=True)
    # The load tool's own figures of the trial before: throughput_rps, p99_us, error_rate.
    last = models.JSONField(null=True)
    seconds_left = models.FloatField(null=True)
    heard_at = models.DateTimeField(default=timezone.now)
    # An agent sends nothing while it measures, and announces until when.
    silent_until = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-heard_at"]
        indexes = [models.Index(fields=["workspace", "-heard_at"], name="progress_by_workspace")]
        constraints = [
            models.UniqueConstraint(fields=["run", "workspace"], name="progress_of_a_run")
        ]

    def __str__(self) -> str:
        return f"{self.run}: {self.state}, {self.trials_done} of {self.trials_planned}"

    def is_alive(self, now: datetime) -> bool:
        """Whether the run is under way and its next heartbeat is not overdue."""
        return self.state == self.State.RUNNING and now <= self.silent_until

    def state_at(self, now: datetime) -> str:
        """The state, or "silent" where a heartbeat is overdue."""
        if self.state == self.State.RUNNING and not self.is_alive(now):
            return "silent"
        return self.state


class Session(models.Model):
    """Agents that carry out one plan together, so that each of its trials begins at one time."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=100)
    # The number of agents that belong to it.
    parts = models.PositiveSmallIntegerField()
    plan_sha256 = models.CharField(max_length=64)
    # Seeds the order of the trials; the first agent gives it.
    seed = models.BigIntegerField()
    # The last step of the plan that all agents were ready for, and when it begins.
    step = models.PositiveIntegerField(null=True)
    starts_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "name"], name="session_of_a_workspace")
        ]

    def __str__(self) -> str:
        return f"{self.name}, {self.parts} agents"


class SessionMember(models.Model):
    """One agent in a session: its run, and the step of the plan it is ready for."""

    run = models.UUIDField(primary_key=True)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="members")
    host_name = models.CharField(max_length=200)
    ready_for = models.PositiveIntegerField(null=True)
    heard_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"{self.host_name} in {self.session_id}"

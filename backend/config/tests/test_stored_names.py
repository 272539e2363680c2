"""Names that rows, messages and browsers hold when a new version starts.

Whoever renames one keeps the former name working too: then both stand here.
"""

from django.conf import settings
from django.contrib.auth import load_backend
from django.contrib.auth.hashers import get_hashers

from backend.config.celery import app

# Of messages in the broker.
TASKS = {"accounts.delete_ended_sessions", "accounts.warn_of_leak", "alerts.tend", "config.canary"}
TASKS |= {"config.push_wal", "config.store_deletions", "config.verify", "config.verify_rows"}
TASKS |= {"ingest.collect", "ingest.drain", "sharing.draw", "transfer.write"}
QUEUES = {"celery", "canary", "drawings"}
# Of sessions: one whose path is not in the settings is signed out.
BACKENDS = {
    "django.contrib.auth.backends.ModelBackend",
    "backend.accounts.password_backend.PasswordBackend",
}
HASHES = {"argon2", "pbkdf2_sha256"}
COOKIES = {"session", "csrftoken", "browser"}


def test_a_worker_knows_the_tasks_of_messages_that_wait():
    app.loader.import_default_modules()
    own = {task.name for task in app.tasks.values() if task.__module__.startswith("backend.")}
    assert (own, set(settings.CELERY_TASK_QUEUES)) == (TASKS, QUEUES)


def test_sessions_and_passwords_stay_valid():
    assert set(settings.AUTHENTICATION_BACKENDS) == BACKENDS
    assert all(map(load_backend, BACKENDS))
    assert {hasher.algorithm for hasher in get_hashers()} == HASHES
    assert settings.SESSION_ENGINE == "django.contrib.sessions.backends.db"
    names = (settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME, settings.BROWSER_COOKIE_NAME)
    assert set(names) == COOKIES

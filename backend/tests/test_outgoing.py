"""What the service sends to other hosts, and by which modules: nothing else is sent."""

import ast
from pathlib import Path

import pytest

BACKEND = Path(__file__).parents[1]
# Modules that talk to other hosts.
CLIENTS = {
    *("httpx", "requests", "urllib3", "aiohttp", "urllib.request", "http.client"),
    *("smtplib", "ftplib", "telnetlib", "boto3", "django.core.mail", "httpcore", "sentry_sdk"),
}
# The supervisor asks its own site; artefacts and backups may be in a bucket, mails go to the mail
# server.
ALLOWED = {
    ("config/site/site.py", "urllib.request"),
    ("config/recovery/backup_bucket.py", "boto3"),
    ("storage/s3.py", "boto3"),
    ("accounts/mail/held_mail.py", "django.core.mail"),
    ("accounts/mail/outgoing_mail.py", "django.core.mail"),
    ("sharing/takedowns.py", "django.core.mail"),
    # Faults, where the operator asks for reports of them.
    ("config/processes/error_reports.py", "sentry_sdk"),
    # Five digits of a hash, where the operator names a list of breached passwords.
    ("config/environment/breached_passwords.py", "httpcore"),
    # Messages that members asked for: to public addresses only, and by mail to members.
    ("deliveries/public_address.py", "httpcore"),
    ("deliveries/posting.py", "httpcore"),
    ("deliveries/sending.py", "smtplib"),
}


def imports_of(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.long
def test_only_these_modules_reach_other_hosts():
    modules = [
        path
        for path in BACKEND.rglob("*.py")
        if not {"tests", "testing"} & set(path.relative_to(BACKEND).parts)
    ]
    reached = {
        (path.relative_to(BACKEND).as_posix(), client)
        for path in modules
        for name in imports_of(path)
        for client in CLIENTS
        if name == client or name.startswith(f"{client}.")
    }

    assert reached == ALLOWED

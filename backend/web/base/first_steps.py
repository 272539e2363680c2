"""The commands that fill a workspace."""

from typing import Any

from django.http import HttpRequest

from backend.accounts.models import Workspace
from backend.links import absolute, link_to
from backend.web.base import visible

PLACEHOLDER = "<token>"


def curl_command(token: str = PLACEHOLDER) -> str:
    """The command that uploads a saved report."""
    header = f'"Authorization: Bearer {token}"'
    return f"curl -H {header} -F file=@ab.txt {absolute(link_to('upload-list'))}"


def first_steps(request: HttpRequest, workspace: Workspace, *, token: str = "") -> dict[str, Any]:
    """The context of the commands that fill a workspace."""
    writable = visible.may_write(request, workspace)
    return {
        "workspace": workspace,
        "curl_command": curl_command(token or PLACEHOLDER),
        "token_url": link_to("make-token", workspace.slug) if writable else "",
        "new_token": token,
        "writable": writable,
    }

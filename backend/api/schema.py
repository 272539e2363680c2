"""What the OpenAPI document says beside the views: errors and how to sign in.

Apart from `errors` and `auth`, which DRF's settings load before DRF's views are there.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from backend.api.errors import CONTENT_TYPE


class ProblemSerializer(serializers.Serializer[Any]):
    """The shape of every error."""

    type = serializers.CharField(help_text="Which kind of problem; stable")
    title = serializers.CharField(help_text="The kind in words")
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What was got and what was expected")
    hint = serializers.CharField(help_text="What to do")


def documented(*codes: int) -> dict[tuple[int, str], Any]:
    """The problem responses of an endpoint."""
    return {
        (code, CONTENT_TYPE): OpenApiResponse(ProblemSerializer, HTTPStatus(code).phrase)
        for code in codes
    }


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the document names the token."""

    target_class = "backend.api.auth.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "bearerFormat": "ls_agent_…",
            "description": "A workspace's token, made in the workspace or by manage.py make_token.",
        }

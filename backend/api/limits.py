"""GET /api/v1/limits: what one request may bring."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from backend.ingest.limits import Limit, limits


class LimitSerializer(serializers.Serializer[Limit]):
    """A limit. More is answered with `status`."""

    name = serializers.CharField()
    value = serializers.IntegerField()
    unit = serializers.CharField()
    bounds = serializers.CharField(help_text="What the limit bounds")
    status = serializers.IntegerField(help_text="HTTP status of the answer to more")


class LimitListSerializer(serializers.Serializer[Any]):
    """The limits of this installation."""

    limits = LimitSerializer(many=True)


class LimitList(APIView):
    """Limits of requests."""

    @extend_schema(operation_id="limit_list", responses={200: LimitListSerializer})
    def get(self, request: Request) -> Response:
        """The limits of sizes, counts and lengths. Anyone may ask."""
        return Response(LimitListSerializer({"limits": limits()}).data)

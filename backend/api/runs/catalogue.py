"""GET /api/v1/servers, /api/v1/hosts and /api/v1/workloads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.views import APIView

from backend.api.protocol.paging import ONLY_WORKSPACE, after_asked, limit_asked, list_operation
from backend.api.runs.runs import workspaces_asked
from backend.noise.models import HostNoise
from backend.noise.reading import noise_of_hosts
from backend.noise.sentences import floor_sentence, run_sentence
from backend.runs.catalogue import catalogue
from backend.runs.catalogue.catalogue import Listed, ListPage
from backend.runs.tables.server_texts import SERVER_TEXTS


class _Tallied(serializers.Serializer[Listed]):
    """What all three have: how often it was measured, and when last."""

    id = serializers.UUIDField()
    name = serializers.CharField()
    runs = serializers.IntegerField(source="tally.runs")
    load_points = serializers.IntegerField(source="tally.cells")
    last_measured = serializers.DateTimeField(source="tally.last", allow_null=True)


class VariantSerializer(serializers.Serializer[Any]):
    """One version and configuration of a server. Null is unknown."""

    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            "id": serializers.UUIDField(source="pk"),
            **{text.name: serializers.CharField(allow_null=True) for text in SERVER_TEXTS},
            "configuration": serializers.DictField(),
        }


class ServerRowSerializer(_Tallied):
    """A server by its name, with its newest versions and configurations."""

    variants = VariantSerializer(source="others", many=True)


class NoiseSerializer(serializers.Serializer[HostNoise]):
    """How noisy a host is. Null is unknown."""

    floor_share = serializers.FloatField(
        allow_null=True,
        help_text="Two equal servers differ by less than this share in 95 % of comparisons",
    )
    comparisons = serializers.IntegerField(help_text="Independent A/A comparisons behind it")
    latest = serializers.DateTimeField(allow_null=True, help_text="When the latest was measured")
    run_sd = serializers.FloatField(
        allow_null=True,
        help_text="Standard deviation of the log of throughput between runs, beyond trial noise",
    )
    run_freedom = serializers.IntegerField(help_text="Its degrees of freedom")
    text = serializers.SerializerMethodField()

    def get_text(self, noise: HostNoise) -> str:
        return f"{floor_sentence(noise)} {run_sentence(noise)}"


class HostRowSerializer(_Tallied):
    """A machine as measured. Null is unknown."""

    load_points = None  # type: ignore[assignment]  # a host has runs; its cells are servers'
    cpu_model = serializers.CharField(source="row.cpu_model", allow_null=True)
    cores = serializers.IntegerField(source="row.cores", allow_null=True)
    memory_bytes = serializers.IntegerField(source="row.memory_bytes", allow_null=True)
    virtualisation = serializers.CharField(source="row.virtualisation", allow_null=True)
    os = serializers.CharField(source="row.os", allow_null=True)
    kernel = serializers.CharField(source="row.kernel", allow_null=True)
    noise = serializers.SerializerMethodField()

    @extend_schema_field(NoiseSerializer)
    def get_noise(self, listed: Listed) -> Any:
        noise = self.context["noise"].get(listed.id) or HostNoise(host_id=listed.id)
        return NoiseSerializer(noise).data


class AskedSerializer(serializers.Serializer[Any]):
    """What a workload asks for. Null is unknown."""

    id = serializers.UUIDField(source="pk")
    method = serializers.CharField(allow_null=True)
    path = serializers.CharField(allow_null=True)
    payload_bytes = serializers.IntegerField(allow_null=True)
    keepalive = serializers.BooleanField(allow_null=True)
    tls = serializers.BooleanField(allow_null=True)
    headers = serializers.DictField()
    body_bytes = serializers.IntegerField(allow_null=True)
    body_sha256 = serializers.CharField(allow_null=True)


class WorkloadRowSerializer(_Tallied):
    """A workload by its name, with every one of that name."""

    variants = AskedSerializer(source="others", many=True)


class ServerList(APIView):
    @list_operation("server_list", "servers", ServerRowSerializer, ONLY_WORKSPACE, counted=True)
    def get(self, request: Request) -> ListPage:
        """By name, with versions, configurations and how often they were measured."""
        return _read(catalogue.server_page, request, workspaces_asked(request))


class HostList(APIView):
    @list_operation("host_list", "hosts", HostRowSerializer, ONLY_WORKSPACE, counted=True)
    def get(self, request: Request) -> tuple[ListPage, dict[str, Any]]:
        """By name, with their facts, their noise, and in how many runs they took part."""
        workspace_ids = workspaces_asked(request)
        page = _read(catalogue.host_page, request, workspace_ids)
        return page, {"noise": noise_of_hosts(workspace_ids, [each.id for each in page.rows])}


class WorkloadList(APIView):
    @list_operation(
        "workload_list", "workloads", WorkloadRowSerializer, ONLY_WORKSPACE, counted=True
    )
    def get(self, request: Request) -> ListPage:
        """By name, with what is asked and how often it was measured."""
        return _read(catalogue.workload_page, request, workspaces_asked(request))


def _read(
    read: Callable[..., ListPage], request: Request, workspace_ids: Sequence[UUID]
) -> ListPage:
    after = after_asked(request).replace("\0", "")
    return read(workspace_ids, after=after, limit=limit_asked(request))

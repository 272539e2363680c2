"""Files for download: of the agent, and what builds at GitHub and GitLab are made of.

They hold no secret, so everyone may have them. Those of the agent are built beforehand by
agents/build_pyz.py. A file that was not built is not offered.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from django.conf import settings
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_safe

PYZ = "loadsheet.pyz"
WHEELS = "loadsheet_agent-*.whl"
INTEGRATIONS = Path(settings.BASE_DIR) / "integrations"
INTEGRATION_FILES = ("github/action.yml", "gitlab/loadsheet.yml")


@dataclass(frozen=True, slots=True)
class AgentFile:
    """A file of the agent and the SHA-256 of its bytes."""

    path: Path
    sha256: str
    size_bytes: int

    @property
    def name(self) -> str:
        return self.path.name


def offered(name: str) -> AgentFile | None:
    """The agent file with this name; None if it was not built."""
    path = Path(settings.AGENT_FILES) / name
    try:
        state = path.stat()
    except OSError:
        return None
    return _read(path, state.st_size, state.st_mtime_ns)


def offered_wheel() -> AgentFile | None:
    """The newest wheel, for pipx; None if no wheel was built."""
    wheels = sorted(Path(settings.AGENT_FILES).glob(WHEELS))
    return offered(wheels[-1].name) if wheels else None


@lru_cache(maxsize=8)
def _read(path: Path, size_bytes: int, _changed_ns: int) -> AgentFile:
    with path.open("rb") as source:
        return AgentFile(path, hashlib.file_digest(source, "sha256").hexdigest(), size_bytes)


@require_safe
def pyz(request: HttpRequest) -> HttpResponseBase:
    """The agent as one file."""
    return _answer(request, offered(PYZ))


@require_safe
def pyz_sha256(request: HttpRequest) -> HttpResponseBase:
    """The checksum of the agent, in the form that `sha256sum --check` reads."""
    file = offered(PYZ)
    if file is None:
        raise Http404
    return HttpResponse(f"{file.sha256}  {file.name}\n", content_type="text/plain")


@require_safe
def wheel(request: HttpRequest, name: str) -> HttpResponseBase:
    """The agent as a wheel. pip needs the file under its full name."""
    newest = offered_wheel()
    return _answer(request, newest if newest is not None and newest.name == name else None)


def _answer(request: HttpRequest, file: AgentFile | None) -> HttpResponseBase:
    if file is None:
        raise Http404
    etag = f'"{file.sha256}"'
    response: HttpResponseBase
    if request.headers.get("If-None-Match") == etag:
        response = HttpResponseNotModified()
    else:
        response = FileResponse(
            file.path.open("rb"), as_attachment=True, content_type="application/octet-stream"
        )
    response["ETag"] = etag
    response["Cache-Control"] = "public, no-cache"
    return response


@require_safe
def integration_file(request: HttpRequest, name: str) -> HttpResponse:
    """The action for GitHub, or the template that GitLab includes from here."""
    if name not in INTEGRATION_FILES:
        raise Http404
    return HttpResponse((INTEGRATIONS / name).read_text(), content_type="text/plain; charset=utf-8")

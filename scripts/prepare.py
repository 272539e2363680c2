"""Making a checkout ready to run: .venv, requirements, node modules, the built frontend.

Standard library only, and old syntax: it must be able to say that a Python is too old.
"""

import errno
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(VENV, "bin", "python")
FRONTEND = os.path.join(ROOT, "frontend")
AGENTS = os.path.join(ROOT, "agents")
OLDEST_PYTHON = (3, 11)
OLDEST_NODE = 20
NEEDED_BYTES = 1200 << 20
FULL = (errno.ENOSPC, errno.EDQUOT)
# What pip, npm and others say of a full disk; some of them only fail.
SAID_FULL = ("No space left", "ENOSPC", "Disk quota exceeded", "EDQUOT")
NEARLY_FULL_BYTES = 16 << 20
# On every core: pip does it on one. What is for other Pythons stays as it is.
COMPILE = (
    "import compileall, sysconfig; "
    "compileall.compile_dir(sysconfig.get_path('purelib'), quiet=2, workers=0)"
)


class CannotPrepare(Exception):
    """One line: what is missing and what to do."""


def show_help(text):
    """Print the help and end, where it is asked for: before anything is installed."""
    if asks_for_help():
        print(text.strip())
        sys.exit(0)


def asks_for_help():
    return bool({"-h", "--help"} & set(sys.argv[1:]))


def prepare(tests=False):
    """Bring the checkout up to date; what is so already takes no time."""
    try:
        _prepare(tests)
    except OSError as error:
        if error.errno in FULL:
            raise CannotPrepare(_full()) from None
        raise CannotPrepare(
            "cannot use %s: %s. The checkout must be yours to write in."
            % (error.filename, error.strerror)
        ) from None


def _prepare(tests):
    _check_python()
    _check_node()
    _check_disk()
    _python_packages(["requirements.txt"] + (["requirements-dev.txt"] if tests else []))
    _node_packages()
    _frontend()
    if not tests:
        _agent_files()


def _check_python():
    if sys.version_info < OLDEST_PYTHON:
        raise CannotPrepare(
            "Python %d.%d is too old: install Python 3.11 or newer and run "
            "`python3.11 scripts/start`." % sys.version_info[:2]
        )


def _check_node():
    node = shutil.which("node")
    if node is None or shutil.which("npm") is None:
        raise CannotPrepare("Node is missing: install Node 20 or newer, with npm, and try again.")
    version = subprocess.run([node, "--version"], stdout=subprocess.PIPE, check=False).stdout
    major = version.decode().strip().lstrip("v").split(".")[0]
    if not major.isdigit() or int(major) < OLDEST_NODE:
        raise CannotPrepare(
            "Node %s is too old: install Node 20 or newer and try again." % version.decode().strip()
        )


def _check_disk():
    free = shutil.disk_usage(ROOT).free
    if free < NEEDED_BYTES and not os.path.exists(os.path.join(VENV, ".done-requirements.txt")):
        raise CannotPrepare(
            "The disk of %s has %d MiB free, %d MiB are needed: make room and try again."
            % (ROOT, free >> 20, NEEDED_BYTES >> 20)
        )


def _full():
    for folder in (ROOT, tempfile.gettempdir()):
        free = shutil.disk_usage(folder).free
        if free < NEARLY_FULL_BYTES:
            return "The disk of %s is full: make room and try again." % folder
    return "The disk is full (of %s, or of another folder used): make room and try again." % ROOT


def _python_packages(files):
    if not os.path.exists(PYTHON) or not _runs(PYTHON):
        _step("Making .venv", [sys.executable, "-m", "venv", "--clear", VENV])
    stamps = {os.path.join(ROOT, name): os.path.join(VENV, ".done-" + name) for name in files}
    missing = [path for path, stamp in stamps.items() if not _is_done(stamp, [path])]
    if not missing:
        return
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    for path in missing:
        pip += ["--requirement", path]
    _step("Installing " + " and ".join(map(os.path.basename, missing)), pip)
    _step("Compiling what was installed", [PYTHON, "-c", COMPILE])
    for path in missing:
        _mark(stamps[path], [path])


def _runs(python):
    # A checkout that was moved has a .venv whose Python is gone.
    try:
        done = subprocess.run([python, "-c", "import pip"], stderr=subprocess.PIPE, check=False)
        return done.returncode == 0
    except OSError:
        return False


def _node_packages():
    lock = os.path.join(FRONTEND, "package-lock.json")
    stamp = os.path.join(FRONTEND, "node_modules", ".done")
    if not _is_done(stamp, [lock]):
        command = ["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"]
        _step("Installing the frontend's packages", command, cwd=FRONTEND)
        _mark(stamp, [lock])


def _frontend():
    made_by = ("package-lock.json", "build.mjs", "bundles.mjs")
    sources = [os.path.join(FRONTEND, name) for name in made_by]
    for folder in ("src", "styles"):
        for place, _, names in sorted(os.walk(os.path.join(FRONTEND, folder))):
            sources += [os.path.join(place, name) for name in sorted(names)]
    stamp = os.path.join(FRONTEND, "dist", ".done")
    if not _is_done(stamp, sources):
        _step("Building the pages", ["npm", "run", "--silent", "build"], cwd=FRONTEND)
        _mark(stamp, sources)


def _agent_files():
    """What the service offers for download; without it Loadsheet works all the same."""
    sources = [os.path.join(AGENTS, name) for name in ("build_pyz.py", "pyproject.toml")]
    for place, _, names in sorted(os.walk(os.path.join(AGENTS, "src", "loadsheet_agent"))):
        sources += [os.path.join(place, name) for name in sorted(names) if "pycache" not in place]
    folder = os.path.join(AGENTS, "dist")
    stamp = os.path.join(folder, ".done")
    if _is_done(stamp, sources):
        return
    output = os.path.join(folder, "loadsheet.pyz")
    command = [PYTHON, os.path.join(AGENTS, "build_pyz.py"), output, "--wheel"]
    try:
        _step("Building the agent's files", command)
        _mark(stamp, sources)
    except CannotPrepare as failed:
        print("[ prepare] %s The Agents page offers no download until then." % failed, flush=True)


def _digest(paths):
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.encode())
        with open(path, "rb") as source:
            whole.update(source.read())
    return whole.hexdigest()


def _is_done(stamp, paths):
    try:
        with open(stamp) as stamp_file:
            return stamp_file.read() == _digest(paths)
    except OSError:
        return False


def _mark(stamp, paths):
    # A new file: a copy of the checkout may share the old one by a hard link.
    with open(stamp + ".new", "w") as stamp_file:
        stamp_file.write(_digest(paths))
    os.replace(stamp + ".new", stamp)


def _step(name, command, cwd=ROOT):
    """Run a command, saying every few seconds that it still runs."""
    started = time.time()
    print("[ prepare] %s …" % name, flush=True)
    child = subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )
    try:
        output = _watch(child, name, started)
    except BaseException:
        child.terminate()
        child.wait()
        raise
    if child.returncode:
        printed = output.decode(errors="replace")
        free = shutil.disk_usage(ROOT).free
        if free < NEARLY_FULL_BYTES or any(word in printed for word in SAID_FULL):
            raise CannotPrepare(_full())
        print("\n".join(printed.splitlines()[-12:]), file=sys.stderr)
        raise CannotPrepare("%s failed; the lines above say why." % name)
    print("[ prepare] %s: %.0f s" % (name, time.time() - started), flush=True)


def _watch(child, name, started):
    while True:
        try:
            return child.communicate(timeout=5)[0]
        except subprocess.TimeoutExpired:
            seconds = time.time() - started
            print("[ prepare] %s … %.0f s" % (name, seconds), flush=True)

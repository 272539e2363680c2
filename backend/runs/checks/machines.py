"""Rules over the machines, the programs and the network of one trial."""

import re

from backend.runs.checks.check import BOARDS, TrialRule
from backend.runs.checks.check_input import CheckInput, percent_text

LINUX_LOCAL_PORTS = (32768, 60999)
TIME_WAIT_S = 60.0
# Above this share a link is full: headers, acknowledgements and frames take the rest.
NEAR_LINK_SHARE = 0.8
BUSY_CORE_SHARE = 0.8
# Every core of the client host above this share.
FULL_CORE_SHARE = 0.95
# Of the time, taken by the hypervisor for other guests.
HIGH_STEAL_SHARE = 0.1
# Of the client host's processor time, used by programs beside the load tool and the server.
MANY_OTHERS_SHARE = 0.2
# Where the time of interrupts is not recorded, up to this share may be theirs.
MOST_IRQ_SHARE = 0.3
FAST_GOVERNOR = "performance"
# What servers print or are called when they are built or started for development.
DEVELOPMENT = re.compile(
    r"This is a development server|Werkzeug/|running in \"debug\" mode|Debug mode: on"
    r"|(?<![\w-])-O0(?![\w])|target/debug/|\bdebug build\b|\bunoptimi[sz]ed\b"
    r"|\b(?:NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|ASPNETCORE_ENVIRONMENT)[\"'=: ]+development\b"
    r"|\b(?:DJANGO_DEBUG|FLASK_DEBUG|APP_DEBUG|DEBUG)[\"'=: ]+(?:true|1|on)\b"
    r"|(?:^|\s)--(?:debug|reload)(?:\s|$)|(?:^|[\s\-+_(])debug(?:[\s)]|$)",
    re.IGNORECASE | re.MULTILINE,
)


def _find_same_host(trial: CheckInput) -> str | None:
    return "The load tool and the server ran on the same machine." if trial.same_host else None


def _find_no_version(trial: CheckInput) -> str | None:
    if trial.server_version:
        return None
    lack = "No server version was recorded" if trial.is_server_named else "The server is not named"
    answers = trial.server_software
    return f"{lack}; its answers say {answers}." if answers else f"{lack}."


def _find_no_host(trial: CheckInput) -> str | None:
    return None if trial.host_known else "Nothing is recorded about the host of the server."


def _find_session(trial: CheckInput) -> str | None:
    parts = trial.session_parts
    sentence = f"{parts} agents generated load together; this trial is the part of one agent."
    return sentence if parts else None


def _find_used_ports(trial: CheckInput) -> str | None:
    rate = trial.throughput_rps
    if trial.keepalive is not False or rate is None:
        return None
    if trial.elapsed_s is None:
        taken = min(rate * TIME_WAIT_S, trial.requests_completed or 0)
    else:
        taken = rate * min(trial.elapsed_s, TIME_WAIT_S)
    first, last = trial.local_ports or LINUX_LOCAL_PORTS
    if taken <= last - first + 1:
        return None
    whose = "the client host has" if trial.local_ports else "Linux offers"
    return f"About {taken:.0f} ports were in use at once; {whose} {last - first + 1}."


def _find_full_link(trial: CheckInput) -> str | None:
    rate, link = trial.transfer_rate_bytes_s, trial.link_bits_s
    # On one host the bytes never reach an interface.
    if rate is None or not link or trial.same_host or rate * 8 < NEAR_LINK_SHARE * link:
        return None
    return (
        f"{rate * 8 / 1e6:.4g} Mbit/s of payload went over a link of {link / 1e6:.4g} Mbit/s "
        f"({percent_text(rate * 8 / link)})."
    )


def _find_busy_tool(trial: CheckInput) -> str | None:
    if trial.client_cpu_s is None or not trial.elapsed_s:
        return None
    cores = trial.client_cpu_s / trial.elapsed_s
    threads = trial.client_threads or 1
    if cores <= BUSY_CORE_SHARE * threads:
        return None
    return (
        f"The load tool used {cores:.3g} cores of processor time in {threads} "
        f"{'thread' if threads == 1 else 'threads'}."
    )


def _find_full_cores(trial: CheckInput) -> str | None:
    cores = trial.client_core_shares
    # On one host the server's work is on these cores too: `same-host` says so.
    if not cores or trial.same_host or min(cores) < FULL_CORE_SHARE:
        return None
    noun = "core was" if len(cores) == 1 else "cores were"
    return f"All {len(cores)} {noun} at least {percent_text(min(cores))} busy."


def others_share(trial: CheckInput) -> float | None:
    """The share of the client host's processor time that went to programs beside the trial.

    Below 0 where the times of the cores are coarser than it. None if a part is unknown.
    """
    cores, watched_s = trial.client_core_shares, trial.watched_s
    if not cores or not watched_s:
        return None
    own_cpu_s = _own_cpu_s(trial)
    if own_cpu_s is None:
        return None
    irq = MOST_IRQ_SHARE if trial.client_irq is None else trial.client_irq
    busy = sum(cores) / len(cores) - (trial.client_steal or 0.0) - irq
    return busy - own_cpu_s / watched_s / len(cores)


def _find_others(trial: CheckInput) -> str | None:
    others = others_share(trial)
    if others is None or others <= MANY_OTHERS_SHARE:
        return None
    whose = "load tool and the server" if trial.same_host else "load tool"
    return (
        f"Programs other than the {whose} used {percent_text(others)} of the processor time of the "
        "client host."
    )


def _own_cpu_s(trial: CheckInput) -> float | None:
    """CPU time of the load tool, services, and a server on its host; None if one is unknown."""
    parts = [trial.client_cpu_s, trial.services_cpu_s]
    if trial.same_host:
        parts.append(trial.server_cpu_s)
    measured = [part for part in parts if part is not None]
    return sum(measured) if trial.same_host is not None and len(measured) == len(parts) else None


def _find_steal(trial: CheckInput) -> str | None:
    steal = trial.client_steal
    if steal is None or steal < HIGH_STEAL_SHARE:
        return None
    return f"The hypervisor took {percent_text(steal)} of the client host's processor time."


def _find_governor(trial: CheckInput) -> str | None:
    slow = {role: name for role, name in trial.governors.items() if name != FAST_GOVERNOR}
    if not slow:
        return None
    hosts = " and ".join(f"{name} on the {role} host" for role, name in sorted(slow.items()))
    return f"The CPU governor is {hosts}."


def _find_development_mode(trial: CheckInput) -> str | None:
    for text in trial.server_texts:
        match = DEVELOPMENT.search(text)
        if match:
            return f"“{match.group().strip()}” is in the recorded facts of the server."
    software = trial.server_software or ""
    return (
        f"The responses have the header Server: {software}."
        if DEVELOPMENT.search(software)
        else None
    )


MACHINE_RULES = (
    TrialRule(
        id="same-host",
        severity="warning",
        title="Client and server on one host",
        explanation="The load tool takes processor time from the server, and there is no "
        "network between them. Figures are lower than on two machines, and servers may rank "
        "in another order.",
        remedy="Run the load tool on a second machine.",
        find=_find_same_host,
    ),
    TrialRule(
        id="unknown-server-version",
        severity="warning",
        title="Server version unknown",
        explanation="Without the version, nobody can repeat this measurement or assign it to a "
        "release.",
        remedy="Add the version to the plan or to the upload.",
        find=_find_no_version,
    ),
    TrialRule(
        id="unknown-host",
        severity="warning",
        title="Host unknown",
        explanation="The processor or the kernel of the client or server host is not recorded, so "
        "differences between machines cannot be separated from differences between servers.",
        remedy="Measure with the agent, or add the facts of the hosts to the upload.",
        find=_find_no_host,
    ),
    TrialRule(
        id="session-part",
        severity="warning",
        title="One of several agents",
        explanation="Several agents generated load together, and this trial is the part of one "
        "agent. The server had more load than the load point says.",
        remedy="Read the page of the session, which joins the parts.",
        find=_find_session,
    ),
    TrialRule(
        id="ephemeral-ports",
        severity="warning",
        title="Local ports may have run out",
        explanation="Without keep-alive, every request uses a local port, which stays in use for "
        "about 60 s. Linux has 28,232 by default. When all are in use, connections fail or wait.",
        remedy="Use keep-alive, several client addresses, or a shorter trial with a pause "
        "after it.",
        source="net.ipv4.ip_local_port_range (32768–60999) and TIME_WAIT of Linux, 60 s",
        find=_find_used_ports,
    ),
    TrialRule(
        id="link-speed",
        severity="warning",
        title="Near the speed of the network link",
        explanation="The responses used more than 80 % of the slower host's network interface. "
        "The link, and not the server, may have limited the throughput.",
        remedy="Use a smaller payload or a faster link.",
        source=BOARDS + ": servers that all filled the same 10 Gbit/s link",
        find=_find_full_link,
    ),
    TrialRule(
        id="load-tool-cpu",
        severity="warning",
        title="The load tool was busy",
        explanation="The load tool used more than 80 % of the processor time of its threads, "
        "so it may have limited the throughput.",
        remedy="Use more threads, a faster host, or a faster load tool.",
        source=BOARDS + ": limits of the client read as limits of the server",
        find=_find_busy_tool,
    ),
    TrialRule(
        id="client-cores",
        severity="warning",
        title="Every core of the client host was busy",
        explanation="All cores of the client host were at least 95 % busy, so the client may "
        "have limited the throughput and added to the latency.",
        remedy="Use a client host with more cores, or lower the load.",
        source=BOARDS + ": limits of the client read as limits of the server",
        find=_find_full_cores,
    ),
    TrialRule(
        id="other-programs",
        severity="warning",
        title="Other programs used the client host",
        explanation="Programs other than the load tool and the server used more than "
        f"{MANY_OTHERS_SHARE * 100:.0f} % of the client host's processor time. They slow down "
        "the load tool, and a server on the same host.",
        remedy="Stop other programs, or measure at another time.",
        find=_find_others,
    ),
    TrialRule(
        id="cpu-steal",
        severity="warning",
        title="The hypervisor took processor time",
        explanation="Other virtual machines used at least 10 % of the client host's processor "
        "time during the trial. Throughput and latency include that wait.",
        remedy="Measure on a dedicated machine, or at another time.",
        find=_find_steal,
    ),
    TrialRule(
        id="cpu-governor",
        severity="info",
        title="The processor may change its speed",
        explanation="The CPU governor of a host is not “performance”, so the processor slows "
        "down when it is idle. Low loads then look slower than they are.",
        remedy="Run `cpupower frequency-set -g performance` on each host before measuring.",
        find=_find_governor,
    ),
    TrialRule(
        id="development-mode",
        severity="warning",
        title="The server may be a development or debug build",
        explanation="The server's version, settings, command or output name a debug build or a "
        "development server. Such a server can be several times slower than in production.",
        remedy="Build and start the server as for production.",
        is_no_basis=True,
        find=_find_development_mode,
    ),
)

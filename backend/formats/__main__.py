"""`scripts/fix`: the page of formats, in the modules' words."""

from backend.formats.tools import TOOLS

HEAD = """# Formats

What the output of each load tool says, and how Loadsheet reads it. This page is made from the
modules' docstrings: `scripts/fix`.

For comparison: Loadsheet computes percentiles by nearest rank on the histogram, throughput as
completed responses ÷ elapsed time, and goodput from successful responses only.

Most tools print the elapsed time with few digits, and compute their rate from the exact time. Where
rate and count give the time more exactly than it is printed (ab, h2load, hey, httperf, JMeter's
summariser, plow, siege, wrk, wrk2), Loadsheet takes the time from them. A printed time of 1.15 s
can be 0.4 % off, plow's 0.2 s by 40 %. If rate and time contradict each other, the printed time
stands. Where a tool prints no time and computes its rate from count and time (rewrk, nighthawk's
text, JMeter's statistics.json, locust's /stats/requests), the time is count ÷ rate.

Some outputs have a rate and lack the elapsed time or a count (k6's text and --summary-export,
bombardier's text, artillery's and Gatling's console, locust's and autocannon's tables). Then
throughput is the printed rate, marked as reported. Tools differ in whether their rate counts
attempts without a response, so a printed rate is used only if no attempt stayed without one, as far
as the output says.

What a load tool prints as failed is failed, and makes the error rate, also where the output does
not say which of the failures were answered (k6, locust, JMeter's summariser, Gatling). 2xx and 3xx
are successes in every format that prints statuses. ab, and autocannon's table without status codes,
count all responses that are not 2xx together: these failed. Where a tool may count one attempt as
two kinds of failure, its counts add up, and the successes are unknown.

## Logs, pastes and archives

A time, a name or a step before each line is removed (GitHub Actions, GitLab, Jenkins, kubectl,
docker compose, container logs, journalctl, Maven, sbt, Vagrant), and so are the mark of a comment
in a program (`# `, `// `, ` * `), colours and other codes of terminals. The
lines of several services of docker compose are read apart. UTF-16 and Windows-1252 are read, too.
The file is stored as it came, and the trial says what was removed.

In a text of at most 1 MiB, the dress of mails, web pages and Markdown is removed in the same way:
quote marks (`> `), tags such as `<pre>` and `<br>`, letters escaped for HTML (`&lt;`, `&amp;`,
`&#x27;`), bold and slanted figures (`**123**`), and the bars of a Markdown table. What a tool
writes itself stays: the `>` of Gatling and fortio, escapes in XML, JSON and CSV. Times are read in
every unit from ns to h, in several at once (`1m30.5s`), and with each sign for micro (`us`, `µs`).

Outputs of several tools or runs in one text are one trial each. Command lines such as
`$ wrk -t2 http://…` are the surest places to cut; the command becomes that of the trial. Without
them the text is cut where one tool's output ends and the next begins. If the figures depend on the
place of a cut, the text is refused instead.

A zip or tar (also .tar.gz) archive holds the files of one trial, which are read together. A
compressed file or an archive in an archive is refused: Loadsheet removes secrets from every file
before it stores the upload, and does not look into a second layer.

Archives of two benchmark projects hold many trials, and are one run. In a `raw` file of TechEmpower
the head of each output says the server and whether the trial is a warm-up, and the path
`TEST/FRAMEWORK/raw` says the workload. The counts of requests in a `results.json` are held against
the outputs, and the events of the run name each difference. The summaries of HttpArena are
[a format](#httparena), and its `current.json` is the machine. An archive has at most 1,000 files.
`loadsheet import` uploads a larger tree.
"""


def page() -> str:
    sections = [f"## {tool.name}\n\n{tool.doc.strip()}\n" for tool in TOOLS.values()]
    return "\n".join([HEAD, *sections])


if __name__ == "__main__":
    print(page(), end="")  # noqa: T201

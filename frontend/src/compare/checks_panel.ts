// The evidence: the checks that fired, and the runs.
import type { Figures, FiredCheck, SourceRun } from "../api/figures";
import { button, h } from "../site/dom";
import { nameElement } from "../site/names";
import { plural, relative, short, utc } from "../text/format";
import { type Evidence, evidenceOf, isCheck } from "../text/trust";
import { runLink, runPath, trialLink } from "./evidence_link";

const SEVERITY = {
  error: { mark: "■", title: "Error" },
  warning: { mark: "▲", title: "Warning" },
  info: { mark: "○", title: "For information" },
} as const;

/** The runs whose checks a member may dismiss, and the token of the form. */
export interface DismissOptions {
  readonly runs: readonly SourceRun[];
  readonly token: string;
}

type Dismissed = NonNullable<FiredCheck["dismissed"]>[number];

/**
 * All that speaks against the answer, in the order of the trust's reasons: the first three here are
 * those that the chip shows.
 */
export function checkList(figures: Figures, dismissing: DismissOptions | null = null): HTMLElement {
  const { inOrder, dismissed } = evidenceOf(figures);
  const isInfo = (each: Evidence["inOrder"][number]): boolean =>
    isCheck(each) && each.severity === "info";
  const against = inOrder.filter((each) => !isInfo(each));
  const information = inOrder.filter(isInfo);
  if (inOrder.length + dismissed.length === 0) {
    return h("p", { class: "empty" }, "No check fired on these trials.");
  }
  return h(
    "div",
    { class: "check-groups" },
    against.length > 0 &&
      group("Against this answer, the worst first", against, figures.runs, dismissing),
    information.length > 0 && group("For information", information, figures.runs, dismissing),
    dismissed.length > 0 && dismissedGroup(dismissed, dismissing),
  );
}

function group(
  title: string,
  evidence: Evidence["inOrder"],
  runs: readonly SourceRun[],
  dismissing: DismissOptions | null,
): HTMLElement {
  const items = evidence.map((each) =>
    isCheck(each) ? checkItem(each, runs, dismissing) : conditionItem(each),
  );
  return groupOf(title, plural(items.length, "check"), items);
}

function groupOf(title: string, aside: string, items: readonly HTMLElement[]): HTMLElement {
  return h(
    "section",
    { class: "check-group" },
    h("h3", {}, title, h("span", { class: "aside" }, aside)),
    h("ul", { class: "checks" }, ...items),
  );
}

/** What differs, is unknown or too noisy: no check of the trials stands behind it. */
function conditionItem({ text, remedy }: Evidence["conditions"][number]): HTMLLIElement {
  return h(
    "li",
    {},
    h("p", { class: "check-head" }, h("strong", {}, nameElement(text, 300))),
    remedy && h("p", {}, short(remedy, 600)),
  );
}

function checkItem(
  check: FiredCheck,
  runs: readonly SourceRun[],
  dismissing: DismissOptions | null,
): HTMLLIElement {
  return h(
    "li",
    { id: `check-${check.id}` },
    h(
      "p",
      { class: "check-head" },
      severityMark(check.severity),
      h("strong", {}, check.title),
      h(
        "span",
        { class: "hint" },
        plural(check.count, check.trials?.length === 0 ? "load point" : "trial"),
      ),
      check.section
        ? h(
            "a",
            { href: local(check.section), title: "What this check means" },
            h("code", {}, check.id),
          )
        : h("code", {}, check.id),
    ),
    h("p", {}, short(check.explanation, 600)),
    runLinks(check, runs),
    linkRow("trials", (check.trials ?? []).map(trialLink), TRIALS_AT_ONCE),
    dismissing && dismissForm(check, dismissing),
  );
}

function severityMark(severity: FiredCheck["severity"]): HTMLElement {
  const { mark, title } = SEVERITY[severity];
  return h(
    "span",
    { class: `status status-${severity}`, title },
    h("span", { "aria-hidden": "true" }, mark),
    h("span", { class: "visually-hidden" }, title),
  );
}

/** Only paths of this service: an address in figures must not lead elsewhere. */
function local(path: string): string {
  return path.startsWith("/") && !path.startsWith("//") ? path : "#";
}

const TRIALS_AT_ONCE = 6;
const RUNS_AT_ONCE = 4;

/** The runs to look at, by what they measured: what is wrong in them keeps series unranked. */
function runLinks(check: FiredCheck, runs: readonly SourceRun[]): HTMLElement | null {
  const ids = new Set(check.runs ?? []);
  const items = runs
    .filter((run) => ids.has(run.id))
    .map((run) => {
      const servers = serverTexts(run);
      const others = servers.length > 1 ? ` and ${servers.length - 1} more` : "";
      const first = servers[0] ? [" ", nameElement(servers[0], 40)] : [];
      return h("span", {}, runLink(run.id, local(run.url)), ...first, others);
    });
  return linkRow(items.length === 1 ? "run" : "runs", items, RUNS_AT_ONCE);
}

/** The first links, and a button that shows the others; null without any. */
function linkRow(label: string, links: readonly HTMLElement[], most: number): HTMLElement | null {
  if (links.length === 0) return null;
  const rest = links.slice(most);
  return h(
    "p",
    { class: "trial-links" },
    h("span", { class: "hint" }, label),
    ...links.slice(0, most),
    rest.length > 0 && more(rest),
  );
}

function more(rest: readonly HTMLElement[]): HTMLButtonElement {
  const control = button(
    { class: "link" },
    () => control.replaceWith(...rest),
    `and ${rest.length} more`,
  );
  return control;
}

/** A plain form: its answer is the page again. */
function dismissForm(check: FiredCheck, dismissing: DismissOptions): HTMLElement | null {
  const { runs } = dismissing;
  const first = runs[0];
  if (!first) return null;
  const id = `dismiss-${check.id}`;
  const form = h(
    "form",
    { class: "menu-form", method: "post", action: dismissalsOf(first.id) },
    ...toldBack(check, dismissing),
    runs.length > 1 && runChoice(runs, (run) => form.setAttribute("action", dismissalsOf(run.id))),
    h(
      "div",
      { class: "field" },
      h("label", { for: id }, "Reason for dismissing"),
      h("input", { id, name: "reason", type: "text", required: true, maxlength: 500 }),
    ),
    h("p", { class: "hint" }, "The finding stays on the page, with your name and the reason."),
    h("button", { class: "button", type: "submit" }, "Dismiss"),
  );
  return h("details", { class: "dismiss" }, h("summary", {}, "Dismiss …"), form);
}

function dismissalsOf(id: string): string {
  return `${runPath(id)}/dismissals`;
}

/** The hidden fields of every form about a check. */
function toldBack(check: FiredCheck, { token }: DismissOptions): readonly HTMLElement[] {
  const fields = {
    csrfmiddlewaretoken: token,
    check: check.id,
    next: location.pathname + location.search,
  };
  return Object.entries(fields).map(([name, value]) => h("input", { type: "hidden", name, value }));
}

function undoForm(check: FiredCheck, run: string, dismissing: DismissOptions): HTMLElement {
  return h(
    "form",
    { class: "undo", method: "post", action: dismissalsOf(run) },
    ...toldBack(check, dismissing),
    h("input", { type: "hidden", name: "undo", value: 1 }),
    h(
      "button",
      { class: "link", type: "submit", "aria-label": `Take back: ${check.title}` },
      "Take back",
    ),
  );
}

function runChoice(runs: readonly SourceRun[], choose: (run: SourceRun) => void): HTMLElement {
  const select = h("select", {});
  for (const run of runs) {
    const when = run.started_at ? `, ${utc(run.started_at)}` : "";
    select.append(h("option", { value: run.id }, `${run.id.slice(0, 8)}${when}`));
  }
  select.addEventListener("change", () => {
    const run = runs[select.selectedIndex];
    if (run) choose(run);
  });
  return h("label", { class: "inline" }, "in run", select);
}

function dismissedGroup(
  checks: readonly FiredCheck[],
  dismissing: DismissOptions | null,
): HTMLElement {
  const items = checks.flatMap((check) =>
    (check.dismissed ?? []).map((dismissal) => dismissedItem(check, dismissal, dismissing)),
  );
  // The place that links to a check lead to, where it is nowhere else.
  for (const { id, count } of checks) {
    const first = items.find((item) => item.dataset.check === id);
    if (first && count === 0) first.id = `check-${id}`;
  }
  return groupOf("Dismissed", "no caveats, still shown", items);
}

function dismissedItem(
  check: FiredCheck,
  dismissal: Dismissed,
  dismissing: DismissOptions | null,
): HTMLLIElement {
  const { run, reason, by, at } = dismissal;
  return h(
    "li",
    { "data-check": check.id },
    h("p", { class: "check-head" }, h("strong", {}, check.title), h("code", {}, check.id)),
    h(
      "p",
      {},
      "“",
      nameElement(reason, 500),
      "”",
      h(
        "span",
        { class: "hint" },
        " dismissed",
        ...(by ? [" by ", nameElement(by, 60)] : []),
        at ? ` on ${utc(at)}` : "",
        " in run ",
        runLink(run),
      ),
    ),
    dismissing && undoForm(check, run, dismissing),
  );
}

export function runList(runs: readonly SourceRun[]): HTMLElement {
  if (runs.length === 0) return h("p", { class: "empty" }, "No run matches these filters.");
  return h("ul", { class: "runs" }, ...runs.map(runItem));
}

const SERVERS_AT_ONCE = 3;

/** "caddy 1.26.2, 1.27.1": each server of the run with the versions that it had there. */
function serverTexts({ servers = [], versions = {} }: SourceRun): readonly string[] {
  const known = new Map(Object.entries(versions));
  return servers.map((server) => `${server} ${known.get(server)?.join(", ") ?? ""}`.trim());
}

function runItem(run: SourceRun): HTMLLIElement {
  const started = run.started_at;
  const servers = serverTexts(run);
  const more = servers.length - SERVERS_AT_ONCE;
  return h(
    "li",
    {},
    runLink(run.id, local(run.url)),
    started
      ? h("time", { datetime: started, title: relative(started) }, utc(started))
      : h("span", { class: "hint" }, "start unknown"),
    h("span", { class: "hint" }, plural(run.trials, "trial")),
    servers.length > 0 &&
      h(
        "span",
        { class: "hint run-servers" },
        ...servers
          .slice(0, SERVERS_AT_ONCE)
          .flatMap((server, i) => [i > 0 ? " · " : "", nameElement(server, 60)]),
        more > 0 ? ` and ${more} more` : "",
      ),
  );
}

// The ranking panel: one button per series; pressing it makes that series the baseline.
import {
  type Figures,
  intervalName,
  isCategory,
  knownMetrics,
  type Measure,
  type Metric,
  measureOf,
  panelFigures,
  panelsOrWhole,
} from "../api/figures";
import { type RankingRow, type RankingView, rankingView } from "../charts/ranking";
import { colourClass, seriesSlots } from "../charts/style/series_style";
import { rangeOfUnlike } from "../charts/unlike";
import { button, h, svg } from "../site/dom";
import { nameElement } from "../site/names";
import { behindNumber, exact, kindOf, loadPoint, single } from "../text/format";
import { shortNames } from "../text/names";
import { remarksOf } from "./rank_remarks";
import { swatch } from "./swatch";

/** Of a name, in characters. */
const LONGEST = 80;

export interface RankingActions {
  /** Null on a frozen page: frozen figures cannot get another baseline. */
  readonly chooseBaseline: ((series: string) => void) | null;
  /** Turns the override on or off: ranking series that are not comparable. */
  readonly override: ((on: boolean) => void) | null;
}

export function rankingPanel(figures: Figures, actions: RankingActions): HTMLElement[] {
  const slots = seriesSlots(figures);
  const section = (ranked: Figures, panel: string): HTMLElement =>
    h("section", { class: "ranking-part" }, ...rankingOf(ranked, figures, slots, actions, panel));
  const sections = figures.panels?.map((panel) =>
    section(panelFigures(figures, panel), panel.value),
  );
  const ranked = panelsOrWhole(figures).find((panel) => panel.ranking);
  const parts = h("div", { class: "ranking-parts" }, ...(sections ?? [section(figures, "")]));
  const isCut = parts.querySelector(".beyond") !== null;
  const hasNote = ranked !== undefined && figures.series.length > 1;
  return [parts, ...(hasNote ? [note(ranked, isCut, actions)] : [])];
}

function rankingOf(
  figures: Figures,
  whole: Figures,
  slots: ReadonlyMap<string, number>,
  actions: RankingActions,
  panel: string,
): HTMLElement[] {
  const view = rankingView(figures, whole);
  const lead = panel ? h("h2", {}, nameElement(panel)) : null;
  if (whole.series.length === 1) return alone(figures);
  if (!view) return [lead ?? h("h2", {}, "Ranking"), ...withheld(figures, actions)];
  return [
    ...(lead ? [lead] : []),
    h(
      "div",
      { class: "panel-head" },
      h(lead ? "h3" : "h2", {}, heading(figures, view)),
      h("span", { class: "aside" }, `${view.better} is better`),
    ),
    ...overridden(figures, actions),
    ...ratioBase(view),
    ...ranks(figures, view, slots, actions),
    ...(view.rows.some((row) => row.dot !== null) ? [axis(view)] : []),
  ];
}

/** The rows, below what they all remark. */
function ranks(
  figures: Figures,
  view: RankingView,
  slots: ReadonlyMap<string, number>,
  actions: RankingActions,
): HTMLElement[] {
  const list = h("ol", { class: "ranks" });
  const longestPlace = Math.max(...view.rows.map((row) => row.tier.length));
  list.style.setProperty("--place-characters", String(longestPlace));
  const ties = tiedTiers(view);
  const names = shortNames(
    view.rows.map((row) => row.label),
    LONGEST,
  );
  const { shared, ofRows } = remarksOf(view);
  for (const [i, row] of view.rows.entries()) {
    const name = nameElement(row.label, LONGEST, names[i]);
    const item = rank(figures, row, slots.get(row.series) ?? 0, actions, ofRows[i] ?? "", name);
    item.classList.toggle("is-over", row.overLimit !== "");
    item.classList.toggle("is-tied", ties.has(row.tier));
    list.append(item);
  }
  if (!shared) return [list];
  return [h("p", { class: "hint" }, shared), list];
}

/** One series has no place: its figures stand here, and what a ranking needs. */
function alone(figures: Figures): HTMLElement[] {
  const [only] = figures.series;
  const places = only?.points.map(({ x }) => x) ?? [];
  const at = figures.ranking?.x ?? places.at(-1);
  const point = only?.points.find(({ x }) => x === at);
  const values = knownMetrics(figures).flatMap((metric) => {
    const value = point ? measureOf(point, metric.id) : null;
    return value?.value == null ? [] : figureEntry(metric, value);
  });
  return [
    h("h2", {}, at === undefined ? "Figures" : `Figures at ${loadPoint(at, figures.x.label)}`),
    h("dl", { class: "only-figures" }, ...values),
    h("p", { class: "hint" }, whatRanks(figures)),
  ];
}

/** What to do for a ranking where one series is shown. */
function whatRanks(figures: Figures): string {
  if (!isCategory(figures) || figures.x.values.length < 2) {
    return "A ranking needs two series. Upload or measure another server.";
  }
  const name = figures.x.label.toLowerCase();
  const isPair = figures.x.field === "version" && figures.x.values.length === 2;
  if (isPair) return "The sentence above the chart compares the two versions.";
  return `Each ${name} has a place on the axis. To rank them, choose another axis under Customise.`;
}

function figureEntry(metric: Metric, measure: Measure): HTMLElement[] {
  const { value, low, high, step } = measure;
  const kind = kindOf(metric.unit);
  const unlike = rangeOfUnlike(measure)?.map((end) => single(kind, end, step));
  const hasInterval = low !== null && high !== null && low < high;
  const range = hasInterval ? ` ${single(kind, low)} to ${single(kind, high)}` : "";
  const shown = unlike?.join(" to ") ?? single(kind, value, step);
  return [
    h("dt", {}, metric.label),
    h("dd", {}, h("strong", {}, shown), h("span", { class: "hint" }, unlike ? UNLIKE_HINT : range)),
  ];
}

const UNLIKE_HINT = " range of the trials, which differ tenfold or more";

/**
 * To which series the ratios of the rows are. The sentence above the chart holds the leader against
 * the runner-up or the chosen baseline: where neither is the baseline, its interval is of another
 * family, which may be wider or narrower.
 */
function ratioBase({ rows }: RankingView): HTMLElement[] {
  const base = rows.find((row) => row.baseline);
  if (!base || rows.length < 2) return [];
  const family = rows.some((row) => row.ratioRange)
    ? " Its interval holds for all pairs of series at once."
    : "";
  const other = rows.indexOf(base) > 1 ? `. The headline compares two other series.${family}` : "";
  return [
    h("p", { class: "hint rank-base" }, "× = ratio to ", nameElement(base.label, LONGEST), other),
  ];
}

/** The tiers that several neighbours share, as 3–4: they cannot be told apart. */
function tiedTiers({ rows }: RankingView): ReadonlySet<string> {
  const tiers = rows.map((row) => row.tier);
  return new Set(tiers.filter((tier, i) => /\d–/.test(tier) && tiers.indexOf(tier) !== i));
}

/** A ranking by override says so. */
function overridden(figures: Figures, actions: RankingActions): HTMLElement[] {
  if (!figures.outcome.overridden) return [];
  const back = actions.override;
  return [
    h(
      "p",
      { class: "overridden" },
      h("strong", {}, "Overridden: "),
      "ranked although not measured under the same conditions. ",
      back && button({ class: "link", "data-control": "override" }, () => back(false), "Take back"),
    ),
  ];
}

/** Marks the chosen row at once; the ratios to it follow from the service. */
export function pressBaseline(root: HTMLElement, asked: string): void {
  const row = [...root.querySelectorAll("button.rank")].find(
    (button) => (button as HTMLElement).dataset.series === asked,
  );
  if (!row || row.getAttribute("aria-pressed") === "true") return;
  const list = row.closest("ol, ul");
  list?.classList.add("is-old");
  for (const other of list?.querySelectorAll("button.rank") ?? []) {
    other.setAttribute("aria-pressed", String(other === row));
  }
}

function heading({ x }: Figures, view: RankingView): string {
  return `${view.metric} at ${loadPoint(view.x, x.label)}`;
}

function rank(
  figures: Figures,
  row: RankingRow,
  slot: number,
  actions: RankingActions,
  note: string,
  name: HTMLElement,
): HTMLLIElement {
  const { chooseBaseline } = actions;
  const ranked = figures.metrics.find((metric) => metric.id === figures.ranking?.metric);
  const kind = kindOf(ranked?.unit ?? "");
  const inside = [
    h(
      "span",
      {
        class: "tier",
        title:
          "Place. 2–4: the place is 2, 3 or 4 (95 % confidence for the whole list; with fewer than " +
          "ten trials each, if all series are about equally noisy).",
      },
      row.tier,
    ),
    h(
      "span",
      { class: "rank-line" },
      h("span", { class: "name" }, swatch(slot), name),
      h(
        "span",
        { class: "absolute", title: exact(kind, row.exact) },
        row.exact === null ? row.value : `${row.value}${behindNumber(kind, row.unit)}`,
      ),
    ),
    h(
      "span",
      { class: "ratio" },
      h("strong", {}, row.ratio),
      row.ratioRange && ` ${row.ratioRange}`,
    ),
    plot(row, slot),
    note ? h("span", { class: "remark" }, note) : null,
  ];
  if (!chooseBaseline) {
    return h("li", {}, h("div", { class: "rank", "data-series": row.series }, ...inside));
  }
  const control = button(
    {
      class: "rank",
      "aria-pressed": String(row.baseline),
      "data-series": row.series,
      title: row.baseline ? "This is the baseline" : `Make ${row.label} the baseline`,
    },
    () => chooseBaseline(row.series),
    ...inside,
  );
  return h("li", {}, control);
}

const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;

function plot(row: RankingRow, slot: number): SVGElement {
  const { dot, from, to, isCut } = row;
  const drawn = svg("svg", {
    class: `plot ${colourClass(slot)}`,
    width: "100%",
    height: 14,
    "aria-hidden": "true",
    focusable: "false",
  });
  drawn.append(svg("line", { class: "rail", x1: 0, x2: "100%", y1: 7, y2: 7 }));
  if (dot !== null) {
    drawn.append(svg("rect", { class: "bar", x: 0, width: percent(dot), y: 3, height: 8 }));
  }
  // Of an interval with one known end, the half up to the dot.
  const [left, right] = [from ?? dot, to ?? dot];
  if (left !== null && right !== null && left !== right) {
    const ends = { x1: percent(left), x2: percent(right) };
    drawn.append(svg("line", { class: "span", ...ends, y1: 7, y2: 7 }));
  }
  if (isCut) drawn.append(arrow());
  if (dot !== null) drawn.append(svg("circle", { class: "dot", cx: percent(dot), cy: 7, r: 4.5 }));
  return drawn;
}

/** At the end of the axis: the interval goes on. */
function arrow(): SVGElement {
  const place = svg("svg", { x: "100%", overflow: "visible" });
  place.append(svg("path", { class: "span beyond", fill: "none", d: "M-5 3 0 7-5 11" }));
  return place;
}

function axis(view: RankingView): HTMLElement {
  const marks = view.ticks.map((tick) => h("span", {}, tick.text));
  return h("div", { class: "rank-axis", "aria-hidden": "true" }, ...marks);
}

/** What a shared place means: "the place is 1 or 2" of `1–2`. */
function sharedPlaces(tier: string): string {
  const [first = 0, last = 0] = tier.split("–").map(Number);
  if (last - first > 3) return `the place is between ${first} and ${last}`;
  const places = Array.from({ length: last - first }, (_, i) => first + i);
  return `the place is ${places.join(", ")} or ${last}`;
}

function note(figures: Figures, isCut: boolean, actions: RankingActions): HTMLElement {
  const interval = figures.ranking ? intervalName(figures, figures.ranking.metric) : "";
  const bars = interval ? `Bar: the figure. Line: its ${interval}. ` : "";
  const cut = isCut ? "Arrow: the interval goes on beyond the axis. " : "";
  const shared = figures.ranking?.rows.find((row) => /^\d+–\d+$/.test(row.tier ?? ""))?.tier;
  const unsure = shared ? ` ${shared}: ${sharedPlaces(shared)}; the trials do not tell which.` : "";
  const base = `${bars}${cut}Number before a name: its place.${unsure}`;
  const hint = actions.chooseBaseline ? " Press a row to make it the baseline (1×)." : "";
  return h("p", { class: "hint" }, base + hint);
}

/** The trust of the answer lists all of them. */
const MOST_REASONS = 3;

function withheld(figures: Figures, actions: RankingActions): HTMLElement[] {
  const { status, reasons } = figures.outcome;
  const unlike = status === "not_comparable";
  const lead = unlike
    ? "Not ranked: these series were not measured under the same conditions."
    : figures.ratios
      ? "Not ranked: each workload is compared on its own, in the table of ratios."
      : "Not ranked: too few measurements to rank these series.";
  const more = reasons.length - MOST_REASONS;
  const list = h(
    "ul",
    { class: "reasons" },
    ...reasons.slice(0, MOST_REASONS).map((reason) => h("li", {}, reason)),
    more > 0 && h("li", {}, `and ${more} more, under Checks`),
  );
  return [
    h("p", { class: "withheld" }, lead),
    ...(unlike && reasons.length > 0 ? [list] : []),
    ...(unlike && actions.override ? [overrideOffer(actions.override)] : []),
  ];
}

function overrideOffer(override: (on: boolean) => void): HTMLElement {
  return h(
    "div",
    { class: "override" },
    h(
      "p",
      { class: "hint" },
      "You can rank them anyway. The link, the table and every export will then say that the ranking was overridden: differences may come from the conditions as well as from the servers.",
    ),
    button({ class: "button", "data-control": "override" }, () => override(true), "Rank anyway"),
  );
}

// The ranking panel: one button per series; pressing it makes that series ×1.
import { type Figures, intervalName } from "../api/figures";
import { slotsOf } from "../charts/identity";
import { type RankingRow, type RankingView, rankingView } from "../charts/ranking";
import { SLOTS } from "../charts/theme";
import { exact, kindOf, loadPoint } from "../text/format";
import { h, svg } from "./dom";
import { swatch } from "./swatch";

export interface RankingActions {
  /** Null on a frozen page: what is frozen cannot get another baseline. */
  readonly chooseBaseline: ((series: string) => void) | null;
  readonly chooseLoad: ((x: number) => void) | null;
}

export function rankingPanel(figures: Figures, actions: RankingActions): HTMLElement[] {
  const view = rankingView(figures);
  if (!view) return [h("h2", {}, "Ranking"), ...withheld(figures)];
  const slots = slotsOf(figures.series);
  const list = h("ol", { class: "ranks" });
  for (const row of view.rows) list.append(rank(figures, row, slots.get(row.series) ?? 0, actions));
  return [
    h(
      "div",
      { class: "panel-head" },
      h("h2", {}, heading(view)),
      loadChoice(figures, view, actions),
    ),
    list,
    axis(view),
    note(figures, actions),
  ];
}

function heading(view: RankingView): string {
  return `${view.metric}, ${view.better} is better`;
}

function loadChoice(figures: Figures, view: RankingView, actions: RankingActions): HTMLElement {
  const { chooseLoad } = actions;
  const name = figures.x.label.toLowerCase();
  if (!chooseLoad) return h("p", { class: "hint" }, `at ${loadPoint(view.x, figures.x.label)}`);
  const select = h("select", {
    "aria-label": `Rank at this number of ${name}`,
    "data-control": "at",
  });
  for (const value of figures.x.values) {
    select.append(h("option", { value, selected: value === view.x }, String(value)));
  }
  select.addEventListener("change", () => chooseLoad(Number(select.value)));
  return h("label", { class: "inline" }, "at", select, name);
}

function rank(
  figures: Figures,
  row: RankingRow,
  slot: number,
  actions: RankingActions,
): HTMLLIElement {
  const { chooseBaseline } = actions;
  const inside = [
    h("span", { class: "tier", title: "Tier: series in one tier cannot be told apart" }, row.tier),
    h("span", { class: "name" }, swatch(slot), h("span", {}, row.label)),
    h(
      "span",
      { class: "ratio" },
      h("strong", {}, row.ratio),
      row.ratioRange && ` ${row.ratioRange}`,
    ),
    plot(row, slot),
    h(
      "span",
      { class: "absolute", title: exact(kindOf(unitName(figures)), row.exact) },
      row.exact === null ? row.value : `${row.value}${rankUnit(figures)}`,
    ),
    remark(row),
  ];
  if (!chooseBaseline) return h("li", {}, h("div", { class: "rank" }, ...inside));
  const control = h(
    "button",
    {
      type: "button",
      class: "rank",
      "aria-pressed": String(row.baseline),
      "data-series": row.series,
      title: row.baseline ? "This is the baseline" : `Make ${row.label} the baseline`,
    },
    ...inside,
  );
  control.addEventListener("click", () => chooseBaseline(row.series));
  return h("li", {}, control);
}

function unitName(figures: Figures): string {
  return figures.metrics.find((metric) => metric.id === figures.ranking?.metric)?.unit ?? "";
}

function rankUnit(figures: Figures): string {
  const suffix = rankingView(figures)?.unit.suffix ?? "";
  return unitName(figures) === "req/s" ? `${suffix} req/s` : suffix;
}

function remark(row: RankingRow): HTMLElement | false {
  if (row.verdict !== "unchanged" && row.verdict !== "inconclusive") return false;
  const said = row.verdict === "unchanged" ? "no relevant difference" : "inconclusive";
  return h("span", { class: "remark" }, row.why ? `${said}: ${row.why}` : said);
}

const percent = (share: number): string => `${(share * 100).toFixed(2)}%`;

function plot(row: RankingRow, slot: number): SVGElement {
  const { dot, from, to } = row;
  const drawn = svg("svg", {
    class: `plot series-${slot % SLOTS}`,
    width: "100%",
    height: 14,
    "aria-hidden": "true",
    focusable: "false",
  });
  drawn.append(svg("line", { class: "rail", x1: 0, x2: "100%", y1: 7, y2: 7 }));
  if (from !== null && to !== null) {
    drawn.append(svg("line", { class: "span", x1: percent(from), x2: percent(to), y1: 7, y2: 7 }));
  }
  if (dot !== null) drawn.append(svg("circle", { class: "dot", cx: percent(dot), cy: 7, r: 4.5 }));
  return drawn;
}

function axis(view: RankingView): HTMLElement {
  const marks = view.ticks.map((tick) => h("span", {}, tick.text));
  return h("div", { class: "rank-axis", "aria-hidden": "true" }, ...marks);
}

function note(figures: Figures, actions: RankingActions): HTMLElement {
  const interval = figures.ranking ? intervalName(figures, figures.ranking.metric) : "";
  const bars = interval ? `Bars are the ${interval}. ` : "";
  const base = `${bars}Series that share a tier are not told apart.`;
  const how = actions.chooseBaseline ? " Press a row to make it ×1." : "";
  return h("p", { class: "hint" }, base + how);
}

function withheld(figures: Figures): HTMLElement[] {
  const { status, reasons } = figures.outcome;
  const lead =
    status === "not_comparable"
      ? "Not ranked: these series were not measured under like conditions."
      : "Not ranked: there is not enough to rank by.";
  const list = h("ul", { class: "reasons" }, ...reasons.map((reason) => h("li", {}, reason)));
  return [h("p", { class: "withheld" }, lead), ...(reasons.length > 0 ? [list] : [])];
}

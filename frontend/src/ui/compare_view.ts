// The comparison, live or frozen: reads figures, fills the page, turns clicks into a new query.
import type { Chart as AnyChart } from "chart.js";
import type { Figures, Metric, MetricId } from "../api/figures";
import { metricOf } from "../api/figures";
import { defaultEmphasis } from "../charts/identity";
import type { SweepOptions } from "../charts/sweep";
import { onThemeChange, readTheme } from "../charts/theme";
import { emphasisFrom, emphasisHash, logX, logY, withValue } from "../state/query";
import { Mounts, otherMetrics } from "./charts_panel";
import { chips } from "./chips";
import { button, h, optionalSlot, slot } from "./dom";
import { checkList, outcome, runList } from "./evidence";
import { figuresTable } from "./figures_table";
import { onKey } from "./keyboard";
import { legend, marksKey } from "./legend";
import { rankingPanel } from "./ranking";
import { type Spot, sentence, step } from "./walk";

const LABEL_WIDTH = 178;
const WIDE = "(min-width: 720px)";

export interface ViewHooks {
  /** Asks for another view; the page decides whether that means fetching. */
  readonly go: (query: string) => void;
  readonly frozen: boolean;
}

export class CompareView {
  readonly #root: HTMLElement;
  readonly #hooks: ViewHooks;
  readonly #mounts = new Mounts();
  #figures: Figures | null = null;
  #query = "";
  #emphasis: ReadonlySet<string> = new Set();
  #spot: Spot | null = null;

  constructor(root: HTMLElement, hooks: ViewHooks) {
    this.#root = root;
    this.#hooks = hooks;
    onThemeChange(() => this.#drawCharts());
    matchMedia(WIDE).addEventListener("change", () => this.#drawCharts());
    addEventListener("beforeprint", () => this.#mounts.resize());
    addEventListener("afterprint", () => this.#mounts.resize());
    this.#bindKeys();
  }

  busy(busy: boolean): void {
    this.#root.setAttribute("aria-busy", String(busy));
  }

  fail(message: string, hint: string | null): void {
    const box = slot(this.#root, "problem");
    box.replaceChildren(h("p", {}, h("strong", {}, message)), ...(hint ? [h("p", {}, hint)] : []));
    box.hidden = false;
    if (this.#figures) return;
    slot(this.#root, "finding").textContent = "This comparison could not be read";
    this.#root.classList.add("is-empty", "has-failed");
  }

  /** Shows a query at once with the figures at hand; `show` follows when new ones arrive. */
  preview(query: string): void {
    this.#query = query;
    if (!this.#figures) return;
    this.#drawControls();
    this.#drawCharts();
  }

  show(figures: Figures, query: string): void {
    this.#figures = figures;
    this.#query = query;
    this.#spot = null;
    const ranked = figures.ranking?.rows.map((row) => row.series) ?? [];
    this.#emphasis = emphasisFrom(location.hash) ?? defaultEmphasis(figures.series, ranked);
    slot(this.#root, "problem").hidden = true;
    this.#root.classList.remove("has-failed");
    this.#root.classList.toggle("is-empty", figures.series.length === 0);
    this.#root.classList.add("is-ready");
    this.#drawHead(figures);
    this.#drawControls();
    this.#drawRanking(figures);
    this.#drawCharts();
    this.#drawEvidence(figures);
  }

  get #metric(): MetricId {
    const asked = new URLSearchParams(this.#query).get("metric");
    const known = this.#figures?.metrics.find((metric) => metric.id === asked);
    if (known) return known.id;
    return this.#hooks.frozen ? (this.#figures?.metric ?? "throughput") : "throughput";
  }

  #set(key: string, value: string | null): void {
    this.#hooks.go(withValue(this.#query, key, value));
  }

  #drawHead(figures: Figures): void {
    slot(this.#root, "finding").textContent = figures.finding;
    slot(this.#root, "conditions").textContent = figures.conditions;
    slot(this.#root, "outcome").replaceChildren(...outcome(figures));
    const cut = slot(this.#root, "truncated");
    cut.hidden = !figures.truncated;
    cut.textContent = typeof figures.truncated === "string" ? figures.truncated : TRUNCATED;
    optionalSlot(this.#root, "chips")?.replaceChildren(
      ...chips(figures, this.#query, this.#hooks.go),
    );
    if (!this.#hooks.frozen) document.title = `${figures.finding} · Loadsheet`;
  }

  #drawControls(): void {
    const figures = this.#figures;
    if (!figures) return;
    const chosen = this.#metric;
    slot(this.#root, "metrics").replaceChildren(
      ...figures.metrics.map((metric) =>
        button(
          { class: "tab", "aria-pressed": String(metric.id === chosen), "data-metric": metric.id },
          () => this.#set("metric", metric.id),
          metric.label,
        ),
      ),
    );
    const x = logX(this.#query, figures.x.values);
    const y = logY(this.#query);
    slot(this.#root, "scales").replaceChildren(
      toggle("log x", x, () => this.#set("logx", x ? "0" : "1")),
      toggle("log y", y, () => this.#set("logy", y ? null : "1")),
    );
  }

  #drawRanking(figures: Figures): void {
    const live = !this.#hooks.frozen;
    slot(this.#root, "ranking").replaceChildren(
      ...rankingPanel(figures, {
        chooseBaseline: live ? (series) => this.#set("baseline", series) : null,
        chooseLoad: live ? (x) => this.#set("at", String(x)) : null,
      }),
    );
  }

  #options(figures: Figures, metric: MetricId, size: "main" | "small"): SweepOptions {
    return {
      metric,
      size,
      logX: logX(this.#query, figures.x.values),
      logY: logY(this.#query),
      emphasis: this.#emphasis,
      theme: readTheme(this.#root),
      labelWidth: size === "main" && matchMedia(WIDE).matches ? LABEL_WIDTH : 0,
      at: figures.ranking?.x ?? null,
    };
  }

  #drawCharts(): void {
    const figures = this.#figures;
    if (!figures) return;
    this.#mounts.clear();
    if (figures.series.length === 0) return;
    const main = this.#metric;
    const described = metricOf(figures, main);
    slot(this.#root, "chart-title").replaceChildren(
      `${described.label} against ${figures.x.label.toLowerCase()}`,
      h("span", { class: "aside" }, `${unitName(described)}${described.better} is better`),
    );
    const options = this.#options(figures, main, "main");
    const chart = this.#mounts.mount(slot(this.#root, "chart"), figures, options);
    this.#bindChart(chart);
    slot(this.#root, "legend").replaceChildren(
      ...legend(figures, this.#emphasis, (series) => this.#toggleEmphasis(series)),
    );
    slot(this.#root, "marks").replaceChildren(marksKey(figures, options));
    this.#drawMultiples(figures, main);
  }

  #drawMultiples(figures: Figures, main: MetricId): void {
    const boxes = otherMetrics(figures, main).map((id) => ({
      id,
      box: h("div", { class: "chart chart-small" }),
    }));
    slot(this.#root, "multiples").replaceChildren(
      ...boxes.map(({ id, box }) => this.#multiple(figures, id, box)),
    );
    for (const { id, box } of boxes) {
      this.#mounts.mount(box, figures, this.#options(figures, id, "small"));
    }
  }

  #multiple(figures: Figures, id: MetricId, box: HTMLElement): HTMLElement {
    const metric = metricOf(figures, id);
    const arrow = metric.better === "higher" ? "↑" : "↓";
    const open = button(
      { class: "multiple-title", title: "Show in the main chart" },
      () => this.#set("metric", id),
      metric.label,
      h("span", { class: "aside", title: `${metric.better} is better` }, unitName(metric), arrow),
    );
    return h("section", { class: "panel multiple" }, h("h3", {}, open), box);
  }

  #toggleEmphasis(series: string): void {
    const next = new Set(this.#emphasis);
    if (!next.delete(series)) next.add(series);
    this.#emphasis = next;
    history.replaceState(history.state, "", emphasisHash(next));
    this.#drawCharts();
    const again = `.legend-item[data-series="${CSS.escape(series)}"]`;
    this.#root.querySelector<HTMLElement>(again)?.focus();
  }

  #drawEvidence(figures: Figures): void {
    slot(this.#root, "table").replaceChildren(figuresTable(figures));
    slot(this.#root, "checks").replaceChildren(checkList(figures.checks));
    slot(this.#root, "runs").replaceChildren(runList(figures.runs));
    for (const name of ["json", "csv"] as const) {
      const link = optionalSlot(this.#root, `link-${name}`);
      const href = figures.links?.[name];
      if (link && href && !this.#hooks.frozen) link.setAttribute("href", href);
    }
    const kept = this.#root.querySelector<HTMLInputElement>("input[name=query]");
    if (kept) kept.value = this.#query;
  }

  #bindChart(chart: AnyChart): void {
    chart.canvas.addEventListener("click", (event) => {
      const [hit] = chart.getElementsAtEventForMode(
        event,
        "nearest",
        { axis: "x", intersect: false },
        false,
      );
      const value = hit && chart.data.datasets[hit.datasetIndex]?.data[hit.index];
      if (!this.#hooks.frozen && value && typeof value === "object" && "x" in value) {
        this.#set("at", String(value.x));
      }
    });
  }

  #bindKeys(): void {
    const box = slot(this.#root, "chart");
    box.addEventListener("keydown", (event) => {
      if (!event.key.startsWith("Arrow") || !this.#figures) return;
      event.preventDefault();
      this.#spot = step(this.#figures, this.#spot, event.key);
      if (!this.#spot) return;
      slot(this.#root, "readout").textContent = sentence(this.#figures, this.#metric, this.#spot);
    });
    onKey("t", () => slot(this.#root, "table").focus());
    onKey("b", () => {
      const series = this.#spot && this.#figures?.series[this.#spot.series];
      if (series && !this.#hooks.frozen) this.#set("baseline", series.id);
    });
  }
}

const TRUNCATED = "Only a part of the matching series is shown; add a filter to see the rest.";

/** Times and shares carry their unit on each tick; a rate names it once, beside the title. */
function unitName(metric: Metric): string {
  return metric.unit === "req/s" ? "req/s, " : "";
}

function toggle(label: string, on: boolean, act: () => void): HTMLButtonElement {
  return button({ class: "toggle", "aria-pressed": String(on) }, act, label);
}

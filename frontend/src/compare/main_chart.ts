// The main chart, or one per panel, with its legend and readout; and the strip of other charts.
import type { Chart as AnyChart } from "chart.js";
import {
  ERROR_CLASSES,
  type Figures,
  knownMetrics,
  type MetricId,
  metricOf,
  parts,
  type X,
} from "../api/figures";
import { curvesOf } from "../charts/percentiles";
import { emphasisOf } from "../charts/style/series_style";
import { type ChartTheme, readTheme } from "../charts/style/theme";
import { summaryOf } from "../charts/summary";
import { hasTradeoff } from "../charts/tradeoff";
import {
  type AnyConfig,
  type ChartView,
  errorsNote,
  headline,
  metricName,
  saidBelow,
  type ViewOptions,
  viewChart,
  viewTitle,
  whyEmpty,
} from "../charts/views";
import {
  emphasisHash,
  limitOf,
  logX,
  logY,
  type View,
  viewOf,
  withValue,
  withView,
} from "../query/query";
import { button, h, slot } from "../site/dom";
import { name } from "../site/names";
import { type Spot, sentence, step, trails } from "./keyboard_nav";
import { legend, marksKey, pressLegend } from "./legend";
import { Mounts } from "./mounted_charts";
import { ratioTable } from "./ratio_table";

const LABEL_WIDTH = 178;
const WIDE = "(min-width: 720px)";
const MOST_CARDS = 6;

export interface StageHooks {
  readonly go: (query: string) => void;
  /** Null where the load point cannot be chosen: on a frozen page. */
  readonly chooseLoad: ((x: X) => void) | null;
  readonly emphasise: (emphasis: ReadonlySet<string>) => void;
}

export interface Scene {
  readonly figures: Figures;
  readonly query: string;
  readonly metric: MetricId;
  readonly emphasis: ReadonlySet<string>;
}

interface Card {
  readonly view: ChartView;
  readonly metric: MetricId;
}

export class Stage {
  readonly #root: HTMLElement;
  readonly #hooks: StageHooks;
  readonly #mounts = new Mounts();
  #scene: Scene | null = null;
  #main: readonly AnyChart[] = [];
  /** Read once for each drawing: every colour of it is asked of the style sheet. */
  #theme: ChartTheme | null = null;
  #spot: Spot | null = null;
  #frame = 0;
  #paper = false;

  constructor(root: HTMLElement, hooks: StageHooks) {
    this.#root = root;
    this.#hooks = hooks;
    matchMedia(WIDE).addEventListener("change", () => this.redraw());
    addEventListener("beforeprint", () => this.#print(true));
    addEventListener("afterprint", () => this.#print(false));
    this.#bindWalk();
    this.#bindHighlight();
  }

  /** The series under the keyboard, for `b`. */
  get chosen(): string | null {
    const scene = this.#scene;
    if (!scene || !this.#spot) return null;
    return this.#trails(scene)[this.#spot.series]?.series ?? null;
  }

  show(scene: Scene): void {
    // Another baseline changes no line: charts are drawn again only where they would differ.
    const before = this.#scene;
    this.#scene = scene;
    if (!before || !sameDrawing(before, scene)) {
      this.#spot = null;
      this.redraw();
    } else if (emphasisHash(before.emphasis) !== emphasisHash(scene.emphasis)) {
      this.#restyle(scene);
    }
  }

  /** Other lines are loud; nothing is laid out anew. */
  #restyle(scene: Scene): void {
    pressLegend(slot(this.#root, "legend"), scene.figures, scene.emphasis);
    this.#drawMarks(scene);
    this.#mounts.restyle(this.#main);
  }

  redraw(): void {
    const scene = this.#scene;
    if (!scene) return;
    this.#mounts.clear();
    this.#main = [];
    this.#theme = null;
    if (scene.figures.series.length === 0) return;
    this.#drawHead(scene);
    this.#drawMain(scene);
    this.#drawCards(scene);
    // On paper all is in view at once, and a change of medium may draw more than once.
    if (this.#paper) this.#mounts.drawAll();
  }

  #print(paper: boolean): void {
    this.#paper = paper;
    this.redraw();
  }

  #drawHead({ figures, query, metric, emphasis }: Scene): void {
    const view = viewOf(query);
    const described = metricOf(figures, metric);
    const better = view === "sweep" || view === "trend" || view === "ratios";
    slot(this.#root, "chart-title").replaceChildren(
      viewTitle(figures, view, metric),
      ...(better ? [h("span", { class: "aside" }, `${described.better} is better`)] : []),
    );
    const summary = slot(this.#root, "summary");
    summary.textContent = saidBelow(figures, view, metric);
    summary.hidden = summary.textContent === "";
    slot(this.#root, "legend").replaceChildren(
      ...legend(figures, emphasis, (ids, on) => this.#toggle(ids, on)),
    );
  }

  #drawMain(scene: Scene): void {
    const { figures, query, metric } = scene;
    const view = viewOf(query);
    const box = slot(this.#root, "chart");
    const empty = whyEmpty(figures, view, metric);
    const isTable = view === "ratios" && empty === null;
    box.classList.toggle("is-grid", !isTable && figures.panels != null);
    box.classList.toggle("is-table", isTable);
    // Several rankings have more room below than beside: none is hidden until it is scrolled to.
    const stacked = isTable || figures.panels != null;
    slot(this.#root, "stage").classList.toggle("is-stacked", stacked);
    slot(this.#root, "legend").hidden = view === "ratios";
    this.#drawMarks(scene);
    if (empty !== null) {
      box.replaceChildren(h("p", { class: "empty chart-empty" }, empty));
      return;
    }
    if (view === "ratios") {
      box.replaceChildren(ratioTable(figures));
      return;
    }
    this.#main = figures.panels ? this.#drawPanels(scene, view) : [this.#drawOne(scene, view, box)];
  }

  #drawMarks(scene: Scene): void {
    const { figures, query, metric } = scene;
    const view = viewOf(query);
    const drawn = view !== "ratios" && whyEmpty(figures, view, metric) === null;
    const key = (): string =>
      view === "errors"
        ? errorsNote(figures)
        : marksKey(figures, view, this.#options(scene, "main"));
    slot(this.#root, "marks").textContent = drawn ? key() : "";
  }

  #drawOne(scene: Scene, view: ChartView, box: HTMLElement): AnyChart {
    const { figures, metric } = scene;
    const configure = (): AnyConfig =>
      viewChart(figures, view, this.#options(this.#now(scene), "main"));
    const chart = this.#mounts.mount(box, configure, description(figures, view, metric));
    this.#bindClick(chart);
    return chart;
  }

  /** The scene with the lines that are loud now. */
  #now(scene: Scene): Scene {
    return { ...scene, emphasis: this.#scene?.emphasis ?? scene.emphasis };
  }

  #drawPanels(scene: Scene, view: ChartView): readonly AnyChart[] {
    const { figures } = scene;
    // The panels' findings are about the same metric as the one above them all.
    const told = headline(figures, view, scene.metric) === figures.finding;
    const all = (figures.panels ?? []).map((panel, i) => {
      const box = h("div", { class: "chart chart-panel" });
      const part = parts(figures)[i] ?? figures;
      const frame = h(
        "section",
        { class: "chart-part" },
        h("h3", {}, name(panel.value)),
        told && h("p", { class: "hint" }, name(panel.finding, 320)),
        box,
      );
      return { part, box, frame };
    });
    slot(this.#root, "chart").replaceChildren(...all.map(({ frame }) => frame));
    return all.map(({ part, box }) => {
      const configure = (): AnyConfig =>
        viewChart(part, view, {
          ...this.#options({ ...this.#now(scene), figures: part }, "main"),
          labelWidth: 0,
          scope: figures,
        });
      const chart = this.#mounts.mount(box, configure, description(part, view, scene.metric));
      this.#bindClick(chart);
      return chart;
    });
  }

  #drawCards(scene: Scene): void {
    const strip = slot(this.#root, "multiples");
    const wanted = scene.figures.panels ? [] : cards(scene.figures, scene.query, scene.metric);
    const boxes = wanted.map((card) => ({ card, box: h("div", { class: "chart chart-small" }) }));
    strip.replaceChildren(...boxes.map(({ card, box }) => this.#card(scene, card, box)));
    for (const { card, box } of boxes) {
      this.#mounts.later(box, () => {
        const { figures } = scene;
        const configure = (): AnyConfig => {
          const now = this.#now(scene);
          const emphasis = loudOn(now, card.view);
          const options = this.#options({ ...now, emphasis, metric: card.metric }, "small");
          return viewChart(figures, card.view, options);
        };
        this.#mounts.mount(box, configure, description(figures, card.view, card.metric));
      });
    }
  }

  #card({ figures, query }: Scene, card: Card, box: HTMLElement): HTMLElement {
    const metric = metricOf(figures, card.metric);
    const arrow = metric.better === "higher" ? "↑" : "↓";
    const aside =
      card.view === "sweep"
        ? h("span", { class: "aside", title: `${metric.better} is better` }, arrow)
        : null;
    const next = withView(
      card.view === "sweep" ? withValue(query, "metric", card.metric) : query,
      card.view,
    );
    const open = button(
      { class: "multiple-title", title: "Show in the main chart" },
      () => this.#hooks.go(next),
      card.view === "sweep" ? metricName(metric) : viewTitle(figures, card.view, card.metric),
      aside,
    );
    return h("section", { class: "panel multiple" }, h("h3", {}, open), box);
  }

  #options({ figures, query, metric, emphasis }: Scene, size: "main" | "small"): ViewOptions {
    this.#theme ??= readTheme(this.#root, this.#paper);
    return {
      metric,
      size,
      emphasis,
      logX: logX(query, figures.x.values),
      logY: logY(query),
      theme: this.#theme,
      labelWidth: size === "main" && matchMedia(WIDE).matches ? LABEL_WIDTH : 0,
      at: figures.ranking?.x ?? null,
      limit: limitOf(query) ?? figures.capacity?.limit_us ?? null,
    };
  }

  #toggle(ids: readonly string[], on: boolean): void {
    if (!this.#scene) return;
    const next = new Set(this.#scene.emphasis);
    for (const id of ids) {
      if (on) next.add(id);
      else next.delete(id);
    }
    this.#hooks.emphasise(next);
  }

  #bindClick(chart: AnyChart): void {
    const { chooseLoad } = this.#hooks;
    if (!chooseLoad) return;
    chart.canvas.addEventListener("click", (event) => {
      const mode = { axis: "x", intersect: false } as const;
      const [hit] = chart.getElementsAtEventForMode(event, "nearest", mode, false);
      const point = hit && chart.data.datasets[hit.datasetIndex]?.data[hit.index];
      const at = (point as { at?: X } | undefined)?.at;
      if (at !== undefined) chooseLoad(at);
    });
  }

  /** Whatever stands for a series brings its line forward: legend, ranking, table, the line. */
  #bindHighlight(): void {
    const aim = (event: Event): void => {
      const target = event.target as Element | null;
      if (target instanceof HTMLCanvasElement) return;
      this.#lift(target?.closest<HTMLElement>("[data-series]")?.dataset.series ?? null);
    };
    this.#root.addEventListener("pointerover", aim);
    this.#root.addEventListener("focusin", aim);
    this.#root.addEventListener("pointerleave", () => this.#lift(null));
    this.#root.addEventListener("pointermove", (event) => {
      if (!(event.target instanceof HTMLCanvasElement)) return;
      const chart = this.#main.find((one) => one.canvas === event.target);
      if (!chart) return;
      const [hit] = chart.getElementsAtEventForMode(event, "nearest", { intersect: true }, false);
      const drawn = hit && (chart.data.datasets[hit.datasetIndex] as { seriesId?: string });
      this.#lift(drawn?.seriesId ?? null);
    });
  }

  /** At most once a frame, however fast the pointer goes. */
  #lift(series: string | null): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      this.#mounts.highlight(series, this.#main);
      for (const item of this.#root.querySelectorAll<HTMLElement>(".legend-item, .rank")) {
        item.classList.toggle("is-lit", series !== null && item.dataset.series === series);
      }
    });
  }

  #trails({ figures, query, metric }: Scene): ReturnType<typeof trails> {
    return trails(figures, viewOf(query), metric);
  }

  #bindWalk(): void {
    slot(this.#root, "chart").addEventListener("keydown", (event) => {
      const scene = this.#scene;
      if (!event.key.startsWith("Arrow") || !scene) return;
      const all = this.#trails(scene);
      this.#spot = step(all, this.#spot, event.key);
      if (!this.#spot) return;
      event.preventDefault();
      slot(this.#root, "readout").textContent = sentence(all, this.#spot);
      const trail = all[this.#spot.series];
      this.#lift(trail?.series ?? null);
      this.#ring(trail?.series ?? "", trail?.stops[this.#spot.point]?.x ?? null);
    });
  }

  /** The point that is spoken grows as one under the pointer does. */
  #ring(series: string, x: X | null): void {
    for (const chart of this.#main) {
      const datasetIndex = chart.data.datasets.findIndex(
        (one) => (one as { seriesId?: string }).seriesId === series,
      );
      const index = (chart.data.datasets[datasetIndex]?.data ?? []).findIndex(
        (one) => (one as unknown as { at?: X }).at === x,
      );
      chart.setActiveElements(index < 0 ? [] : [{ datasetIndex, index }]);
      chart.draw();
    }
  }
}

/** Whether two scenes are drawn alike: another baseline or another answer may change no line. */
function sameDrawing(a: Scene, b: Scene): boolean {
  return howDrawn(a) === howDrawn(b) && dataOf(a.figures) === dataOf(b.figures);
}

function howDrawn({ figures, query, metric }: Scene): string {
  const x = logX(query, figures.x.values);
  return JSON.stringify([viewOf(query), x, logY(query), limitOf(query), metric]);
}

const known = new WeakMap<Figures, string>();

/** What of the figures the charts show. */
function dataOf(figures: Figures): string {
  const found = known.get(figures);
  if (found !== undefined) return found;
  const { series, curves, knees, capacity, changes, ratios, x, outcome } = figures;
  const panels = figures.panels?.map((panel) => [panel.value, panel.finding, panel.series]);
  const rest = [panels, x, figures.ranking?.x, outcome.status, outcome.overridden];
  const text = JSON.stringify([series, curves, knees, capacity, changes, ratios, rest]);
  known.set(figures, text);
  return text;
}

/** The other charts worth a look, without the one on the stage. */
function cards(figures: Figures, query: string, metric: MetricId): readonly Card[] {
  const view = viewOf(query);
  const main = view === "trend" ? "sweep" : view;
  const known = new Set(knownMetrics(figures).map((one) => one.id));
  const classes = figures.series.some((series) =>
    series.points.some((point) => ERROR_CLASSES.some((one) => (point.errors?.[one] ?? 0) > 0)),
  );
  const sweeps = ["throughput", "p99", ...(classes ? [] : ["error_rate"]), metric, "p50", ...known];
  const all: Card[] = [...new Set(sweeps)]
    .filter((id) => known.has(id) && !(id === "achieved" || (classes && id === "error_rate")))
    .map((id) => ({ view: "sweep" as const, metric: id }));
  const others: Card[] = [
    ...(classes ? [{ view: "errors" as const, metric }] : []),
    ...(curvesOf(figures).length > 0 ? [{ view: "nines" as const, metric }] : []),
    ...(hasTradeoff(figures, "p99") ? [{ view: "tradeoff" as const, metric }] : []),
  ];
  const shown = (card: Card): boolean =>
    card.view !== main || (card.view === "sweep" && card.metric !== metric);
  const order = [...all.slice(0, 2), ...others, ...all.slice(2)].filter(shown);
  return order.slice(0, MOST_CARDS);
}

/** Until the reader chooses, a card's loud lines are those that its own view is about. */
function loudOn({ figures, query, emphasis }: Scene, view: View): ReadonlySet<string> {
  const chosen = emphasisHash(emphasis) !== emphasisHash(emphasisOf(figures, viewOf(query)));
  return chosen ? emphasis : emphasisOf(figures, view);
}

function description(figures: Figures, view: View, metric: MetricId): string {
  return `${viewTitle(figures, view, metric)}. ${summaryOf(figures, view, metric)} The table below holds the same numbers.`;
}

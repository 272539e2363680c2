// The main chart, or one for each panel, with its legend and readout; and the small charts below.
import type { Chart as AnyChart } from "chart.js";
import {
  type Figures,
  knownMetrics,
  type Metric,
  type MetricId,
  metricOf,
  panelsOrWhole,
  pointsKey,
  type X,
} from "../api/figures";
import { chosenOf, drawnScene, isBoard, whyNotDrawn } from "../charts/drawn";
import { headline, summaryText, textBelow } from "../charts/headline";
import { whyNoValues } from "../charts/missing_metric";
import { LABEL_WIDTH } from "../charts/plugins/end_labels";
import { chartOptions, type Scene } from "../charts/scene";
import { type ChartTheme, readTheme } from "../charts/style/theme";
import {
  type AnyConfig,
  type Build,
  CHART_TABS,
  type ChartOptions,
  type View,
} from "../charts/view";
import { metricName, viewOf } from "../charts/views";
import { type Asked, zoomIn, zoomName, zoomOut, zoomTo } from "../charts/zoom";
import { hiddenIn, highlightHash, limitOf, lookKey, withHidden, withValue } from "../query/query";
import { button, h, slot } from "../site/dom";
import { nameElement } from "../site/names";
import { bindClicks } from "./chart_clicks";
import { ChartKeys } from "./chart_keys";
import { bindDragRange } from "./drag_range";
import { showLegend, updateLegend } from "./legend";
import { MountedCharts } from "./mounted_charts";
import { PointTrialList } from "./point_trials";
import { ratioTable } from "./ratio_table";
import { pressAlone, pressSeries, type SeriesChoice } from "./series_choice";
import { bindSeriesHover, markHovered } from "./series_hover";
import { type Card, cardFrame, direction, smallCharts, tabOf } from "./small_charts";

const WIDE = "(min-width: 720px)";

export interface MainChartHooks {
  readonly go: (query: string) => void;
  /** Null where the load point cannot be chosen: on a frozen page. */
  readonly chooseLoad: ((x: X) => void) | null;
  readonly highlight: (highlighted: ReadonlySet<string>) => void;
}

export class MainChart {
  readonly #root: HTMLElement;
  readonly #hooks: MainChartHooks;
  readonly #mounted = new MountedCharts();
  /** Null where the reader may not see trials. */
  readonly #trials: PointTrialList | null;
  readonly #keys: ChartKeys;
  readonly #zoomNote = h("p", { class: "zoom-note", hidden: true });
  #scene: Scene | null = null;
  #charts: readonly AnyChart[] = [];
  /** Kept until the theme changes: reading every colour from the style sheet takes time. */
  #theme: ChartTheme | null = null;
  #hoverFrame = 0;
  #isPaper = false;

  constructor(root: HTMLElement, hooks: MainChartHooks) {
    this.#root = root;
    this.#hooks = hooks;
    const { trialsUrl } = root.dataset;
    const returnTo = slot(root, "chart");
    this.#trials = trialsUrl
      ? new PointTrialList(trialsUrl, { rankAt: hooks.chooseLoad, returnTo })
      : null;
    if (this.#trials) slot(root, "readout").after(this.#trials.element);
    slot(root, "legend").after(this.#zoomNote);
    matchMedia(WIDE).addEventListener("change", () => this.redraw());
    addEventListener("beforeprint", () => this.#print(true));
    addEventListener("afterprint", () => this.#print(false));
    this.#keys = new ChartKeys(slot(root, "chart"), {
      scene: () => this.#scene,
      charts: () => this.#charts,
      hover: (series) => this.#hover(series),
      say: (text) => {
        slot(root, "readout").textContent = text;
      },
      go: (next) => this.#go(next),
      openPoint: (series, x) => this.#openTrials(series, x),
    });
    bindSeriesHover(
      root,
      () => this.#charts,
      (series) => this.#hover(series),
    );
  }

  /** The series that the arrow keys are on. */
  get keyboardSeries(): string | null {
    return this.#keys.series;
  }

  show(scene: Scene): void {
    // Another baseline changes no line: charts are drawn again only where they would differ.
    const before = this.#scene;
    this.#scene = scene;
    if (!before || !isSameDrawing(before, scene)) {
      this.#keys.forget();
      this.#trials?.close();
      this.#draw(before);
    } else if (highlightHash(before.highlighted) !== highlightHash(scene.highlighted)) {
      if (isBoard(scene.figures)) this.#draw();
      else this.#restyle(scene);
    }
  }

  /** Other lines are highlighted; nothing is laid out again. */
  #restyle(scene: Scene): void {
    updateLegend(slot(this.#root, "legend"), scene.figures, choiceOf(scene));
    this.#drawMarks(drawnScene(scene));
    this.#mounted.restyle(this.#charts);
  }

  /** In the colours and the width of now. */
  redraw(): void {
    this.#theme = null;
    this.#draw();
  }

  /** `before`: what is drawn now, where its chart may be refilled. */
  #draw(before: Scene | null = null): void {
    const scene = this.#scene;
    if (!scene) return;
    const drawn = drawnScene(scene);
    const [chart] = this.#charts;
    const kept = before && chart && mayRefill(drawnScene(before), drawn) ? chart : null;
    this.#mounted.clear(kept);
    this.#charts = kept ? [kept] : [];
    if (scene.figures.series.length === 0) return;
    this.#drawHead(drawn);
    this.#drawLegend(scene);
    this.#drawMain(drawn);
    this.#drawCards(drawn);
    // On paper everything is in view at once, and a change of medium may draw more than once.
    if (this.#isPaper) this.#mounted.drawAll();
  }

  #print(isPaper: boolean): void {
    this.#isPaper = isPaper;
    this.redraw();
  }

  #drawHead(scene: Scene): void {
    const { figures, query, metric } = scene;
    const view = viewOf(query);
    slot(this.#root, "chart-title").replaceChildren(
      // The name of the view says the axis.
      view.isByMetric ? metricName(metricOf(figures, metric)) : view.title(figures, metric),
      ...(view.hasDirection ? [" ", direction(metricOf(figures, metric))] : []),
    );
    const summary = slot(this.#root, "summary");
    summary.textContent = whyNotDrawn(scene) === null ? textBelow(figures, view, metric) : "";
    summary.hidden = summary.textContent === "";
  }

  #drawLegend(scene: Scene): void {
    const { figures, highlighted } = scene;
    const listed = isBoard(figures) ? chosenOf(figures, highlighted) : figures;
    showLegend(slot(this.#root, "legend"), listed, choiceOf(scene), {
      press: (ids, alone) => this.#choose(ids, alone),
      showAll: () => this.#go(({ query }) => withHidden(query, [])),
    });
    const name = zoomName(scene);
    const reset = button({ class: "link" }, () => this.#go(zoomOut), "Reset zoom");
    this.#zoomNote.replaceChildren(`Zoomed to ${name} · `, reset);
    this.#zoomNote.hidden = name === "";
  }

  #drawMain(scene: Scene): void {
    const { figures, query } = scene;
    const view = viewOf(query);
    const box = slot(this.#root, "chart");
    const empty = whyNotDrawn(scene);
    const isTable = view.build === null && empty === null;
    box.classList.toggle("is-grid", !isTable && figures.panels != null);
    box.classList.toggle("is-table", isTable);
    // Several rankings have more room below than beside: none is hidden until it is scrolled to.
    slot(this.#root, "stage").classList.toggle("is-stacked", isTable || figures.panels != null);
    slot(this.#root, "legend").hidden = view.build === null || empty !== null;
    this.#drawMarks(scene);
    if (empty !== null) box.replaceChildren(this.#emptyChart(scene, empty));
    else if (view.build === null) box.replaceChildren(ratioTable(figures));
    else if (figures.panels) this.#charts = this.#drawPanels(scene, view, view.build);
    else if (this.#charts.length > 0) this.#refill(scene, view, view.build, box);
    else this.#charts = [this.#drawChart(scene, view, view.build, box)];
  }

  #refill(scene: Scene, view: View, build: Build, box: HTMLElement): void {
    const configure = (): AnyConfig =>
      build(scene.figures, this.#options(this.#highlightedNow(scene), "main"));
    this.#mounted.refill(box, configure, description(scene.figures, view, scene.metric));
  }

  /** Why nothing is drawn, and the metrics that the figures hold. */
  #emptyChart({ figures, query, metric }: Scene, why: string): HTMLElement {
    const isUnknown = viewOf(query).isByMetric && whyNoValues(figures, metric) === why;
    const offers = isUnknown ? knownMetrics(figures) : [];
    const offer = ({ id, label }: Metric): HTMLElement =>
      button({ class: "button" }, () => this.#hooks.go(withValue(query, "metric", id)), label);
    return h(
      "div",
      { class: "empty chart-empty" },
      h("p", {}, why),
      offers.length > 0 && h("p", { class: "offers" }, "Show instead: ", ...offers.map(offer)),
    );
  }

  #drawMarks(scene: Scene): void {
    const { figures, query } = scene;
    const view = viewOf(query);
    const isDrawn = view.build !== null && whyNotDrawn(scene) === null;
    const text = isDrawn ? view.legend(figures, this.#options(scene, "main")) : "";
    slot(this.#root, "marks").textContent = text;
  }

  /** One chart; the chart of a panel shares its axes with all panels. */
  #drawChart(
    scene: Scene,
    view: View,
    build: Build,
    box: HTMLElement,
    panel: Figures | null = null,
  ): AnyChart {
    const figures = panel ?? scene.figures;
    const configure = (): AnyConfig => {
      const options = this.#options({ ...this.#highlightedNow(scene), figures }, "main");
      return build(figures, panel ? { ...options, labelWidth: 0, scope: scene.figures } : options);
    };
    const chart = this.#mounted.mount(box, configure, description(figures, view, scene.metric));
    bindDragRange(chart, {
      choose: (range) => this.#go((asked) => zoomTo(asked, range)),
      reset: () => this.#go(zoomOut),
    });
    this.#bindClick(chart);
    return chart;
  }

  #drawPanels(scene: Scene, view: View, build: Build): readonly AnyChart[] {
    const { figures, metric } = scene;
    // The panels' findings are about the same metric as the one above them all.
    const hasFindings = headline(figures, view, metric) === figures.finding;
    const boxes = (figures.panels ?? []).map(() => h("div", { class: "chart chart-panel" }));
    const frames = (figures.panels ?? []).map((panel, i) =>
      h(
        "section",
        { class: "chart-part" },
        h("h3", {}, nameElement(panel.value)),
        hasFindings && h("p", { class: "hint" }, nameElement(panel.finding, 320)),
        boxes[i],
      ),
    );
    // Charts measure the element they are in: it must be on the page first.
    slot(this.#root, "chart").replaceChildren(...frames);
    const panels = panelsOrWhole(figures);
    return boxes.flatMap((box, i) => {
      const why = whyNotDrawn({ ...scene, figures: panels[i] ?? figures });
      if (why === null) return [this.#drawChart(scene, view, build, box, panels[i])];
      box.replaceChildren(h("p", { class: "empty" }, why));
      return [];
    });
  }

  /** The scene with the series that are highlighted now. */
  #highlightedNow(scene: Scene): Scene {
    return { ...scene, highlighted: this.#scene?.highlighted ?? scene.highlighted };
  }

  #drawCards(scene: Scene): void {
    const { figures, query, metric } = scene;
    const cards = figures.panels ? [] : smallCharts(figures, query, metric);
    for (const tab of CHART_TABS) {
      const inTab = cards.filter((card) => tabOf(figures, card) === tab);
      const place = slot(this.#root, `${tab}-charts`);
      place.replaceChildren();
      for (const card of inTab) {
        const box = h("div", { class: "chart chart-small" });
        place.append(cardFrame(figures, query, card, box, this.#hooks.go));
        this.#mounted.later(box, () => this.#drawCard(scene, card, box));
      }
    }
  }

  #drawCard(scene: Scene, { view, metric }: Card, box: HTMLElement): void {
    const { figures } = scene;
    const { build } = view;
    if (!build) return;
    const configure = (): AnyConfig => {
      const now = this.#highlightedNow(scene);
      return build(figures, this.#options({ ...now, metric }, "small"));
    };
    this.#mounted.mount(box, configure, description(figures, view, metric));
  }

  #options(scene: Scene, size: "main" | "small"): ChartOptions {
    this.#theme ??= readTheme(this.#root, this.#isPaper);
    const labelWidth = size === "main" && matchMedia(WIDE).matches ? LABEL_WIDTH : 0;
    return chartOptions(scene, { theme: this.#theme, size, labelWidth });
  }

  #choose(ids: readonly string[], alone: boolean): void {
    const scene = this.#scene;
    if (!scene) return;
    const before = choiceOf(scene);
    const after = (alone ? pressAlone : pressSeries)(scene.figures, before, ids);
    if (after.highlighted !== before.highlighted) this.#hooks.highlight(after.highlighted);
    else this.#hooks.go(withHidden(scene.query, after.hidden));
  }

  /** Opens the query that `next` gives, if it gives one. */
  #go(next: (asked: Asked) => string | null): void {
    if (!this.#scene) return;
    const { figures, query } = this.#scene;
    const to = next({ figures, query, isLive: this.#hooks.chooseLoad !== null });
    if (to !== null) this.#hooks.go(to);
  }

  #bindClick(chart: AnyChart): void {
    bindClicks(chart, {
      openPoint: this.#trials && ((series, x) => this.#openTrials(series, x)),
      choosePlace: this.#hooks.chooseLoad,
      awaitsDoubleClick: () => this.#scene !== null && zoomIn(this.#scene) !== null,
    });
  }

  #openTrials(series: string, x: X): void {
    if (this.#scene) void this.#trials?.open(this.#scene.figures, series, x);
  }

  /** At most once a frame, however fast the pointer goes. */
  #hover(series: string | null): void {
    cancelAnimationFrame(this.#hoverFrame);
    this.#hoverFrame = requestAnimationFrame(() => {
      this.#mounted.hover(series, this.#charts);
      markHovered(this.#root, series);
    });
  }
}

/** Whether two scenes are drawn alike: another baseline or another answer may change no line. */
function isSameDrawing(a: Scene, b: Scene): boolean {
  if (drawingKey(a) !== drawingKey(b)) return false;
  // The text of many points takes longer than drawing them.
  return a.figures === b.figures || dataKey(a.figures) === dataKey(b.figures);
}

function drawingKey({ query, metric }: Scene): string {
  return JSON.stringify([viewOf(query).id, lookKey(query), limitOf(query), metric]);
}

/** Whether the chart of a drawn scene can take the lines of another: one chart of the same view. */
function mayRefill(before: Scene, scene: Scene): boolean {
  const hasOne = (drawn: Scene): boolean =>
    viewOf(drawn.query).build !== null && !drawn.figures.panels && whyNotDrawn(drawn) === null;
  return viewOf(before.query) === viewOf(scene.query) && hasOne(before) && hasOne(scene);
}

function choiceOf({ query, highlighted }: Scene): SeriesChoice {
  return { hidden: hiddenIn(query), highlighted };
}

/** The part of the figures that charts show, as a text to compare. */
function dataKey(figures: Figures): string {
  const { knees, capacity, changes, ratios, x, outcome } = figures;
  const panels = figures.panels?.map((panel) => [panel.value, panel.finding, panel.series]);
  const rest = [panels, x, figures.ranking?.x, outcome.status, outcome.overridden];
  return pointsKey(figures) + JSON.stringify([knees, capacity, changes, ratios, rest]);
}

function description(figures: Figures, view: View, metric: MetricId): string {
  return `${view.title(figures, metric)}. ${summaryText(figures, view, metric)} The table below holds the same numbers.`;
}

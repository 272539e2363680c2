// The chart of a result set inside another site. The figures are in the page itself: a framed
// page may have no origin to fetch from, and no storage to read a theme from.
import { type Figures, knownMetrics, type MetricId, panelsOrWhole } from "../api/figures";
import { chosenOf, drawnScene, isBoard, partText, whyNotDrawn } from "../charts/drawn";
import {
  areAllNamedAtEnds,
  hasEndLabels,
  headline,
  missingMetricText,
  toldOf,
} from "../charts/headline";
import { highlightedAtFirst } from "../charts/highlighted";
import { LABEL_WIDTH } from "../charts/plugins/end_labels";
import { chartOptions, type Scene } from "../charts/scene";
import { onThemeChange, readTheme } from "../charts/style/theme";
import type { AnyConfig, Build, View } from "../charts/view";
import { viewOf } from "../charts/views";
import { showLegend } from "../compare/legend";
import { foldLegend } from "../compare/legend_fold";
import { MountedCharts } from "../compare/mounted_charts";
import { ratioTable } from "../compare/ratio_table";
import { pressAlone, pressSeries } from "../compare/series_choice";
import { drawSentence, drawTrust } from "../compare/verdict_card";
import { drawnOver, hiddenIn, metricIn, withHidden } from "../query/query";
import { h, slot } from "../site/dom";
import { formatTimes } from "../site/enhance";
import { nameElement } from "../site/names";
import { short } from "../text/format";

const WIDE = "(min-width: 620px)";

/** One box, or one under the name of each panel. */
function boxesIn(place: HTMLElement, figures: Figures): readonly HTMLElement[] {
  place.classList.toggle("is-grid", figures.panels != null);
  if (!figures.panels) return [place];
  const boxes = figures.panels.map(() => h("div", { class: "chart chart-panel" }));
  const sections = figures.panels.map(({ value }, i) =>
    h("section", { class: "chart-part" }, h("h3", {}, nameElement(value)), boxes[i]),
  );
  place.replaceChildren(...sections);
  return boxes;
}

/** A frame may have room for a few lines of the legend: the leader stays, the last are folded. */
function putLeaderFirst(legend: HTMLElement, figures: Figures): void {
  const ranked = panelsOrWhole(figures).flatMap(({ ranking }) =>
    (ranking?.rows ?? []).map(({ series }) => series),
  );
  const rank = (item: HTMLElement): number => {
    const place = ranked.indexOf(item.dataset.series ?? "");
    const grey = item.classList.contains("is-grey") ? 2 * ranked.length + 1 : 0;
    return grey + (place < 0 ? ranked.length : place);
  };
  const items = [...legend.querySelectorAll<HTMLElement>(".legend-item")];
  legend.querySelector(".legend-all")?.before(...items.sort((a, b) => rank(a) - rank(b)));
  foldLegend(legend);
}

/** The frozen view with what the frame asks for on top: ?metric=p99&logy=1. */
function sceneOf(figures: Figures): Scene {
  const query = drawnOver(figures.query, location.search);
  const asked = metricIn(query);
  const metric = knownMetrics(figures).find(({ id }) => id === asked)?.id ?? figures.metric;
  const highlighted = highlightedAtFirst(figures, query);
  return { figures, query, metric, highlighted };
}

class EmbeddedChart {
  readonly #root: HTMLElement;
  readonly #mounted = new MountedCharts();
  readonly #view: View;
  #scene: Scene;

  constructor(root: HTMLElement, scene: Scene) {
    this.#root = root;
    this.#scene = scene;
    this.#view = viewOf(scene.query);
    const { figures, query, metric } = scene;
    drawSentence(root, toldOf(figures, this.#view, metric));
    drawTrust(root, figures, `${root.dataset.pageUrl ?? ""}#tab=checks`);
    const missing = missingMetricText(figures, metricIn(query), metric);
    slot(root, "missing").textContent = missing;
    slot(root, "missing").hidden = missing === null;
    onThemeChange(() => this.draw());
    matchMedia(WIDE).addEventListener("change", () => this.draw());
  }

  draw(): void {
    const scene = drawnScene(this.#scene);
    const { figures, metric } = scene;
    if (figures.series.length === 0) return;
    this.#mounted.clear();
    const part = partText(this.#scene.figures, this.#scene.query);
    slot(this.#root, "chart-title").textContent = [this.#view.title(figures, metric), part]
      .filter(Boolean)
      .join(" · ");
    const place = slot(this.#root, "chart");
    const empty = whyNotDrawn(scene);
    if (empty !== null) place.replaceChildren(h("p", {}, empty));
    else if (this.#view.build) this.#drawCharts(scene, place, this.#view.build);
    else place.replaceChildren(ratioTable(figures));
  }

  #drawCharts(scene: Scene, place: HTMLElement, build: Build): void {
    const { figures, metric } = scene;
    const isLabelled = matchMedia(WIDE).matches && hasEndLabels(figures, this.#view);
    this.#drawLegend(isLabelled);
    const boxes = boxesIn(place, figures);
    const theme = readTheme(this.#root);
    const labelWidth = isLabelled ? LABEL_WIDTH : 0;
    panelsOrWhole(figures).forEach((panel, i) => {
      const why = whyNotDrawn({ ...scene, figures: panel });
      if (why !== null) {
        boxes[i]?.replaceChildren(h("p", { class: "empty" }, why));
        return;
      }
      const configure = (): AnyConfig => {
        const options = chartOptions(
          { ...scene, figures: panel },
          { theme, size: "main", labelWidth },
        );
        return build(panel, { ...options, scope: figures });
      };
      this.#mounted.mount(boxes[i] ?? place, configure, this.#description(panel, metric));
    });
  }

  #drawLegend(isLabelled: boolean): void {
    const { figures, query, highlighted } = this.#scene;
    const hidden = hiddenIn(query);
    const hasNames =
      hidden.size === 0 && isLabelled && areAllNamedAtEnds(figures, this.#view, highlighted);
    const legend = slot(this.#root, "legend");
    legend.hidden = hasNames;
    const isNew = legend.dataset.lines === undefined;
    showLegend(
      legend,
      isBoard(figures) ? chosenOf(figures, highlighted) : figures,
      { hidden, highlighted },
      {
        press: (ids, alone) => this.#choose(alone ? pressAlone : pressSeries, ids),
        showAll: () => this.#choose((_, choice) => ({ ...choice, hidden: new Set() }), []),
      },
    );
    if (isNew) putLeaderFirst(legend, figures);
  }

  #description(panel: Figures, metric: MetricId): string {
    const finding = short(headline(panel, this.#view, metric), 320);
    return `${this.#view.title(panel, metric)}. ${finding}.`;
  }

  #choose(press: typeof pressSeries, ids: readonly string[]): void {
    const { figures, query, highlighted } = this.#scene;
    const choice = press(figures, { hidden: hiddenIn(query), highlighted }, ids);
    this.#scene = {
      ...this.#scene,
      query: withHidden(query, choice.hidden),
      highlighted: choice.highlighted,
    };
    this.draw();
  }
}

const root = document.querySelector<HTMLElement>("[data-embed]");
const figuresJson = document.getElementById("figures")?.textContent;
formatTimes();
if (root && figuresJson) {
  new EmbeddedChart(root, sceneOf(JSON.parse(figuresJson) as Figures)).draw();
}

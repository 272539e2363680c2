// The comparison, live or frozen: reads figures, fills the page, turns clicks into a new query.
import {
  type Figures,
  knownMetrics,
  type Metric,
  type MetricId,
  pointsKey,
  type X,
} from "../api/figures";
import { missingMetricText, ownHeadline, toldOf } from "../charts/headline";
import { highlightedAtFirst } from "../charts/highlighted";
import type { Scene } from "../charts/scene";
import { onThemeChange } from "../charts/style/theme";
import { viewOf } from "../charts/views";
import { savePng } from "../export/save_png";
import { joinFragments } from "../query/fragment";
import {
  drawnQuery,
  hiddenIn,
  highlightedFrom,
  highlightHash,
  metricIn,
  valueIn,
  withValue,
} from "../query/query";
import { h, optionalSlot, slot, targetId } from "../site/dom";
import { keepFocus } from "../site/focus";
import { onKey } from "../site/keyboard";
import { truncatedText } from "../text/comparability";
import { short } from "../text/format";
import { Board } from "./board";
import { checkList, type DismissOptions, runList } from "./checks_panel";
import { chips } from "./chips";
import {
  arrangement,
  baselineSelect,
  limitControls,
  questionControls,
  scaleToggles,
  viewTabs,
} from "./controls";
import { evidenceTabs } from "./evidence";
import { figuresTable, updateCaption } from "./figures_table";
import { MainChart } from "./main_chart";
import { notReadList } from "./not_read";
import { pressBaseline, rankingPanel } from "./ranking_panel";
import { greyRows, markHidden } from "./row_marks";
import { saturationPanel } from "./saturation_panel";
import { TabAxes } from "./tab_axes";
import { Tabs } from "./tabs";
import { drawSentence, drawTrust } from "./verdict_card";
import { viewTables } from "./view_table";

export interface ViewHooks {
  /** Asks for another view; the page decides whether that means fetching. */
  readonly go: (query: string) => void;
  readonly frozen: boolean;
}

export class CompareView {
  readonly #root: HTMLElement;
  readonly #hooks: ViewHooks;
  readonly #chart: MainChart;
  readonly #board: Board;
  readonly #axes = new TabAxes();
  readonly #narrow = matchMedia("(max-width: 719px)");
  readonly #tabs: Tabs;
  #figures: Figures | null = null;
  #query = "";
  /** The query that the figures at hand answer. */
  #shown = "";
  #highlighted: ReadonlySet<string> = new Set();
  #tabled = "";

  constructor(root: HTMLElement, hooks: ViewHooks) {
    this.#root = root;
    this.#hooks = hooks;
    // Before the charts: on paper they are drawn in parts that the tabs show.
    this.#tabs = new Tabs(root);
    this.#chart = new MainChart(root, {
      go: hooks.go,
      chooseLoad: this.#live((x: X) => this.#set("at", String(x))),
      highlight: (highlighted) => this.#highlight(highlighted),
    });
    this.#board = new Board(root, (series) => this.#toggleDrawn(series));
    onThemeChange(() => this.#chart.redraw());
    this.#narrow.addEventListener(
      "change",
      () => this.#figures && this.#drawControls(this.#figures),
    );
    this.#bindKeys();
    optionalSlot(root, "png")?.addEventListener("click", (event) => this.#png(event));
  }

  busy(busy: boolean): void {
    this.#root.setAttribute("aria-busy", String(busy));
  }

  fail(message: string, hint: string | null): void {
    const box = slot(this.#root, "problem");
    box.replaceChildren(
      h("p", {}, h("strong", {}, short(message, 600))),
      ...(hint ? [h("p", {}, short(hint, 600))] : []),
    );
    box.hidden = false;
    if (this.#figures) return;
    slot(this.#root, "finding").textContent = "This comparison could not be loaded";
    this.#root.classList.add("is-empty", "has-failed");
  }

  /** Shows a query at once with the figures at hand; `show` follows when new ones arrive. */
  preview(query: string): void {
    this.#query = query;
    const figures = this.#figures;
    if (!figures) return;
    this.#highlighted = highlightedNow(figures, query);
    keepFocus(this.#root, () => this.#drawQuery(figures));
  }

  #drawQuery(figures: Figures): void {
    this.#drawControls(figures);
    this.#drawLinks(figures);
    const baseline = valueIn(this.#query, "baseline");
    if (baseline !== null) pressBaseline(slot(this.#root, "ranking"), baseline);
    // A metric that the figures at hand lack is not drawn: it would look unknown.
    if (!this.#holds(figures)) return;
    const own = ownHeadline(figures, viewOf(this.#query), this.#metric) !== null;
    if (this.#hooks.frozen || own || figures.metric === this.#metric) this.#drawFinding(figures);
    // The finding is of another metric than is drawn, until the answer comes.
    else slot(this.#root, "finding").classList.add("is-old");
    this.#showChart(figures);
    this.#tabs.offer(evidenceTabs(this.#root, figures));
  }

  show(figures: Figures, query: string): void {
    this.#figures = figures;
    this.#query = query;
    this.#shown = query;
    this.#highlighted = highlightedNow(figures, query);
    slot(this.#root, "problem").hidden = true;
    this.#root.classList.remove("has-failed");
    this.#root.classList.toggle("is-empty", figures.series.length === 0);
    const first = !this.#root.classList.contains("is-ready");
    this.#root.classList.add("is-ready");
    keepFocus(this.#root, () => this.#drawAll(figures));
    if (first) this.#arrive();
  }

  #drawAll(figures: Figures): void {
    this.#drawHead(figures);
    this.#drawControls(figures);
    this.#drawLinks(figures);
    this.#drawRanking(figures);
    this.#drawNotRead(figures);
    this.#showChart(figures);
    slot(this.#root, "derived").replaceChildren(...saturationPanel(figures));
    this.#drawTables(figures);
    this.#drawEvidence(figures);
    this.#tabs.offer(evidenceTabs(this.#root, figures));
    this.#markRows();
  }

  /** An action that only a live page offers. */
  #live<T>(act: (value: T) => void): ((value: T) => void) | null {
    return this.#hooks.frozen ? null : act;
  }

  get #metric(): MetricId {
    const id = metricIn(this.#query);
    const offered = this.#figures ? this.#offered(this.#figures) : [];
    const metric = offered.find((metric) => metric.id === id);
    if (metric) return metric.id;
    return this.#hooks.frozen ? (this.#figures?.metric ?? "throughput") : "throughput";
  }

  #holds(figures: Figures): boolean {
    const sameAxis = valueIn(this.#query, "x") === valueIn(this.#shown, "x");
    return sameAxis && knownMetrics(figures).some((metric) => metric.id === this.#metric);
  }

  /** A live page can ask for any metric; a frozen one offers what it holds. */
  #offered(figures: Figures): readonly Metric[] {
    return this.#hooks.frozen ? knownMetrics(figures) : figures.metrics;
  }

  #set(key: string, value: string | null): void {
    this.#hooks.go(withValue(this.#query, key, value));
  }

  #drawFinding(figures: Figures): void {
    drawSentence(this.#root, toldOf(figures, viewOf(this.#query), this.#metric));
    slot(this.#root, "finding").classList.remove("is-old");
    const missing = optionalSlot(this.#root, "missing");
    if (!missing) return;
    missing.textContent = missingMetricText(figures, metricIn(this.#query), this.#metric);
    missing.hidden = missing.textContent === "";
  }

  #drawHead(figures: Figures): void {
    this.#drawFinding(figures);
    slot(this.#root, "conditions").textContent = short(figures.conditions, 600);
    drawTrust(this.#root, figures);
    const cut = slot(this.#root, "truncated");
    cut.textContent = truncatedText(figures);
    cut.hidden = !cut.textContent;
    const { sentence } = toldOf(figures, viewOf(this.#query), this.#metric);
    if (!this.#hooks.frozen) document.title = `${short(sentence, 120)} · Loadsheet`;
  }

  #drawControls(figures: Figures): void {
    const query = this.#query;
    const { go } = this.#hooks;
    const live = this.#hooks.frozen ? null : go;
    const asked = {
      metrics: this.#offered(figures),
      metric: this.#metric,
      choose: (id: string) => this.#set("metric", id),
      go: live,
    };
    const limit = limitControls(query, live);
    const baseline = live ? [baselineSelect(figures, query, live)] : [];
    // On a phone they are folded away, so that the chart is on the first screen.
    const isFolded = this.#narrow.matches;
    slot(this.#root, "question").replaceChildren(
      ...questionControls(figures, query, asked),
      ...(isFolded ? [] : limit),
    );
    optionalSlot(this.#root, "chips")?.replaceChildren(...chips(figures, query, go));
    optionalSlot(this.#root, "baseline")?.replaceChildren(...(isFolded ? [] : baseline));
    slot(this.#root, "customise").replaceChildren(
      ...(isFolded ? [...limit, ...baseline] : []),
      ...(live ? arrangement(figures, query, live) : []),
      h("div", { class: "scales" }, ...scaleToggles(figures, query, go)),
    );
    slot(this.#root, "views").replaceChildren(
      ...viewTabs(figures, query, this.#axes, go, live !== null),
    );
  }

  #drawRanking(figures: Figures): void {
    slot(this.#root, "ranking").replaceChildren(
      ...rankingPanel(figures, {
        chooseBaseline: this.#live((series: string) => this.#set("baseline", series)),
        override: this.#live((on: boolean) => this.#set("override", on ? "1" : null)),
      }),
    );
  }

  #drawNotRead(figures: Figures): void {
    const place = slot(this.#root, "not-read");
    place.replaceChildren(...notReadList(figures));
    place.hidden = place.childElementCount === 0;
  }

  #scene(figures: Figures): Scene {
    return {
      figures,
      query: this.#query,
      metric: this.#metric,
      highlighted: this.#highlighted,
    };
  }

  #highlight(highlighted: ReadonlySet<string>): void {
    this.#highlighted = highlighted;
    const hash = joinFragments(location.hash, highlightHash(highlighted));
    history.replaceState(history.state, "", hash);
    if (this.#figures) this.#showChart(this.#figures);
  }

  /** Of a board: draws a series or leaves it out, but for the last one. */
  #toggleDrawn(series: string): void {
    const drawn = new Set(this.#highlighted);
    if (!drawn.delete(series)) drawn.add(series);
    this.#highlight(drawn.size > 0 ? drawn : this.#highlighted);
  }

  #showChart(figures: Figures): void {
    this.#chart.show(this.#scene(figures));
    this.#board.show(figures, this.#highlighted);
    this.#markRows();
  }

  #markRows(): void {
    greyRows(this.#root, this.#highlighted);
    markHidden(this.#root, hiddenIn(this.#query));
  }

  /** Drawing thousands of cells costs more than comparing them with the cells of before. */
  #drawTables(figures: Figures): void {
    const key = pointsKey(figures) + JSON.stringify([figures.metrics, figures.x]);
    const table = slot(this.#root, "table");
    if (key === this.#tabled) {
      updateCaption(table, figures);
      return;
    }
    this.#tabled = key;
    const choose = this.#live((id: string) => this.#set("baseline", id));
    table.replaceChildren(...figuresTable(figures, choose));
    const tables = viewTables(figures);
    const place = slot(this.#root, "curves");
    place.hidden = tables.length === 0;
    place.replaceChildren(...tables);
  }

  #drawEvidence(figures: Figures): void {
    slot(this.#root, "checks").replaceChildren(checkList(figures, this.#dismissing(figures)));
    slot(this.#root, "runs").replaceChildren(runList(figures.runs));
  }

  /** Exports and what is shared are of exactly this view. */
  #drawLinks(figures: Figures): void {
    if (this.#hooks.frozen) {
      const view = viewOf(this.#query);
      const search = view === viewOf(figures.query) ? "" : `?view=${view.id}`;
      const csv = `${location.pathname}.csv${search}`;
      optionalSlot(this.#root, "link-csv")?.setAttribute("href", csv);
      return;
    }
    const query = drawnQuery(figures.query, this.#query);
    const hrefs = {
      "link-json": figures.links?.json,
      "link-csv": figures.links?.csv,
      png: `${location.pathname}.png${query && `?${query}`}`,
    };
    for (const [name, href] of Object.entries(hrefs)) {
      if (href) optionalSlot(this.#root, name)?.setAttribute("href", href);
    }
    for (const kept of this.#root.querySelectorAll<HTMLInputElement>("input[name=query]"))
      kept.value = this.#query;
  }

  #dismissing(figures: Figures): DismissOptions | null {
    if (this.#root.dataset.canDismiss === undefined) return null;
    const token = document.querySelector<HTMLInputElement>("input[name=csrfmiddlewaretoken]");
    return token ? { runs: figures.runs, token: token.value } : null;
  }

  /**
   * The link leads to the service's image; this image has the reader's theme and highlighted
   * series.
   */
  #png(event: MouseEvent): void {
    if (!this.#figures || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    void savePng(this.#scene(this.#figures), this.#root, this.#hooks.frozen);
  }

  /** Opens the check of the link: the browser looked for it before it was drawn. */
  #arrive(): void {
    const target = document.getElementById(targetId());
    this.#tabs.reveal(target);
    target?.scrollIntoView({ block: "center" });
  }

  #bindKeys(): void {
    onKey("t", () => {
      const table = slot(this.#root, "table");
      this.#tabs.reveal(table);
      table.focus();
    });
    onKey("b", () => {
      const series = this.#chart.keyboardSeries;
      if (series && !this.#hooks.frozen) this.#set("baseline", series);
    });
  }
}

/** The series that the reader chose, else those that are in colour at first. */
function highlightedNow(figures: Figures, query: string): ReadonlySet<string> {
  return highlightedFrom(location.hash) ?? highlightedAtFirst(figures, query);
}

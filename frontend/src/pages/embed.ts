// The chart of a result set inside another site. The figures are in the page itself: a framed
// page may have no origin to fetch from, and no storage to read a theme from.
import { type Figures, knownMetrics, parts } from "../api/figures";
import { emphasisOf } from "../charts/style/series_style";
import { onThemeChange, readTheme } from "../charts/style/theme";
import {
  type AnyConfig,
  type ChartView,
  headline,
  labelsEnds,
  namedAtEnds,
  notHeld,
  viewChart,
  viewTitle,
  whyEmpty,
} from "../charts/views";
import { legend, pressLegend } from "../compare/legend";
import { Mounts } from "../compare/mounted_charts";
import { ratioTable } from "../compare/ratio_table";
import { drawnOver, limitOf, logX, logY, metricIn, viewOf } from "../query/query";
import { h, slot } from "../site/dom";
import { formatTimes } from "../site/enhance";
import { name } from "../site/names";
import { short } from "../text/format";

const LABEL_WIDTH = 178;
const WIDE = "(min-width: 620px)";

/** One box, or one under the name of each panel. */
function boxesIn(place: HTMLElement, figures: Figures): readonly HTMLElement[] {
  place.classList.toggle("is-grid", figures.panels != null);
  if (!figures.panels) return [place];
  const boxes = figures.panels.map(() => h("div", { class: "chart chart-panel" }));
  const framed = figures.panels.map(({ value }, i) =>
    h("section", { class: "chart-part" }, h("h3", {}, name(value)), boxes[i]),
  );
  place.replaceChildren(...framed);
  return boxes;
}

/** A frame may have room for a few lines of the legend: the others are scrolled to. */
function loudFirst(items: readonly HTMLElement[]): HTMLElement[] {
  const isLoud = (item: HTMLElement): boolean => item.getAttribute("aria-pressed") === "true";
  return [...items].sort((a, b) => Number(isLoud(b)) - Number(isLoud(a)));
}

function start(root: HTMLElement, figures: Figures): void {
  const mounts = new Mounts();
  // The frozen view with what the frame asks for on top: ?metric=p99&logy=1.
  const query = drawnOver(figures.query, location.search);
  const asked = metricIn(query);
  const metric = knownMetrics(figures).find((one) => one.id === asked)?.id ?? figures.metric;
  const view = viewOf(query);
  const missing = notHeld(figures, asked, metric);
  let emphasis = emphasisOf(figures, view);

  const toggle = (ids: readonly string[], on: boolean): void => {
    const others = [...emphasis].filter((id) => !ids.includes(id));
    emphasis = new Set(on ? [...others, ...ids] : others);
    pressLegend(slot(root, "legend"), figures, emphasis);
    mounts.restyle([]);
  };

  const drawCharts = (place: HTMLElement, drawn: ChartView): void => {
    const labelled = matchMedia(WIDE).matches && labelsEnds(figures, drawn);
    const named = labelled && namedAtEnds(figures, drawn, emphasis);
    slot(root, "legend").replaceChildren(
      ...(named ? [] : loudFirst(legend(figures, emphasis, toggle))),
    );
    const boxes = boxesIn(place, figures);
    const theme = readTheme(root);
    parts(figures).forEach((part, i) => {
      const configure = (): AnyConfig =>
        viewChart(part, drawn, {
          metric,
          size: "main",
          logX: logX(query, figures.x.values),
          logY: logY(query),
          emphasis,
          theme,
          labelWidth: labelled ? LABEL_WIDTH : 0,
          at: part.ranking?.x ?? null,
          limit: limitOf(query) ?? figures.capacity?.limit_us ?? null,
          scope: figures,
        });
      const said = short(headline(part, drawn, metric), 320);
      const label = `${viewTitle(part, drawn, metric)}. ${said}.`;
      mounts.mount(boxes[i] ?? place, configure, label);
    });
  };

  const draw = (): void => {
    mounts.clear();
    slot(root, "chart-title").textContent = viewTitle(figures, view, metric);
    const place = slot(root, "chart");
    const empty = whyEmpty(figures, view, metric);
    if (empty !== null) place.replaceChildren(h("p", {}, empty));
    else if (view === "ratios") place.replaceChildren(ratioTable(figures));
    else drawCharts(place, view);
  };
  slot(root, "finding").textContent = headline(figures, view, metric);
  slot(root, "missing").textContent = missing;
  slot(root, "missing").hidden = missing === null;
  onThemeChange(draw);
  matchMedia(WIDE).addEventListener("change", draw);
  if (figures.series.length > 0) draw();
}

const root = document.querySelector<HTMLElement>("[data-embed]");
const sent = document.getElementById("figures")?.textContent;
formatTimes();
if (root && sent) start(root, JSON.parse(sent) as Figures);

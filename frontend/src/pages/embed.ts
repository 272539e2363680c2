// The chart of a result set inside another site. The figures are in the page itself: a framed
// page may have no origin to fetch from, and no storage to read a theme from.
import type { Figures } from "../api/figures";
import { emphasisOf } from "../charts/identity";
import { onThemeChange, readTheme } from "../charts/theme";
import { type ChartView, viewChart, viewTitle, whyEmpty } from "../charts/views";
import { canonical, limitOf, logX, logY, viewOf } from "../state/query";
import { Mounts } from "../ui/charts_panel";
import { h, slot } from "../ui/dom";
import { formatTimes } from "../ui/enhance";
import { legend } from "../ui/legend";

const LABEL_WIDTH = 178;
const WIDE = "(min-width: 620px)";
const OWN = ["metric", "view", "logx", "logy"];

/** The frozen view with what the frame asks for on top: ?metric=p99&logy=1. */
function queryOf(figures: Figures): string {
  const query = new URLSearchParams(figures.query);
  const asked = new URLSearchParams(location.search);
  for (const key of OWN) {
    const value = asked.get(key);
    if (value !== null) query.set(key, value);
  }
  return canonical(query);
}

function start(root: HTMLElement, figures: Figures): void {
  const mounts = new Mounts();
  const query = queryOf(figures);
  const asked = new URLSearchParams(query).get("metric");
  const metric = figures.metrics.find((one) => one.id === asked)?.id ?? figures.metric;
  // The ratios are a table of the page; here is the sweep they come from.
  const view: ChartView = viewOf(query) === "ratios" ? "sweep" : (viewOf(query) as ChartView);
  const emphasis = emphasisOf(figures);

  const draw = (): void => {
    mounts.clear();
    const wide = matchMedia(WIDE).matches;
    const empty = whyEmpty(figures, view, metric);
    if (empty !== null) {
      slot(root, "chart").replaceChildren(h("p", {}, empty));
      return;
    }
    const config = viewChart(figures, view, {
      metric,
      size: "main",
      logX: logX(query, figures.x.values),
      logY: logY(query),
      emphasis,
      theme: readTheme(root),
      labelWidth: wide ? LABEL_WIDTH : 0,
      at: figures.ranking?.x ?? null,
      limit: limitOf(query) ?? figures.capacity?.limit_us ?? null,
    });
    const label = `${viewTitle(figures, view, metric)}. ${figures.finding}.`;
    mounts.mount(slot(root, "chart"), config, label);
    slot(root, "legend").replaceChildren(...(wide ? [] : legend(figures, emphasis, () => {})));
  };
  onThemeChange(draw);
  matchMedia(WIDE).addEventListener("change", draw);
  if (figures.series.length > 0) draw();
}

const root = document.querySelector<HTMLElement>("[data-embed]");
const sent = document.getElementById("figures")?.textContent;
formatTimes();
if (root && sent) start(root, JSON.parse(sent) as Figures);

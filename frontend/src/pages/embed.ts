// The chart of a result set inside another site. The figures are in the page itself: a framed
// page may have no origin to fetch from, and no storage to read a theme from.
import type { Figures } from "../api/figures";
import { defaultEmphasis } from "../charts/identity";
import { onThemeChange, readTheme } from "../charts/theme";
import { pictured } from "../charts/views";
import { canonical } from "../state/query";
import { Mounts } from "../ui/charts_panel";
import { slot } from "../ui/dom";
import { formatTimes } from "../ui/enhance";
import { legend } from "../ui/legend";

const LABEL_WIDTH = 178;
const WIDE = "(min-width: 620px)";

function start(root: HTMLElement, figures: Figures): void {
  const mounts = new Mounts();
  // The frozen view with what the frame asks for on top: ?metric=p99&logy=1.
  const asked = new URLSearchParams(location.search);
  const query = new URLSearchParams(figures.query);
  for (const key of ["metric", "logx", "logy"]) {
    const value = asked.get(key);
    if (value !== null) query.set(key, value);
  }
  const text = canonical(query);
  const named = figures.metrics.find((metric) => metric.id === query.get("metric"));
  const metric = named?.id ?? figures.metric;
  const ranked = figures.ranking?.rows.map((row) => row.series) ?? [];
  const emphasis = defaultEmphasis(figures.series, ranked);

  const draw = (): void => {
    mounts.clear();
    const wide = matchMedia(WIDE).matches;
    const config = pictured(figures, text, {
      metric,
      emphasis,
      theme: readTheme(root),
      labelWidth: wide ? LABEL_WIDTH : 0,
    });
    mounts.mount(slot(root, "chart"), config, figures.finding);
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

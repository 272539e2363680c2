// A trial over time: aligned panels and the same numbers as a table.
import { getJson, Problem } from "../api/client";
import { Chart } from "../charts/register";
import { onThemeChange, readTheme } from "../charts/style/theme";
import {
  failuresOf,
  type Panel,
  panelsOf,
  rateOf,
  type Second,
  type Timeline,
  timelineChart,
  unitOf,
  unitText,
} from "../charts/timeline";
import { h, slot, tableOf } from "../site/dom";
import { inUnit, plural } from "../text/format";

const root = document.querySelector<HTMLElement>("[data-timeline-url]");
const MOST_ROWS = 600;

type Read = (second: Second) => number | null;
type Column = readonly [name: string, cell: (second: Second) => string];

function drawPanel(place: HTMLElement, timeline: Timeline, panel: Panel): () => void {
  const named = panel.lines.map((line, index) => `${line.label} ${index ? "dashed" : "solid"}`);
  const lines = panel.lines.length > 1 ? `, ${named.join(", ")}` : "";
  const canvas = h("canvas", {
    role: "img",
    "aria-label": `${panel.title} over the time of the trial; the table below has the numbers`,
  });
  const arrow = panel.better === "higher" ? "↑" : "↓";
  place.append(
    h(
      "div",
      { class: "timeline-panel" },
      h(
        "h3",
        {},
        `${panel.title} `,
        h("span", { class: "better", title: `${panel.better} is better` }, arrow),
        h("span", { class: "hint" }, ` ${unitText(panel)}${lines}`),
      ),
      h("div", { class: "timeline-canvas" }, canvas),
    ),
  );
  let chart: Chart<"line", { x: number; y: number | null }[]> | null = null;
  return () => {
    chart?.destroy();
    const server = Number(place.dataset.seriesSlot ?? 0);
    chart = new Chart(canvas, timelineChart(timeline, panel, { theme: readTheme(), slot: server }));
  };
}

/** The column of a quantity in the unit of its panel; none where the trial has no such panel. */
function columnsOf(name: string, read: Read, panel: Panel | undefined): Column[] {
  if (!panel) return [];
  const unit = unitOf(panel);
  return [[`${name} (${unit.header})`, (second) => inUnit(read(second), unit)]];
}

function table(timeline: Timeline, panels: readonly Panel[]): HTMLElement {
  const times = panels.find((panel) => panel.id === "latency");
  const rates = panels.find((panel) => panel.id === "throughput");
  const whole = { factor: 1, suffix: "", header: "" };
  const columns: readonly Column[] = [
    ["From (s)", (second) => String(second.start_s)],
    ...columnsOf("Throughput", rateOf, rates),
    ...columnsOf("p50", (second) => second.p50_us, times),
    ...columnsOf("p99", (second) => second.p99_us, times),
    ["Failed (1/s)", (second) => inUnit(failuresOf(second), whole)],
  ];
  const rows = timeline.seconds
    .slice(0, MOST_ROWS)
    .map((second) =>
      h("tr", {}, ...columns.map(([, cell]) => h("td", { class: "number" }, cell(second)))),
    );
  const name = "Seconds of this trial";
  return h(
    "div",
    { class: "table-box", tabindex: 0, role: "region", "aria-label": name },
    tableOf(
      {},
      h("caption", { class: "visually-hidden" }, name),
      columns.map(([title]) => h("th", { scope: "col", class: "number" }, title)),
      rows,
    ),
  );
}

async function start(section: HTMLElement): Promise<void> {
  const status = slot(section, "timeline-said");
  try {
    const timeline = (await getJson(section.dataset.timelineUrl ?? "")) as Timeline;
    const panels = panelsOf(timeline);
    if (panels.length === 0) {
      status.textContent = "This output has no time series.";
      return;
    }
    const place = slot(section, "timeline");
    place.hidden = false;
    const panelDraws = panels.map((panel) => drawPanel(place, timeline, panel));
    const draw = (): void => {
      for (const drawPanel of panelDraws) drawPanel();
    };
    draw();
    onThemeChange(draw);
    const holder = slot(section, "timeline-table");
    holder.append(table(timeline, panels));
    holder.hidden = false;
    const cut = timeline.seconds.length > MOST_ROWS ? `, the first ${MOST_ROWS} in the table` : "";
    status.textContent = `${plural(timeline.seconds.length, "stretch", "stretches")} of time${cut}`;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    status.textContent = [error.message, error.hint].filter(Boolean).join(" ");
  }
}

if (root) void start(root);

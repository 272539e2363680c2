// Results of a sweep in sentences: saturation points, the highest load within a limit, changes.
import { type Figures, fullLabel } from "../api/figures";
import { seriesSlots } from "../charts/style/series_style";
import { h } from "../site/dom";
import { nameElement } from "../site/names";
import { loadPoint, single } from "../text/format";
import { swatch } from "./swatch";

export function saturationPanel(figures: Figures): HTMLElement[] {
  return [...capacity(figures), ...knees(figures), ...changes(figures)];
}

function list(
  figures: Figures,
  title: string,
  rows: readonly { readonly series: string; readonly text: string }[],
): HTMLElement[] {
  const slots = seriesSlots(figures);
  const labels = new Map(figures.series.map((series) => [series.id, fullLabel(figures, series)]));
  const shown = rows.filter((row) => labels.has(row.series));
  if (shown.length === 0) return [];
  return [
    h(
      "section",
      { class: "derived-part" },
      h("h3", {}, title),
      h(
        "ul",
        { class: "derived-list" },
        ...shown.map((row) =>
          h(
            "li",
            { "data-series": row.series },
            swatch(slots.get(row.series) ?? 0),
            labelled(labels.get(row.series) ?? "", row.text),
          ),
        ),
      ),
    ),
  ];
}

/** Some sentences of the service name their series already. */
function labelled(label: string, sentence: string): HTMLElement {
  if (sentence.startsWith(label)) return h("span", {}, nameElement(sentence, 400));
  return h("span", {}, nameElement(label, 48), `: ${sentence}`);
}

function capacity(figures: Figures): HTMLElement[] {
  if (!figures.capacity) return [];
  const { limit_us, rows } = figures.capacity;
  return list(
    figures,
    `Highest load with p99 under ${single("time", limit_us)}`,
    rows.map((row) => ({ series: row.series, text: capacityText(figures, row) })),
  );
}

type CapacityRow = NonNullable<Figures["capacity"]>["rows"][number];

function capacityText(figures: Figures, row: CapacityRow): string {
  if (row.x === null) return row.why ?? "not known";
  const rate = row.throughput === null ? "" : `, ${single("rate", row.throughput)}`;
  const why = row.why ? ` (${row.why})` : "";
  return `${loadPoint(row.x, figures.x.label)}${doubt(row)}${rate}${why}`;
}

/** ", certain up to 8, possibly 32": measured loads, where they are not x itself. */
function doubt({ x, low, high }: CapacityRow): string {
  const certain =
    low === x ? "" : low === null ? ", not certain at any load" : `, certain up to ${low}`;
  return high === null || high === x ? certain : `${certain}, possibly ${high}`;
}

function knees(figures: Figures): HTMLElement[] {
  return list(
    figures,
    "Saturation point",
    (figures.knees ?? []).map((knee) => {
      const rate = knee.throughput === null ? "" : `, ${single("rate", knee.throughput)}`;
      const why = knee.why ? ` (${knee.why})` : "";
      const text =
        knee.x === null
          ? (knee.why ?? "not reached")
          : `from ${loadPoint(knee.x, figures.x.label)}${rate}${why}`;
      return { series: knee.series, text };
    }),
  );
}

function changes(figures: Figures): HTMLElement[] {
  return list(
    figures,
    "Changes",
    (figures.changes ?? []).map((change) => ({ series: change.series, text: change.text })),
  );
}

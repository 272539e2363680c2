// Results of a sweep in short sentences: saturation points, the highest load within a limit,
// changes. The reason of each stands behind "Why".
import { type Figures, fullLabel } from "../api/figures";
import { seriesSlots } from "../charts/style/series_style";
import { h } from "../site/dom";
import { nameElement } from "../site/names";
import { loadPoint, single } from "../text/format";
import { swatch } from "./swatch";

interface Row {
  readonly series: string;
  readonly text: string;
  readonly why?: string | null;
  /** Why there is no figure. */
  readonly reason?: string | null;
}

export function saturationPanel(figures: Figures): HTMLElement[] {
  return [...capacity(figures), ...knees(figures), ...changes(figures)];
}

function list(figures: Figures, title: string, rows: readonly Row[]): HTMLElement[] {
  const slots = seriesSlots(figures);
  const labels = new Map(figures.series.map((series) => [series.id, fullLabel(figures, series)]));
  const shown = rows.filter((row) => labels.has(row.series));
  if (shown.length === 0) return [];
  const reason = sharedReason(shown);
  if (reason)
    return [
      section(title, h("p", {}, `All ${shown.length} series: ${reason.replace(/\.?$/, ".")}`)),
    ];
  const item = ({ series, text, why }: Row): HTMLElement =>
    h(
      "li",
      { "data-series": series },
      swatch(slots.get(series) ?? 0),
      h(
        "div",
        {},
        labelled(labels.get(series) ?? "", text),
        why ? h("details", { class: "why" }, h("summary", {}, "Why"), h("p", {}, why)) : null,
      ),
    );
  return [section(title, h("ul", { class: "derived-list" }, ...shown.map(item)))];
}

function section(title: string, content: HTMLElement): HTMLElement {
  return h("section", { class: "panel" }, h("h3", {}, title), content);
}

/** The reason why nothing is known, where it is the same for several series and there is no other. */
function sharedReason(rows: readonly Row[]): string {
  const first = rows[0]?.reason ?? "";
  return rows.length > 1 && rows.every((row) => row.reason === first) ? first : "";
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
    rows.map((row) => capacityRow(figures, row)),
  );
}

type CapacityRow = NonNullable<Figures["capacity"]>["rows"][number];

function capacityRow(figures: Figures, row: CapacityRow): Row {
  const { series, x, throughput, why } = row;
  if (x === null) return { series, text: why ?? "unknown", reason: why };
  const rate = throughput === null ? "" : `, ${single("rate", throughput)}`;
  return { series, text: `${loadPoint(x, figures.x.label)}${doubt(row)}${rate}`, why };
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
    (figures.knees ?? []).map(({ series, x, throughput, why }) => {
      if (x === null) return { series, text: why ?? "not reached", reason: why };
      const rate = throughput === null ? "" : `, ${single("rate", throughput)}`;
      return { series, text: `${loadPoint(x, figures.x.label)}${rate}`, why };
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

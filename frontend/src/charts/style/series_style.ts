// The look of a series: colour by its stored slot, with marker and dash as the second channel.
import { type Figures, panelsOrWhole, type Series } from "../../api/figures";
import { type ChartTheme, mixed, SLOTS } from "./theme";

export const MARKERS = ["circle", "rectRot", "triangle", "rect"] as const;
export type Marker = (typeof MARKERS)[number];

const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

/**
 * Shares of ink in the colour of a server's first, second and third series. Ink and not the surface:
 * a shade stands out more than the colour, in both themes.
 */
export const SHADES = [0, 0.3, 0.55] as const;

export function colourOf(slot: number, theme: ChartTheme): string {
  return mixed(theme.series[slot % SLOTS] ?? theme.ink, theme.ink, SHADES[shadeOf(slot)] ?? 0);
}

/** The classes that give an element the colour of a slot, as `colourOf` does on a canvas. */
export function colourClass(slot: number): string {
  const shade = shadeOf(slot);
  return `series-${slot % SLOTS}${shade > 0 ? ` shade-${shade}` : ""}`;
}

function shadeOf(slot: number): number {
  return variantOf(slot) % SHADES.length;
}

/**
 * Series of one server share its hue: each lies so many slots further, with another shade, marker
 * and dash.
 */
const VARIANT = 64;
/** All shades with all pairs of a dash and a marker; the first three differ in all, the fourth in both. */
const VARIANTS = 48;

/** Colours repeat after eight slots, then with another marker: no two series look alike. */
export function markerOf(slot: number): Marker {
  const turn = Math.floor(variantOf(slot) / DASHES.length);
  const place = slot + Math.floor(slot / SLOTS) + variantOf(slot) + turn;
  return MARKERS[place % MARKERS.length] ?? "circle";
}

/** Dashes differ too: a percentile curve has no markers. */
export function dashOf(slot: number): number[] {
  const place =
    Math.floor(slot / MARKERS.length) + Math.floor(slot / (2 * SLOTS)) + variantOf(slot);
  return [...(DASHES[place % DASHES.length] ?? [])];
}

function variantOf(slot: number): number {
  return Math.floor(slot / VARIANT) % VARIANTS;
}

/** What tells a line from another: two slots with one look cannot be told apart. */
function lookOf(slot: number): string {
  return [slot % SLOTS, shadeOf(slot), dashOf(slot).join(" "), markerOf(slot)].join();
}

/** A line of the legend: a series, or the same series in several panels. */
interface Line {
  readonly label: string;
  readonly ids: readonly string[];
  readonly server: string;
  /** The stored slot of its server; null where it stands for several servers. */
  readonly own: number | null;
}

/** A line of the legend with the slot of its look. */
export interface SeriesStyle {
  readonly label: string;
  readonly ids: readonly string[];
  readonly slot: number;
}

const FIELDS = [
  "server",
  "version",
  "runtime",
  "configuration",
  "workload",
  "tool",
  "loop",
  "host",
  "load",
] as const;

/**
 * By series: the fields that differ within a panel ("bench-1"), or its label where fields are not
 * enough.
 */
function namesInPanels(figures: Figures): (series: Series) => string {
  const panels = panelsOrWhole(figures).map((panel) => panel.series);
  const fields = FIELDS.filter((field) =>
    panels.some((panel) => new Set(panel.map((series) => series[field] ?? "")).size > 1),
  );
  const name = (series: Series): string =>
    fields
      .map((field) => series[field])
      .filter(Boolean)
      .join(" ");
  const isUnique = panels.every((panel) => new Set(panel.map(name)).size === panel.length);
  return isUnique && fields.length > 0 ? name : (series) => series.label;
}

/** Series of the same name in several panels are one line. */
function linesOf(figures: Figures): readonly Line[] {
  const nameOf = figures.panels ? namesInPanels(figures) : (series: Series) => series.id;
  const lines = new Map<string, Line>();
  for (const series of figures.series) {
    const name = nameOf(series);
    const line = lines.get(name);
    lines.set(name, line ? withSeries(line, series, name) : lineOf(series));
  }
  return [...lines.values()];
}

function lineOf({ id, label, slot, server }: Series): Line {
  return { label, server, own: slot, ids: [id] };
}

function withSeries(line: Line, { id, label, slot, server }: Series, name: string): Line {
  return {
    label: line.label === label ? label : name,
    server,
    own: line.own === slot ? slot : null,
    ids: [...line.ids, id],
  };
}

const kept = new WeakMap<Figures, readonly SeriesStyle[]>();

/**
 * The lines of the legend, each with its look. A server keeps the colour of its stored slot on
 * every page. Beside other servers, its other series (two hosts, two versions) share that hue and
 * differ in shade, dash and marker: another hue would be another server's. Where one server alone is
 * shown, each of its series has a colour of its own. A line of several servers (one
 * host in the panels of several) gets a free slot by its name.
 */
export function seriesStyles(figures: Figures): readonly SeriesStyle[] {
  const styles = kept.get(figures);
  if (styles) return styles;
  const lines = linesOf(figures);
  const slots = withoutRepeats(lineSlots(lines));
  const looks = lines.map(({ label, ids }, i) => ({ label, ids, slot: slots[i] ?? 0 }));
  kept.set(figures, looks);
  return looks;
}

/** Lets a part of the figures look as in the whole: a hidden series gives its colour to no other. */
export function keepStyles(whole: Figures, part: Figures): void {
  const shown = new Set(part.series.map(({ id }) => id));
  const styles = seriesStyles(whole).map((style) => ({
    ...style,
    ids: style.ids.filter((id) => shown.has(id)),
  }));
  kept.set(
    part,
    styles.filter(({ ids }) => ids.length > 0),
  );
}

/** The look of each series, by id. */
export function seriesSlots(figures: Figures): ReadonlyMap<string, number> {
  return new Map(seriesStyles(figures).flatMap(({ ids, slot }) => ids.map((id) => [id, slot])));
}

function lineSlots(lines: readonly Line[]): readonly number[] {
  const taken = new Set(lines.map(({ own }) => own));
  const next = (start: number): number => {
    const free = freeSlot(taken, start);
    taken.add(free);
    return free;
  };
  const isOneServer = new Set(lines.map(ownerOf)).size === 1;
  const bases = basesOf(lines, next);
  const seen = new Map<string, number>();
  return lines.map((line) => {
    if (line.own === null) return next(placeOf(line.label));
    const turn = seen.get(ownerOf(line)) ?? 0;
    seen.set(ownerOf(line), turn + 1);
    if (isOneServer && turn > 0) return next(line.own + turn);
    return (bases.get(ownerOf(line)) ?? line.own) + VARIANT * turn;
  });
}

/**
 * The slots, where two lines would look alike the later one with the next free shade, dash and marker
 * of its hue. A look repeats only when its hue has no other left.
 */
function withoutRepeats(slots: readonly number[]): readonly number[] {
  const taken = new Set<string>();
  return slots.map((slot) => {
    const variants = Array.from({ length: VARIANTS }, (_, turn) => slot + VARIANT * turn);
    const free = variants.find((variant) => !taken.has(lookOf(variant))) ?? slot;
    taken.add(lookOf(free));
    return free;
  });
}

function ownerOf({ own, server }: Line): string {
  return `${own} ${server}`;
}

/** The stored slot of each server; a free one where two workspaces gave one slot to two servers. */
function basesOf(
  lines: readonly Line[],
  next: (start: number) => number,
): ReadonlyMap<string, number> {
  const bases = new Map<string, number>();
  const given = new Set<number>();
  for (const line of lines) {
    if (line.own === null || bases.has(ownerOf(line))) continue;
    bases.set(ownerOf(line), given.has(line.own) ? next(line.own) : line.own);
    given.add(line.own);
  }
  return bases;
}

/** The first free slot from `start`, round all colours before any comes again. */
function freeSlot(taken: ReadonlySet<number | null>, start: number): number {
  let tried = 0;
  const slot = (): number => (tried < SLOTS ? (start + tried) % SLOTS : tried);
  while (taken.has(slot())) tried += 1;
  return slot();
}

/** A slot made from the name: mostly the same on every page. */
function placeOf(name: string): number {
  let sum = 0;
  for (const char of name) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 9_973;
  return sum % SLOTS;
}

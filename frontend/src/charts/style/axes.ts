// Axes that every chart shares: the place of a value, the text of a tick, the look of a scale.
import { type Figures, isCategory, type X } from "../../api/figures";
import { grouped, type Kind, roundNumber, type Unit, unitFor } from "../../text/format";
import { shortenNames } from "../../text/names";
import type { ChartTheme } from "./theme";

export type Size = "main" | "small";

/** Chart.js types a scale by its kind; these are read by linear and logarithmic ones alike. */
// biome-ignore lint/suspicious/noExplicitAny: the library's own type is a union over all scales
export type Scale = any;
export type TickScale = { ticks: { value: number }[]; maxWidth?: number };

/** The place of each x on the axis: its own value, or its rank among names. */
export function placeOf(figures: Figures): (x: X) => number {
  if (!isCategory(figures)) return (x) => Number(x);
  const places = new Map(figures.x.values.map((value, place) => [String(value), place]));
  return (x) => places.get(String(x)) ?? Number.NaN;
}

export function fontSize(size: Size): number {
  return size === "main" ? 12 : 11;
}

export interface XOptions {
  readonly theme: ChartTheme;
  readonly size: Size;
  readonly logX: boolean;
  readonly zoomed?: boolean;
}

/** The load axis, ticked at the load points; or names, one step apart. */
export function xScale(figures: Figures, options: XOptions): Scale {
  return isCategory(figures) ? nameScale(figures, options) : loadScale(figures, options);
}

function loadScale(figures: Figures, options: XOptions): Scale {
  const values = figures.x.values.map(Number);
  const least = Math.min(...values);
  const most = Math.max(...values);
  return {
    ...plainScale(options.theme, options.size, figures.x.label),
    type: options.logX ? "logarithmic" : "linear",
    ...loadBounds(least, most, options),
    afterBuildTicks: (axis: TickScale) => {
      axis.ticks = spacedLoads(values, options, axis.maxWidth).map((value) => ({ value }));
    },
  };
}

/** Labels that a log axis has room for, by the size of the chart. */
const MOST_LOADS: Readonly<Record<Size, number>> = { main: 14, small: 7 };

/** About how many pixels the label of a load needs, with the space beside it. */
function labelWidth(load: number): number {
  return String(load).length * 7 + 4;
}

/**
 * The loads that get a label: on a log axis the large ones stand close together, and Chart.js
 * leaves out every second label as if all were equally far apart.
 */
export function spacedLoads(
  values: readonly number[],
  { logX, size }: Pick<XOptions, "logX" | "size">,
  width = Number.POSITIVE_INFINITY,
): readonly number[] {
  if (!logX) return values;
  const rising = [...values].sort((a, b) => a - b);
  const most = rising.at(-1) ?? 1;
  const room = Math.min(MOST_LOADS[size], width / labelWidth(most));
  const gap = Math.log(most / (rising[0] ?? 1)) / room;
  const kept: number[] = [];
  // From the largest load down: the ranking is mostly there.
  for (const value of rising.reverse()) {
    const next = kept.at(-1);
    if (next === undefined || Math.log(next / value) >= gap) kept.push(value);
  }
  return kept.reverse();
}

function loadBounds(least: number, most: number, { logX, zoomed }: XOptions): object {
  if (logX) return { min: least / 1.12, max: most * 1.12 };
  // A single load stands in the middle, with room for its values on both sides.
  if (least === most && !zoomed) return { min: 0, max: 2 * most || 1 };
  return zoomed ? aroundRange(least, most) : { min: Math.min(0, least), max: most * 1.03 };
}

/** Bounds with a little room on both sides. */
export function aroundRange(least: number, most: number): { min: number; max: number } {
  const room = (most - least || most || 1) * 0.03;
  return { min: least - room, max: most + room };
}

const NAME_LENGTH = 18;
/** In a small chart: few names have room for more of each. */
const SMALL_LENGTH = 9;
const FEW_LENGTH = 12;
const FEW = 3;
const ALL_NAMES = 12;
const [LEANING, UPRIGHT] = [35, 90];

function nameScale(figures: Figures, options: XOptions): Scale {
  const { values, label } = figures.x;
  const scale = plainScale(options.theme, options.size, label);
  const small = values.length > FEW ? SMALL_LENGTH : FEW_LENGTH;
  const names = shortenNames(values.map(String), options.size === "main" ? NAME_LENGTH : small);
  return {
    ...scale,
    type: "linear",
    min: -0.4,
    max: values.length - 0.6,
    afterBuildTicks: (axis: TickScale) => {
      axis.ticks = values.map((_, value) => ({ value }));
    },
    ticks: {
      ...scale.ticks,
      maxRotation: rotation(values.length, options.size),
      // Up to so many names have room when turned. Without its name, a mark would be unexplained.
      autoSkip: options.size !== "main" || values.length > ALL_NAMES,
      // Upright names stand close; the padding would leave out every second.
      autoSkipPadding: options.size === "main" ? 0 : 8,
      callback: (place: string | number) => names[Number(place)] ?? "",
    },
  };
}

/** By how many degrees names may be turned: more of them have room only upright. */
function rotation(names: number, size: Size): number {
  if (size !== "main") return 0;
  return names > ALL_NAMES ? UPRIGHT : LEANING;
}

/** A bottom axis without its domain. */
export function plainScale(theme: ChartTheme, size: Size, title: string): Scale {
  return {
    type: "linear",
    grid: { color: theme.grid, drawTicks: false },
    border: { color: theme.grid },
    title: {
      display: size === "main",
      text: title,
      color: theme.muted,
      font: { size: 12 },
      padding: { top: 4, bottom: 0 },
    },
    ticks: {
      color: theme.muted,
      padding: 6,
      font: { size: fontSize(size) },
      maxRotation: 0,
      autoSkip: true,
      autoSkipPadding: 8,
      callback: (value: string | number) => grouped(Number(value)),
    },
  };
}

/** How many times the largest value a limit may be before the axis leaves it out. */
export const FAR_LIMIT = 3;

export interface YOptions {
  readonly theme: ChartTheme;
  readonly size: Size;
  readonly kind: Kind;
  readonly log: boolean;
  readonly least: number;
  readonly most: number;
  /** Whether anything is above `most`, which the axis does not grow to hold. */
  readonly isCut?: boolean;
}

export function yScale(options: YOptions): Scale {
  const { theme, size, kind, log, least, most } = options;
  const unit = unitFor(kind, [most]);
  return {
    type: log ? "logarithmic" : "linear",
    ...(log ? logBounds(least, most, size) : linearBounds(options)),
    grid: { color: theme.grid, drawTicks: false },
    border: { display: false },
    ticks: {
      color: theme.muted,
      padding: 8,
      font: { size: fontSize(size) },
      maxTicksLimit: size === "main" ? 7 : 4,
      // Round numbers of bytes are not round numbers of MiB.
      ...(unit.factor % 1024 === 0 && !log ? { stepSize: niceStep(most, unit, size) } : {}),
      callback: (value: string | number) => tick(Number(value), kind),
    },
  };
}

/** How far a linear axis goes beyond what it holds. */
const HEADROOM = 1.04;

function linearBounds({ kind, most, isCut, size }: YOptions): object {
  const bounds = { min: 0, suggestedMax: most * HEADROOM };
  if (isCut && most > 0) {
    const step = niceStep(most, unitFor(kind, [most]), size);
    return { ...bounds, max: Math.ceil(bounds.suggestedMax / step) * step };
  }
  // All-zero error rates would otherwise get an axis up to 100 %.
  return most === 0 ? { ...bounds, max: kind === "ratio" ? 0.01 : 1 } : bounds;
}

function niceStep(most: number, unit: Unit, size: Size): number {
  return roundStep((most * HEADROOM) / unit.factor / (size === "main" ? 6 : 3)) * unit.factor;
}

/** The first 1, 2 or 5 of a power of ten that is not below `least`. */
function roundStep(least: number): number {
  const decade = 10 ** Math.floor(Math.log10(least || 1));
  return ([1, 2, 5, 10].find((factor) => factor * decade >= least * 0.9999) ?? 10) * decade;
}

/** A log axis begins and ends at labels, and thus always has three or more. */
function logBounds(least: number, most: number, size: Size): object {
  if (least <= 0) return {};
  const labels = logLabels(least, most);
  return {
    min: labels[0],
    max: labels.at(-1),
    afterBuildTicks: (axis: TickScale) => {
      axis.ticks = thinned(labels, size === "main" ? MOST_LABELS : MOST_SMALL).map((value) => ({
        value,
      }));
    },
  };
}

const MOST_LABELS = 8;
const MOST_SMALL = 5;
const LEAST_LABELS = 3;

/**
 * 1, 2 and 5 of each decade, from the last at or below `least` to the first above `most`; round
 * steps between narrower values, where these would be too few.
 */
export function logLabels(least: number, most: number): readonly number[] {
  const labels = decadeLabels(least, most);
  return labels.length < LEAST_LABELS ? evenLabels(least, most) : labels;
}

function decadeLabels(least: number, most: number): readonly number[] {
  const labels: number[] = [];
  const last = Math.ceil(Math.log10(most)) + 1;
  for (let decade = Math.floor(Math.log10(least)); decade <= last; decade += 1) {
    for (const factor of [1, 2, 5]) labels.push(Number(`${factor}e${decade}`));
  }
  const from = labels.findLastIndex((label) => label <= least * 1.0001);
  const to = labels.findIndex((label, place) => label >= most * 0.9999 && place > from);
  return labels.slice(Math.max(from, 0), to + 1);
}

/** Three to six labels one round step apart; where nothing differs, around the value. */
function evenLabels(least: number, most: number): readonly number[] {
  const room = most > least * 1.001 ? 0 : least * 0.1;
  const step = roundStep((most - least + 2 * room) / 4);
  const first = Math.floor((least - room) / step);
  const last = Math.max(Math.ceil((most + room) / step), first + LEAST_LABELS - 1);
  return Array.from({ length: last - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(12)),
  ).filter((label) => label > 0);
}

/** Powers of ten alone, or every so many labels, where there is no room for all. */
function thinned(labels: readonly number[], most: number): readonly number[] {
  if (labels.length <= most) return labels;
  const decades = labels.filter((label) => Number.isInteger(Math.log10(label)));
  if (decades.length >= LEAST_LABELS && decades.length <= most) return decades;
  const every = Math.ceil(labels.length / most);
  return labels.filter((_, place) => place % every === 0);
}

/** Each tick in the unit that people say: "500 ms" below "1 s", "500" below "1k". */
export function tick(value: number, kind: Kind): string {
  if (value === 0) return "0";
  const unit = unitFor(kind, [value]);
  return `${roundNumber(value / unit.factor, 6)}${unit.suffix}`;
}

/** A log axis has no place for zero: a gap there, the table still says 0. */
export function drawable(value: number | null | undefined, log: boolean): number | null {
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  return log && value <= 0 ? null : value;
}

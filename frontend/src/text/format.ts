// The one place where a number becomes text. Tables, axes, tooltips and the server-rendered
// pages all call it, so a value never reads differently in two places.

export const UNKNOWN = "unknown";

export type Kind = "rate" | "time" | "ratio" | "count" | "bytes" | "transfer" | "seconds" | "cores";

/** A scale shared by a whole column or axis: divide by `factor`, print `suffix` in the header. */
export interface Unit {
  readonly factor: number;
  readonly suffix: string;
  readonly header: string;
}

const TIME_UNITS: readonly Unit[] = [
  { factor: 1, suffix: " µs", header: "µs" },
  { factor: 1_000, suffix: " ms", header: "ms" },
  { factor: 1_000_000, suffix: " s", header: "s" },
];
const RATE: Unit = { factor: 1, suffix: "", header: "req/s" };
const BYTE_UNITS: readonly Unit[] = [
  { factor: 1, suffix: " B", header: "B" },
  { factor: 1_024, suffix: " KiB", header: "KiB" },
  { factor: 1_048_576, suffix: " MiB", header: "MiB" },
  { factor: 1_073_741_824, suffix: " GiB", header: "GiB" },
  { factor: 1_099_511_627_776, suffix: " TiB", header: "TiB" },
];
const TRANSFER_UNITS: readonly Unit[] = BYTE_UNITS.map(({ factor, header }) => ({
  factor,
  suffix: ` ${header}/s`,
  header: `${header}/s`,
}));
const SECOND_UNITS: readonly Unit[] = [
  { factor: 1e-6, suffix: " µs", header: "µs" },
  { factor: 1e-3, suffix: " ms", header: "ms" },
  { factor: 1, suffix: " s", header: "s" },
];
const CORES: Unit = { factor: 1, suffix: " cores", header: "cores" };
const PERCENT: Unit = { factor: 0.01, suffix: " %", header: "%" };
export const PLAIN: Unit = { factor: 1, suffix: "", header: "" };

export type Maybe = number | null | undefined;

function finite(values: readonly Maybe[]): number[] {
  return values.filter((value): value is number => Number.isFinite(value));
}

export function median(values: readonly Maybe[]): number | null {
  const sorted = finite(values).sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  if (upper === undefined) return null;
  if (sorted.length % 2 === 1) return upper;
  return ((sorted[(sorted.length >> 1) - 1] ?? upper) + upper) / 2;
}

function largestUnitBelow(units: readonly Unit[], size: number): Unit {
  let chosen = units[0] ?? PLAIN;
  for (const unit of units) {
    // 999.6 would print as 1000, so the step up comes where rounding comes.
    if (size >= unit.factor * 0.9995) chosen = unit;
  }
  return chosen;
}

/** The unit for a column of values: the one that suits their median. */
export function unitFor(kind: Kind, values: readonly Maybe[]): Unit {
  const middle = Math.abs(median(finite(values).filter((value) => value !== 0)) ?? 0);
  if (kind === "time") return largestUnitBelow(TIME_UNITS, middle);
  if (kind === "rate") return RATE;
  if (kind === "bytes") return largestUnitBelow(BYTE_UNITS, middle);
  if (kind === "transfer") return largestUnitBelow(TRANSFER_UNITS, middle);
  if (kind === "seconds") return largestUnitBelow(SECOND_UNITS, middle);
  if (kind === "cores") return CORES;
  return kind === "ratio" ? PERCENT : PLAIN;
}

/** Of three significant digits, those behind the decimal point; below 0, those before it. */
function decimalsFor(size: number): number {
  return 2 - Math.floor(Math.log10(size));
}

/**
 * Three significant digits: the rule of every figure, here and in `backend/analysis/query/units.py`.
 * How sure the digits are is told by the interval beside them.
 */
export function significant(value: number): string {
  return value === 0 ? "0" : withDecimals(value, decimalsFor(Math.abs(value)));
}

function withDecimals(value: number, decimals: number): string {
  // Below the decimal point toFixed rounds; above it the digits are rounded away here.
  const step = 10 ** Math.max(-decimals, 0);
  const rounded = step > 1 ? Math.round(value / step) * step : value;
  const text = groupDigits(rounded.toFixed(Math.min(Math.max(decimals, 0), 12)));
  return text.replace(/^-(?=0(\.0*)?$)/, "").replace("-", "\u2212");
}

function halfWidth(low: Maybe, high: Maybe): number | null {
  return typeof low === "number" && typeof high === "number" ? (high - low) / 2 : null;
}

/**
 * A value in a unit already chosen for its column, without the unit's name. Below `step`, the
 * smallest step that the load tool prints: "< 1".
 */
export function inUnit(value: Maybe, unit: Unit, step?: Maybe): string {
  if (typeof value !== "number" || !Number.isFinite(value)) return UNKNOWN;
  if (typeof step === "number" && value < step) return `< ${roundNumber(step / unit.factor, 3)}`;
  // Whole bytes are counted, not measured: "13 B" and not "13.0 B".
  if (unit === BYTE_UNITS[0] && Number.isInteger(value)) return groupDigits(value.toFixed(0));
  return significant(value / unit.factor);
}

/** A single value with its own unit, for a sentence or a tooltip; below `step`: "< 1 ms". */
export function single(kind: Kind, value: Maybe, step?: Maybe): string {
  if (typeof value !== "number" || !Number.isFinite(value)) return UNKNOWN;
  if (kind === "count") return grouped(value);
  const unit = unitFor(kind, [Math.max(value, step ?? value)]);
  return `${inUnit(value, unit, step)}${behindNumber(kind, unit)}`;
}

/** What stands behind a number in this unit: " req/s", " ms". */
export function behindNumber(kind: Kind, unit: Unit): string {
  return unit.suffix + (kind === "rate" ? " req/s" : "");
}

/** "1,234.5": as the service writes numbers in its sentences. */
export function grouped(value: number): string {
  return groupDigits(String(Number(value.toFixed(3))));
}

/** At most so many significant digits, without zeros at the end: "1,200", "0.05". */
export function roundNumber(value: number, count: number): string {
  return groupDigits(String(Number(value.toPrecision(count))));
}

/** A comma before each three digits of the whole part. */
function groupDigits(text: string): string {
  return text.replace(/\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
}

/** The number as stored, for titles: hovering shows the digits that were rounded away. */
export function exact(kind: Kind, value: Maybe): string {
  if (typeof value !== "number" || !Number.isFinite(value)) return UNKNOWN;
  const names: Record<Kind, string> = {
    rate: " req/s",
    time: " µs",
    ratio: "",
    count: "",
    bytes: " bytes",
    transfer: " bytes/s",
    seconds: " s",
    cores: " cores",
  };
  return `${groupDigits(String(value))}${names[kind]}`;
}

/**
 * Both ends carry the decimals of the larger, "[0.95, 1.05]", unless one would be rounded to 0. Ends
 * that three digits do not tell apart have more.
 */
export function interval(low: Maybe, high: Maybe, unit: Unit): string {
  if (!Number.isFinite(low) || !Number.isFinite(high)) return "";
  if (low === high) return ""; // the trials do not differ, so there is no range to show
  const ends = [Number(low) / unit.factor, Number(high) / unit.factor];
  const size = Math.max(...ends.map(Math.abs));
  const text = (end: number, more: number): string => {
    const shown = withDecimals(end, decimalsFor(size) + more);
    return end !== 0 && Number(shown) === 0 ? digits(end, 1) : shown;
  };
  return `[${toldApart((more) => ends.map((end) => text(end, more))).join(", ")}]`;
}

/** The texts of `write` with as few more digits as tell them apart; at most three more. */
function toldApart(write: (more: number) => readonly string[]): readonly string[] {
  const tries = [0, 1, 2, 3].map(write);
  return tries.find((texts) => new Set(texts).size > 1) ?? tries[0] ?? [];
}

/** "1.62×", no finer than its interval; print `timesRange(low, high)` beside it. */
export function times(value: Maybe, low?: Maybe, high?: Maybe): string {
  if (typeof value !== "number" || !Number.isFinite(value)) return UNKNOWN;
  return `${factor(value, halfWidth(low, high))}×`;
}

/**
 * "[1.58, 1.66]" of a ratio: no bound is rounded to nothing, nor onto the 1× that it leaves out.
 */
export function timesRange(low: Maybe, high: Maybe): string {
  if (typeof low !== "number" || typeof high !== "number" || low === high) return "";
  const half = halfWidth(low, high);
  const write = (more: number): readonly string[] =>
    [low, high].map((end) => (more ? digits(end, 3 + more) : bound(end, half)));
  return `[${toldApart(write).join(", ")}]`;
}

function bound(value: number, half: Maybe): string {
  const texts = [factor(value, half), ...[3, 4, 5].map((count) => digits(value, count))];
  return texts.find((text) => Number(text) !== 1) ?? factor(value, half);
}

/** Three digits; two where the third is finer than a hundredth of half the interval. */
function factor(value: number, half: Maybe): string {
  const step = value > 0 ? 10 ** (Math.floor(Math.log10(value)) - 2) : 0;
  return digits(value, half && step < half / 100 ? 2 : 3);
}

function digits(value: number, count: number): string {
  return value === 0 ? "0" : withDecimals(value, count - 1 - Math.floor(Math.log10(value)));
}

const KINDS: Readonly<Record<string, Kind>> = {
  "req/s": "rate",
  us: "time",
  ratio: "ratio",
  bytes: "bytes",
  "bytes/s": "transfer",
  s: "seconds",
  cores: "cores",
};

export function kindOf(unit: string): Kind {
  return KINDS[unit] ?? "count";
}

/** "p99.9" for 99.9: a percentile by its usual name. */
export function percentile(percent: number): string {
  return `p${Number(percent.toPrecision(8))}`;
}

/** UTC to the minute: in local time two readers would quote two dates. */
export function utc(iso: string | null | undefined): string {
  const date = iso ? new Date(iso) : null;
  if (!date || Number.isNaN(date.getTime())) return UNKNOWN;
  return `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

const STEPS: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

export function relative(iso: string, now: number = Date.now()): string {
  const seconds = (new Date(iso).getTime() - now) / 1000;
  if (Number.isNaN(seconds)) return UNKNOWN;
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const [name, size] of STEPS) {
    if (Math.abs(seconds) >= size) return format.format(Math.round(seconds / size), name);
  }
  return "just now";
}

/** A time to wait, as people say it: 40 s, 4 min, 1 h 20 min. */
export function duration(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function plural(count: number, singular: string, many = `${singular}s`): string {
  return `${grouped(count)} ${count === 1 ? singular : many}`;
}

/** "1 connection", "64 connections", "version 3.11": a place on the x axis in words. */
export function loadPoint(x: number | string, label: string): string {
  const name = label.toLowerCase();
  if (typeof x === "string") return `${name} ${short(x, 60)}`;
  return `${grouped(x)} ${x === 1 ? name.replace(/(?<=[a-z])s$/, "") : name}`;
}

// Control characters, lone surrogates, and marks that change the direction of the text after them.
const UNSEEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu;

/**
 * A name cut to a length, between code points, without invisible characters: names come from
 * strangers and must not turn the text around. Show the whole name in the title.
 */
export function short(text: string, most = 60): string {
  // Cut first: the work is bounded, however long the name.
  const shown = text
    .slice(0, most * 4)
    .replace(UNSEEN, " ")
    .trim();
  if (shown.length <= most && text.length <= most * 4) return shown;
  const points = [...shown];
  if (points.length <= most && text.length <= most * 4) return shown;
  return `${points
    .slice(0, most - 1)
    .join("")
    .replace(/[\s\u200d]+$/u, "")}…`;
}

/** A name in direction isolates, so that it cannot reorder the text around it on a canvas. */
export function isolated(text: string): string {
  return `\u2068${text}\u2069`;
}

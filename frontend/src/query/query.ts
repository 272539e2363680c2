// The view's whole state is its query string. One canonical spelling per view: keys sorted,
// values sorted, defaults and empties left out, so equal views have equal links.
import type { X } from "../api/figures";

const METRIC = "throughput";
const DEFAULTS: Readonly<Record<string, string>> = {
  metric: METRIC,
  x: "connections",
  logy: "0",
  override: "0",
  view: "sweep",
};

/** By code point, as the service sorts: UTF-16 units would put an emoji before "＀". */
function compare(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i += 1) {
    const step = (left[i]?.codePointAt(0) ?? 0) - (right[i]?.codePointAt(0) ?? 0);
    if (step !== 0) return step;
  }
  return left.length - right.length;
}

export function canonical(params: URLSearchParams | string): string {
  const seen = new Set<string>();
  const pairs = [...new URLSearchParams(params)].filter(([key, value]) => {
    const pair = `${key}\u0000${value}`;
    if (value === "" || DEFAULTS[key] === value || seen.has(pair)) return false;
    seen.add(pair);
    return true;
  });
  pairs.sort(([ka, va], [kb, vb]) => compare(ka, kb) || compare(va, vb));
  return new URLSearchParams(pairs).toString();
}

export function valueIn(query: string, key: string): string | null {
  return new URLSearchParams(query).get(key);
}

export function valuesIn(query: string, key: string): readonly string[] {
  return new URLSearchParams(query).getAll(key);
}

export function withValue(query: string, key: string, value: string | null): string {
  return withValues(query, key, value === null ? [] : [value]);
}

export function withValues(query: string, key: string, values: readonly string[]): string {
  const params = new URLSearchParams(query);
  params.delete(key);
  for (const value of values) params.append(key, value);
  return canonical(params);
}

export function withFilter(query: string, key: string, value: string): string {
  const params = new URLSearchParams(query);
  params.append(key, value);
  return canonical(params);
}

export function withoutFilter(query: string, key: string, value: string): string {
  const pairs = [...new URLSearchParams(query)].filter(([k, v]) => k !== key || v !== value);
  return canonical(new URLSearchParams(pairs));
}

export function withoutKeys(query: string, keys: readonly string[]): string {
  const params = new URLSearchParams(query);
  for (const key of keys) params.delete(key);
  return canonical(params);
}

/** Another axis has other places: a place chosen on the old axis is dropped. */
export function withAxis(query: string, x: string): string {
  const params = new URLSearchParams(query);
  for (const key of ["at", "logx", "zoom"]) params.delete(key);
  params.set("x", x);
  return canonical(params);
}

/** The load that is ranked, on an axis of loads. */
export interface RankedLoad {
  readonly field: "connections" | "rate";
  readonly x: number;
}

/** The latency limit in microseconds, where the link has one. */
export function limitOf(query: string): number | null {
  const limit = Number(valueIn(query, "limit"));
  return Number.isFinite(limit) && limit > 0 ? limit : null;
}

/** Whether two queries ask for the same figures and differ only in how these are drawn. */
export function sameFigures(before: string, after: string): boolean {
  const withoutLook = (query: string): string => {
    const params = new URLSearchParams(query);
    for (const key of LOOK) params.delete(key);
    return canonical(params);
  };
  return withoutLook(before) === withoutLook(after);
}

/** The keys that change the charts and no figure. */
const LOOK = ["logx", "logy", "hidden", "zoom"];
const DRAWING = ["metric", "view", ...LOOK];

/** The keys that choose how figures are drawn: the only ones that frozen figures take. */
function drawingOf(query: string): URLSearchParams {
  const pairs = [...new URLSearchParams(query)].filter(([key]) => DRAWING.includes(key));
  return new URLSearchParams(pairs);
}

/** The frozen query with the drawing keys of another query. */
export function drawnOver(frozen: string, asked: string): string {
  const query = new URLSearchParams(frozen);
  const drawn = drawingOf(asked);
  for (const key of new Set(drawn.keys())) query.delete(key);
  for (const [key, value] of drawn) query.append(key, value);
  return canonical(query);
}

/**
 * The drawing keys that differ from the frozen query. Defaults are spelled out, and a key without a
 * value is left empty: a key that is absent means as frozen.
 */
export function drawnApart(frozen: string, drawn: string): string {
  const params = new URLSearchParams();
  for (const key of DRAWING) {
    const [before = [], now = []] = [frozen, drawn].map((query) => drawingValues(query, key));
    if (String(now) === String(before)) continue;
    for (const value of now.length > 0 ? now : [""]) params.append(key, value);
  }
  params.sort();
  return params.toString();
}

function drawingValues(query: string, key: string): readonly string[] {
  const values = [...valuesIn(query, key)].sort(compare);
  const usual = DEFAULTS[key];
  return values.length === 0 && usual !== undefined ? [usual] : values;
}

/** A text that is equal for queries whose charts of the same figures look alike. */
export function lookKey(query: string): string {
  return JSON.stringify(LOOK.map((key) => valuesIn(query, key)));
}

/** Ids of the series that the reader took out of the charts. */
export function hiddenIn(query: string): ReadonlySet<string> {
  return new Set(valuesIn(query, "hidden"));
}

export function withHidden(query: string, hidden: Iterable<string>): string {
  return withValues(query, "hidden", [...hidden]);
}

export function metricIn(query: string): string {
  return valueIn(query, "metric") ?? METRIC;
}

/** The query of the figures with the drawing keys of now: its link opens exactly this view. */
export function drawnQuery(answered: string, drawn: string): string {
  const pairs = [...new URLSearchParams(answered)].filter(
    // The address names the workspace already.
    ([key]) => !DRAWING.includes(key) && key !== "workspace",
  );
  return canonical(new URLSearchParams([...pairs, ...drawingOf(drawn)]));
}

/**
 * The canonical address of a view, whatever spelling stands in the address bar. Frozen figures
 * need only the drawing keys. The fragment keeps the highlighted series.
 */
export function permalink(
  at: Pick<Location, "origin" | "pathname" | "hash">,
  answered: string,
  drawn: string,
  frozen: boolean,
): string {
  const query = frozen ? drawnApart(answered, drawn) : drawnQuery(answered, drawn);
  const highlighted = highlightedFrom(at.hash);
  const fragment = highlighted ? highlightHash(highlighted) : "";
  return `${at.origin}${at.pathname}${query && `?${query}`}${fragment}`;
}

/**
 * A sweep of 1, 8, 64 is evenly spaced only on a log axis, so that is the default once the
 * load points span a factor of sixteen; `logx=0` or `logx=1` in the link settles it.
 */
export function logX(query: string, values: readonly X[]): boolean {
  const positive = values.filter((value): value is number => Number(value) > 0);
  if (values.some((value) => typeof value === "string")) return false;
  const choice = valueIn(query, "logx");
  if (choice === "0" || choice === "1") return choice === "1";
  if (positive.length !== values.length || positive.length < 2) return false;
  return Math.max(...positive) / Math.min(...positive) >= 16;
}

export function logY(query: string): boolean {
  return valueIn(query, "logy") === "1";
}

/** The fragment holds the highlighted series: they change colours, never the figures. */
export function highlightedFrom(hash: string): ReadonlySet<string> | null {
  const value = new URLSearchParams(hash.replace(/^#/, "")).get("show");
  return value === null ? null : new Set(value.split(".").filter(Boolean));
}

export function highlightHash(chosen: ReadonlySet<string>): string {
  return `#show=${[...chosen].sort(compare).join(".")}`;
}

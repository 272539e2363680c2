// The view's whole state is its query string. One canonical spelling per view: keys sorted,
// values sorted, defaults and empties left out, so equal views have equal links.

const DEFAULTS: Readonly<Record<string, string>> = {
  metric: "throughput",
  x: "connections",
  logy: "0",
};

/** Keys that narrow what is shown; each value is a chip the reader can take away. */
export const FILTERS = ["run", "server", "workload", "tool", "host"] as const;
export type Filter = (typeof FILTERS)[number];

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

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

export function withValue(query: string, key: string, value: string | null): string {
  const params = new URLSearchParams(query);
  params.delete(key);
  if (value !== null) params.set(key, value);
  return canonical(params);
}

export function withFilter(query: string, key: Filter, value: string): string {
  const params = new URLSearchParams(query);
  params.append(key, value);
  return canonical(params);
}

export function withoutFilter(query: string, key: Filter, value: string): string {
  const pairs = [...new URLSearchParams(query)].filter(([k, v]) => k !== key || v !== value);
  return canonical(new URLSearchParams(pairs));
}

/**
 * A sweep of 1, 8, 64 is evenly spaced only on a log axis, so that is the default once the
 * load points span a factor of sixteen; `logx=0` or `logx=1` in the link settles it.
 */
export function logX(query: string, values: readonly number[]): boolean {
  const asked = new URLSearchParams(query).get("logx");
  if (asked === "0" || asked === "1") return asked === "1";
  const positive = values.filter((value) => value > 0);
  if (positive.length !== values.length || positive.length < 2) return false;
  return Math.max(...positive) / Math.min(...positive) >= 16;
}

export function logY(query: string): boolean {
  return new URLSearchParams(query).get("logy") === "1";
}

/** Emphasis lives in the fragment: it changes which lines are loud, never which are shown. */
export function emphasisFrom(hash: string): ReadonlySet<string> | null {
  const value = new URLSearchParams(hash.replace(/^#/, "")).get("show");
  return value === null ? null : new Set(value.split(".").filter(Boolean));
}

export function emphasisHash(chosen: ReadonlySet<string>): string {
  return `#show=${[...chosen].sort(compare).join(".")}`;
}

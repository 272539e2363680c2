// How a series is told apart: colour by its stored slot, marker and dash as the second channel.
import { type Figures, parts, type Series } from "../api/figures";
import { type ChartTheme, SLOTS } from "./theme";

export const MARKERS = ["circle", "rectRot", "triangle", "rect"] as const;
export type Marker = (typeof MARKERS)[number];

const DASHES: readonly (readonly number[])[] = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

export const EMPHASISED = 6;

export function colourOf(slot: number, theme: ChartTheme): string {
  return theme.series[slot % SLOTS] ?? theme.ink;
}

export function markerOf(slot: number): Marker {
  return MARKERS[slot % MARKERS.length] ?? "circle";
}

export function dashOf(slot: number): number[] {
  return [...(DASHES[Math.floor(slot / MARKERS.length) % DASHES.length] ?? [])];
}

/**
 * The server's slots keep a colour with its server on every page. Two series of one server
 * (two hosts, two workloads) share that slot; later ones move on to a free look.
 */
export function slotsOf(series: readonly Series[]): ReadonlyMap<string, number> {
  const taken = new Set<number>();
  const slots = new Map<string, number>();
  for (const one of series) {
    if (taken.has(one.slot)) continue;
    taken.add(one.slot);
    slots.set(one.id, one.slot);
  }
  let free = 0;
  for (const one of series) {
    if (slots.has(one.id)) continue;
    while (taken.has(free)) free += 1;
    taken.add(free);
    slots.set(one.id, free);
  }
  return slots;
}

/** Each panel tells its own series apart, so a server looks the same in all of them. */
export function slotsIn(figures: Figures): ReadonlyMap<string, number> {
  return new Map(parts(figures).flatMap((part) => [...slotsOf(part.series)]));
}

/** Up to six lines can be told apart; beyond that the leaders stay loud and the rest go grey. */
export function defaultEmphasis(
  series: readonly Series[],
  ranked: readonly string[],
): ReadonlySet<string> {
  const ids = series.map((one) => one.id);
  if (ids.length <= EMPHASISED) return new Set(ids);
  const first = [...ranked.filter((id) => ids.includes(id)), ...ids];
  return new Set([...new Set(first)].slice(0, EMPHASISED));
}

/** The lines that are loud until the reader chooses: the leaders of every panel. */
export function emphasisOf(figures: Figures): ReadonlySet<string> {
  const chosen = parts(figures).flatMap((part) => {
    const ranked = part.ranking?.rows.map((row) => row.series) ?? [];
    return [...defaultEmphasis(part.series, ranked)];
  });
  return new Set(chosen);
}

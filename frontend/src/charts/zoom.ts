// The zoom in a link: the part of the x axis that it shows, and the links to other parts.
import type { Figures } from "../api/figures";
import { valueIn, valuesIn, withValue, withValues } from "../query/query";
import type { Place } from "./view";
import { viewOf } from "./views";
import { overPlaces } from "./zoom_axes";

/** All figures of a page, with the query that says which part of them is drawn. */
export interface Asked {
  readonly figures: Figures;
  readonly query: string;
  /** Whether the page can ask the service again. */
  readonly isLive: boolean;
}

export interface Zoom {
  readonly from: Place;
  readonly to: Place;
}

/** The part of the axis that the query shows; null where it shows all, or names no part of it. */
export function zoomIn({ figures, query }: Pick<Asked, "figures" | "query">): Zoom | null {
  const axis = viewOf(query).zoom;
  const ends = valuesIn(query, "zoom").map((text) => axis?.at(figures, text) ?? Number.NaN);
  if (!axis || ends.length === 0 || ends.some(Number.isNaN)) return null;
  return covered(axis.places(figures), Math.min(...ends), Math.max(...ends));
}

/** "8 to 256 connections"; empty where the whole axis is shown. */
export function zoomName(asked: Pick<Asked, "figures" | "query">): string {
  const zoom = zoomIn(asked);
  return (zoom && viewOf(asked.query).zoom?.name(asked.figures, zoom.from, zoom.to)) ?? "";
}

/** Values that were computed differ in their last digits. */
const TINY = 1e-9;

/** From the first to the last place between two values; null for fewer than two, and for all. */
function covered(places: readonly Place[], low: number, high: number): Zoom | null {
  const inside = places.filter(({ at }) => at >= low - TINY && at <= high + TINY);
  const [from, to] = [inside[0], inside.at(-1)];
  return from && to && from !== to && inside.length < places.length ? { from, to } : null;
}

/** The places around two values with no two places between them. */
function surrounding(places: readonly Place[], low: number, high: number): Zoom | null {
  const from = places.findLast(({ at }) => at <= low);
  const to = places.find(({ at }) => at >= high);
  return covered(places, from?.at ?? low, to?.at ?? high);
}

/**
 * The query that shows the places between two values of the axis, or around them; null where these
 * are all. A range of days is a filter: the service answers for these days alone. Within a day, only
 * a zoom can tell runs apart.
 */
export function zoomTo(asked: Asked, [low, high]: readonly [number, number]): string | null {
  const { query } = asked;
  const places = placesOf(asked);
  const zoom = covered(places, low, high) ?? surrounding(places, low, high);
  if (!zoom) return null;
  const [since, until] = [dayOf(zoom.from), dayOf(zoom.to)];
  const days = new Set(places.map(dayOf).filter((day) => day < since || day > until));
  if (!isByDay(asked) || days.size === 0) {
    return withValues(query, "zoom", [zoom.from.text, zoom.to.text]);
  }
  return withValue(withValue(withValue(query, "zoom", null), "since", since), "until", until);
}

/** "2026-03-02" of "2026-03-02 10:15:00": filters are of whole days. */
function dayOf({ text }: Place): string {
  return text.slice(0, 10);
}

/** The query that shows the whole axis; null where it is shown already. */
export function zoomOut(asked: Asked): string | null {
  const keys = isByDay(asked) ? ["zoom", "since", "until"] : ["zoom"];
  if (keys.every((key) => valueIn(asked.query, key) === null)) return null;
  return keys.reduce((next, key) => withValue(next, key, null), asked.query);
}

function isByDay({ figures, query, isLive }: Asked): boolean {
  return isLive && figures.x.field === "date" && viewOf(query).zoom === overPlaces;
}

/** The query with half of the places around `at`, but at least two; null where there are no more. */
export function zoomCloser(asked: Asked, at: number | null): string | null {
  const places = placesShown(asked);
  const count = Math.max(2, Math.ceil(places.length / 2));
  if (count >= places.length) return null;
  const middle = nearest(places, at) - Math.floor(count / 2);
  const first = Math.min(Math.max(middle, 0), places.length - count);
  return between(asked, places[first], places[first + count - 1]);
}

/** The index of the place nearest to `at`; of the one in the middle where there is no `at`. */
function nearest(places: readonly Place[], at: number | null): number {
  if (at === null) return Math.floor(places.length / 2);
  const distances = places.map((place) => Math.abs(place.at - at));
  return distances.indexOf(Math.min(...distances));
}

/** The query with twice the places; the whole axis where these are all. */
export function zoomWider(asked: Asked): string | null {
  const all = placesOf(asked);
  const shown = placesShown(asked);
  const first = all.findIndex(({ text }) => text === shown[0]?.text);
  const more = Math.ceil(shown.length / 2);
  const [from, to] = [Math.max(first - more, 0), first + shown.length - 1 + more];
  if (from === 0 && to >= all.length - 1) return zoomOut(asked);
  return between(asked, all[from], all[Math.min(to, all.length - 1)]);
}

function placesOf({ figures, query }: Pick<Asked, "figures" | "query">): readonly Place[] {
  return viewOf(query).zoom?.places(figures) ?? [];
}

function placesShown(asked: Asked): readonly Place[] {
  const zoom = zoomIn(asked);
  const all = placesOf(asked);
  return zoom ? all.filter(({ at }) => at >= zoom.from.at && at <= zoom.to.at) : all;
}

function between(asked: Asked, from: Place | undefined, to: Place | undefined): string | null {
  return from && to ? zoomTo(asked, [from.at, to.at]) : null;
}

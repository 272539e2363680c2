// What an image shows, from what the service sends. Names come from strangers: they stay text,
// of a length that can be drawn, and turn no line around.
import type { Figures } from "../api/figures";

export interface Scene {
  readonly figures: Figures;
  readonly url: string;
  readonly date: string;
  readonly overridden: boolean;
}

const LONGEST = 160;
const LONGEST_SENTENCE = 400;
const SENTENCES = new Set(["finding", "conditions"]);
// Control characters, and those that change the direction of what follows them.
const UNSEEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu;

export function plain(text: string, longest = LONGEST): string {
  // Cut before the rest: the work is bounded, whatever the length of a name.
  const points = [...text.slice(0, 4 * longest).replace(UNSEEN, " ")];
  return points.length > longest || text.length > 4 * longest
    ? `${points.slice(0, longest).join("").trimEnd()}…`
    : points.join("").trim();
}

/** The same value with every text in it made plain. */
export function tamed(value: unknown, key = ""): unknown {
  if (typeof value === "string") {
    return plain(value, SENTENCES.has(key) ? LONGEST_SENTENCE : LONGEST);
  }
  if (Array.isArray(value)) return value.map((one) => tamed(one, key));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, tamed(one, name)]));
}

/** The query is no text to be shown: it stays as it is. */
export function sceneOf(sent: unknown): Scene {
  const { figures, url, date } = sent as { figures: Figures; url: string; date: string };
  const shown = tamed(figures) as Figures;
  const overridden = new URLSearchParams(figures.query).get("override") === "1";
  return { figures: { ...shown, query: figures.query }, url, date, overridden };
}

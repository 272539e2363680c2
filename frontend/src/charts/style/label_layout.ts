// Names on a chart: labels at the lines' ends are moved so that none covers another, and names that
// are too long are cut.
import { shortenNames } from "../../text/names";

export interface LabelPlace {
  readonly id: string;
  readonly y: number;
}

export interface PlacedLabel extends LabelPlace {
  readonly at: number;
}

/** Keeps the order of the lines and moves each label as little as the gap allows. */
export function spreadLabels(
  wanted: readonly LabelPlace[],
  gap: number,
  top: number,
  bottom: number,
): PlacedLabel[] {
  const sorted = [...wanted].sort((a, b) => a.y - b.y);
  const at = sorted.map((label) => Math.min(Math.max(label.y, top), bottom));
  for (let i = 1; i < at.length; i += 1) {
    at[i] = Math.max(at[i] ?? top, (at[i - 1] ?? top) + gap);
  }
  let limit = bottom;
  for (let i = at.length - 1; i >= 0; i -= 1) {
    at[i] = Math.min(at[i] ?? bottom, limit);
    limit = (at[i] ?? bottom) - gap;
  }
  return sorted.map((label, i) => ({ ...label, at: at[i] ?? label.y }));
}

export function fitText(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  const kept = [...text];
  while (kept.length > 1 && measure(`${kept.join("")}…`) > width) kept.pop();
  return `${kept.join("").trimEnd()}…`;
}

/** The longest and shortest names that are tried, in characters. */
const MOST_FITTED = 40;
const LEAST_FITTED = 8;

/**
 * Each name cut to the width; where that makes two of them alike, to what tells them apart, and
 * where the width has no room for that, with a number.
 */
export function fitNames(
  names: readonly string[],
  width: number,
  measure: (text: string) => number,
): readonly string[] {
  const fitted = names.map((name) => fitText(name, width, measure));
  if (new Set(fitted).size === new Set(names).size) return fitted;
  for (let most = MOST_FITTED; most >= LEAST_FITTED; most -= 1) {
    const cut = shortenNames(names, most);
    if (cut.every((name) => measure(name) <= width)) return cut;
  }
  return numberAlike(names, fitted, width, measure);
}

/** Numbers count through all names that read alike once they have room for a number. */
function numberAlike(
  names: readonly string[],
  fitted: readonly string[],
  width: number,
  measure: (text: string) => number,
): readonly string[] {
  const isAlike = (name: string, i: number): boolean =>
    names.some((other, at) => fitted[at] === fitted[i] && other !== name);
  const alike = [...new Set(names.filter(isAlike))];
  const room = width - measure(String(alike.length));
  const stems = alike.map((name) => fitText(name, room, measure));
  return names.map((name, i) => {
    const at = alike.indexOf(name);
    if (at < 0) return fitted[i] ?? name;
    const before = stems.slice(0, at).filter((stem) => stem === stems[at]);
    return `${stems[at]}${before.length + 1}`;
  });
}

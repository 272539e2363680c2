// Names on a chart: labels at the lines' ends are moved so that none covers another, and names that
// are too long are cut.
import { short } from "../../text/format";

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

const LONGEST = 200;

/** Names cut to a length in the middle; where that cuts them alike, to the part that differs. */
export function shortenNames(names: readonly string[], most: number): readonly string[] {
  const whole = names.map((name) => short(name, LONGEST));
  const cut = whole.map((name) => cutMiddle(name, most));
  if (new Set(cut).size === new Set(whole).size) return cut;
  const head = commonPrefixLength(whole);
  const tail = commonPrefixLength(whole.map((name) => [...name.slice(head)].reverse().join("")));
  return whole.map((name) => {
    const own = name.slice(head, name.length - tail);
    return cutMiddle(`${head > 0 ? "…" : ""}${own}${tail > 0 ? "…" : ""}`, most);
  });
}

/** "gunicorn gthread" in ten characters: "gunic…read". */
function cutMiddle(text: string, most: number): string {
  const points = [...text];
  if (points.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${points.slice(0, head).join("")}…${points.slice(points.length - (most - 1 - head)).join("")}`;
}

/** The length of the beginning that all texts share. */
function commonPrefixLength(texts: readonly string[]): number {
  const [first = "", ...others] = texts;
  let length = 0;
  for (const point of first) {
    const next = first.slice(0, length + point.length);
    if (!others.every((other) => other.startsWith(next))) break;
    length = next.length;
  }
  return length;
}

// Names of series and places in little room: however they are cut, two names never read alike.
import { short } from "./format";

const LONGEST = 200;

/**
 * Names cut to a length in the middle; where that cuts them alike, to the part that differs. They
 * are longer where nothing shorter tells them apart.
 */
export function shortenNames(names: readonly string[], most: number): readonly string[] {
  const whole = names.map((name) => short(name, LONGEST));
  const cut = whole.map((name) => cutMiddle(name, most));
  if (new Set(cut).size === new Set(whole).size) return cut;
  const head = commonPrefixLength(whole);
  const tail = commonPrefixLength(whole.map((name) => [...name.slice(head)].reverse().join("")));
  const apart = whole.map((name) => {
    const own = name.slice(head, name.length - tail);
    return cutMiddle(`${head > 0 ? "…" : ""}${own}${tail > 0 ? "…" : ""}`, most);
  });
  return new Set(apart).size === new Set(whole).size ? apart : whole;
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

/** Names cut at their end, as `short` does; where that makes two alike, to what tells them apart. */
export function shortNames(names: readonly string[], most = 60): readonly string[] {
  const cut = names.map((name) => short(name, most));
  return new Set(cut).size === new Set(names).size ? cut : shortenNames(names, most);
}

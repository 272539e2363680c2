// Names of series and places in little room: however they are cut, two names never read alike.
import { short } from "./format";

const LONGEST = 200;

/**
 * Names cut to a length in the middle; where that cuts them alike, to the part that differs. They
 * are longer where nothing shorter tells them apart.
 */
export function shortenNames(names: readonly string[], most: number): readonly string[] {
  const whole = names.map((name) => short(name, LONGEST));
  const instants = shortenInstants(whole, most);
  if (instants) return instants;
  const cut = whole.map((name) => cutMiddle(name, most));
  if (areApart(cut, whole)) return cut;
  const head = commonPrefixLength(whole);
  const tail = commonPrefixLength(whole.map((name) => [...name.slice(head)].reverse().join("")));
  const apart = whole.map((name) => {
    const own = name.slice(head, name.length - tail);
    return cutMiddle(`${head > 0 ? "…" : ""}${own}${tail > 0 ? "…" : ""}`, most);
  });
  if (areApart(apart, whole)) return apart;
  const worded = keepOwnWords(whole, cut, most);
  return areApart(worded, whole) ? worded : whole;
}

const INSTANT = /^\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?$/;
// Of "2026-11-07 16:44:35": the day, the day without its year, both with minutes, and the minutes.
const PARTS_OF_INSTANT = [
  [0, 10],
  [5, 10],
  [0, 16],
  [5, 16],
  [11, 16],
] as const;

/** Instants by their first part that fits and tells them apart; null for other names. */
function shortenInstants(names: readonly string[], most: number): readonly string[] | null {
  if (!names.every((name) => INSTANT.test(name))) return null;
  const parts = PARTS_OF_INSTANT.filter(([from, to]) => to - from <= most);
  const texts = parts.map(([from, to]) => names.map((name) => name.slice(from, to)));
  return texts.find((each) => areApart(each, names)) ?? null;
}

/** Whether two texts are alike only where their names are. */
function areApart(texts: readonly string[], names: readonly string[]): boolean {
  return new Set(texts).size === new Set(names).size;
}

const WORDS = /[\p{L}\p{N}]+(?:[.,]\p{N}+)*/gu;

/**
 * Names that are cut alike keep the words that not all of them have, behind the first word where
 * there is room: "app…40 file" and "app…10,000 fixed" of "app 1.3 (40 bytes, resource=file)" and
 * "app 1.3 (10,000 bytes, resource=fixed)".
 */
function keepOwnWords(
  names: readonly string[],
  cut: readonly string[],
  most: number,
): readonly string[] {
  const isAlike = (i: number): boolean =>
    cut.some((text, other) => text === cut[i] && names[other] !== names[i]);
  const words = names.map((name): readonly string[] => name.match(WORDS) ?? []);
  const alike = words.filter((_, i) => isAlike(i));
  return cut.map((text, i) => {
    if (!isAlike(i)) return text;
    const [first = "", ...others] = words[i] ?? [];
    const isOwn = (word: string): boolean => !alike.every((all) => all.includes(word));
    const rest = `…${others.filter(isOwn).join(" ")}`;
    const needsFirst = isOwn(first) || first.length + rest.length <= most;
    return cutMiddle(needsFirst ? first + rest : rest, most);
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

/** Names cut at their end, as `short` does; where that makes two alike, to what tells them apart. */
export function shortNames(names: readonly string[], most = 60): readonly string[] {
  const cut = names.map((name) => short(name, most));
  return areApart(cut, names) ? cut : shortenNames(names, most);
}

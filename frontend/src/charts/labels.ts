// Direct labels at line ends: where each goes so that none covers another.

export interface Wanted {
  readonly id: string;
  readonly y: number;
}

export interface Placed extends Wanted {
  readonly at: number;
}

/** Keeps the order of the lines and moves each label as little as the gap allows. */
export function spread(
  wanted: readonly Wanted[],
  gap: number,
  top: number,
  bottom: number,
): Placed[] {
  const sorted = [...wanted].sort((a, b) => a.y - b.y);
  const at = sorted.map((one) => Math.min(Math.max(one.y, top), bottom));
  for (let i = 1; i < at.length; i += 1) {
    at[i] = Math.max(at[i] ?? top, (at[i - 1] ?? top) + gap);
  }
  let limit = bottom;
  for (let i = at.length - 1; i >= 0; i -= 1) {
    at[i] = Math.min(at[i] ?? bottom, limit);
    limit = (at[i] ?? bottom) - gap;
  }
  return sorted.map((one, i) => ({ ...one, at: at[i] ?? one.y }));
}

export function fitted(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  const kept = [...text];
  while (kept.length > 1 && measure(`${kept.join("")}…`) > width) kept.pop();
  return `${kept.join("").trimEnd()}…`;
}

// Chart colours are read from the style sheet, so a colour is written down once.

/** Blue is better than the baseline, orange worse; "same" is not distinguishable from it. */
export const TINTS = [
  "worse-3",
  "worse-2",
  "worse-1",
  "better-1",
  "better-2",
  "better-3",
  "same",
] as const;
export type Shade = (typeof TINTS)[number];
export interface ChartTheme {
  readonly ink: string;
  readonly muted: string;
  readonly grid: string;
  readonly surface: string;
  readonly context: string;
  readonly warning: string;
  readonly danger: string;
  readonly font: string;
  readonly series: readonly string[];
  /** Of the cells in the table of ratios. */
  readonly tints: Readonly<Record<Shade, string>>;
}

/** A theme from the colours of the style sheet, each by its name there. */
export function themeOf(colour: (name: string) => string, font: string): ChartTheme {
  const tints = TINTS.map((tint) => [tint, colour(`ratio-${tint}`)]);
  return {
    ink: colour("ink"),
    muted: colour("muted"),
    grid: colour("grid"),
    surface: colour("surface"),
    context: colour("context"),
    warning: colour("status-warning"),
    danger: colour("status-error"),
    font,
    series: Array.from({ length: SLOTS }, (_, slot) => colour(`series-${slot}`)),
    tints: Object.fromEntries(tints) as Record<Shade, string>,
  };
}

export const SLOTS = 8;

/** A colour with an opacity from 0 to 1. A browser gives `rgb(…)`, a style sheet `#rrggbb`. */
export function faint(colour: string, strength: number): string {
  const inside = /^rgb\((.+)\)$/.exec(colour)?.[1];
  if (inside) return `rgba(${inside}, ${strength})`;
  const alpha = Math.round(strength * 255)
    .toString(16)
    .padStart(2, "0");
  return /^#[0-9a-f]{6}$/i.test(colour) ? `${colour}${alpha}` : colour;
}

/** A colour with so much of another in it, from 0 to 1, as `color-mix(in srgb, …)` gives it. */
export function mixed(colour: string, other: string, share: number): string {
  const [from, to] = [channelsOf(colour), channelsOf(other)];
  if (share === 0 || !from || !to) return colour;
  const channels = from.map((value, i) => Math.round(value + ((to[i] ?? value) - value) * share));
  return `rgb(${channels.join(", ")})`;
}

/** Red, green and blue from 0 to 255; null for another way to write a colour. */
function channelsOf(colour: string): readonly number[] | null {
  const inside = /^rgb\((.+)\)$/.exec(colour)?.[1];
  if (inside) return inside.split(/[ ,]+/).map(Number);
  const digits = /^#([0-9a-f]{6})$/i.exec(colour)?.[1]?.match(/../g);
  return digits?.map((pair) => Number.parseInt(pair, 16)) ?? null;
}

/**
 * The theme of the page, or the light one that belongs on paper. Canvas knows no `var()` and no
 * `light-dark()`: probe elements resolve both. All of them are on the page before the first is read,
 * so that the page is styled once.
 */
export function readTheme(host: HTMLElement = document.body, paper = false): ChartTheme {
  const probes = document.createElement("span");
  probes.hidden = true;
  if (paper) probes.style.colorScheme = "light";
  const probeOf = (name: string): HTMLElement => {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    probes.append(probe);
    return probe;
  };
  const byName = new Map<string, HTMLElement>();
  // The first pass only asks for the names.
  themeOf((name) => {
    byName.set(name, probeOf(name));
    return "";
  }, "");
  host.append(probes);
  const colour = (name: string): string => getComputedStyle(byName.get(name) ?? probes).color;
  const theme = themeOf(colour, getComputedStyle(host).fontFamily);
  probes.remove();
  return theme;
}

/** Runs `redraw` whenever the reader or the system changes between light and dark. */
export function onThemeChange(redraw: () => void): void {
  new MutationObserver(redraw).observe(document.documentElement, {
    attributes: true,
    attributeFilter: ["data-theme"],
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
}

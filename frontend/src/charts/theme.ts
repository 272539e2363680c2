// Chart colours are read from the style sheet, so a colour is written down once.

export interface ChartTheme {
  readonly ink: string;
  readonly muted: string;
  readonly grid: string;
  readonly surface: string;
  readonly context: string;
  readonly danger: string;
  readonly font: string;
  readonly series: readonly string[];
}

export const SLOTS = 8;

/** Canvas knows no `var()` and no `light-dark()`; a probe element resolves both. */
export function readTheme(host: HTMLElement = document.body): ChartTheme {
  const probe = document.createElement("span");
  probe.hidden = true;
  host.append(probe);
  const colour = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const theme: ChartTheme = {
    ink: colour("ink"),
    muted: colour("muted"),
    grid: colour("grid"),
    surface: colour("surface"),
    context: colour("context"),
    danger: colour("status-error"),
    font: getComputedStyle(host).fontFamily,
    series: Array.from({ length: SLOTS }, (_, slot) => colour(`series-${slot}`)),
  };
  probe.remove();
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

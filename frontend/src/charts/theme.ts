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
function reader(host: HTMLElement): { colour: (name: string) => string; done: () => void } {
  const probe = document.createElement("span");
  probe.hidden = true;
  host.append(probe);
  return {
    colour: (name) => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    },
    done: () => probe.remove(),
  };
}

export function readColour(name: string, host: HTMLElement): string {
  const { colour, done } = reader(host);
  const found = colour(name);
  done();
  return found;
}

export function readTheme(host: HTMLElement = document.body): ChartTheme {
  const { colour, done } = reader(host);
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
  done();
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

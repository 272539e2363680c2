// The keys of the focused main chart: arrows go through its points, Enter opens the trials of a
// point, + and - enlarge the axis around it, Escape shows the whole axis.
import type { Chart as AnyChart } from "chart.js";
import type { X } from "../api/figures";
import { drawnScene } from "../charts/drawn";
import type { Scene } from "../charts/scene";
import { viewOf } from "../charts/views";
import { type Asked, zoomCloser, zoomOut, zoomWider } from "../charts/zoom";
import {
  nextPosition,
  type Position,
  positionText,
  type SeriesStops,
  seriesStops,
} from "./keyboard_nav";

export interface KeyHooks {
  readonly scene: () => Scene | null;
  readonly charts: () => readonly AnyChart[];
  readonly hover: (series: string | null) => void;
  /** Says the point aloud. */
  readonly say: (text: string) => void;
  /** Opens the query that `next` gives, if it gives one. */
  readonly go: (next: (asked: Asked) => string | null) => void;
  readonly openPoint: (series: string, x: X) => void;
}

type Zoom = (asked: Asked, at: number | null) => string | null;
const ZOOMS: Readonly<Record<string, Zoom>> = {
  "+": zoomCloser,
  "=": zoomCloser,
  "-": zoomWider,
  Escape: zoomOut,
};

export class ChartKeys {
  readonly #hooks: KeyHooks;
  #position: Position | null = null;

  constructor(box: HTMLElement, hooks: KeyHooks) {
    this.#hooks = hooks;
    box.addEventListener("keydown", (event) => this.#press(event));
  }

  /** Other points are drawn: the walk begins again. */
  forget(): void {
    this.#position = null;
  }

  /** The series that the arrow keys are on. */
  get series(): string | null {
    return this.#stops()[this.#position?.series ?? -1]?.series ?? null;
  }

  /** The x of the point that the arrow keys are on. */
  get #x(): X | null {
    const { series = -1, point = -1 } = this.#position ?? {};
    return this.#stops()[series]?.stops[point]?.x ?? null;
  }

  #stops(): readonly SeriesStops[] {
    const scene = this.#hooks.scene();
    if (!scene) return [];
    const { figures, query, metric } = drawnScene(scene);
    return seriesStops(figures, viewOf(query), metric);
  }

  #press(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) this.#move(event);
    else if (event.key === "Enter") this.#open();
    else this.#zoom(event);
  }

  #move(event: KeyboardEvent): void {
    const stops = this.#stops();
    this.#position = nextPosition(stops, this.#position, event.key);
    if (!this.#position) return;
    event.preventDefault();
    this.#hooks.say(positionText(stops, this.#position));
    this.#hooks.hover(this.series);
    this.#enlarge();
  }

  #open(): void {
    const [series, x] = [this.series, this.#x];
    if (series !== null && x !== null) this.#hooks.openPoint(series, x);
  }

  #zoom(event: KeyboardEvent): void {
    const zoom = ZOOMS[event.key];
    if (!zoom) return;
    event.preventDefault();
    const x = this.#x;
    this.#hooks.go((asked) => {
      const at = x === null ? null : viewOf(asked.query).zoom?.at(asked.figures, String(x));
      return zoom(asked, at ?? null);
    });
  }

  /** The point that is spoken grows as one under the pointer does. */
  #enlarge(): void {
    const [series, x] = [this.series, this.#x];
    for (const chart of this.#hooks.charts()) {
      const datasetIndex = chart.data.datasets.findIndex(
        (dataset) => (dataset as { seriesId?: string }).seriesId === series,
      );
      const index = (chart.data.datasets[datasetIndex]?.data ?? []).findIndex(
        (point) => (point as unknown as { at?: X }).at === x,
      );
      chart.setActiveElements(index < 0 ? [] : [{ datasetIndex, index }]);
      chart.draw();
    }
  }
}

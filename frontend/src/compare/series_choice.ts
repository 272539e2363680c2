// What a press on a name in the legend does to the series: hide, show, colour, or show alone.
import type { Figures } from "../api/figures";

/** Which series are drawn, and which of them in colour. */
export interface SeriesChoice {
  readonly hidden: ReadonlySet<string>;
  readonly highlighted: ReadonlySet<string>;
}

/**
 * The choice after a press on the series of `ids`, one line of the legend. A grey line gets its
 * colour first, a coloured one is hidden, a hidden one comes back.
 */
export function pressSeries(
  figures: Figures,
  choice: SeriesChoice,
  ids: readonly string[],
): SeriesChoice {
  const { hidden, highlighted } = choice;
  if (ids.every((id) => hidden.has(id))) {
    return { ...choice, hidden: new Set([...hidden].filter((id) => !ids.includes(id))) };
  }
  if (!ids.some((id) => highlighted.has(id))) {
    return { ...choice, highlighted: new Set([...highlighted, ...ids]) };
  }
  return { ...choice, hidden: someShown(figures, new Set([...hidden, ...ids])) };
}

/** The series of `ids` alone; all series where they are alone already. */
export function pressAlone(
  figures: Figures,
  choice: SeriesChoice,
  ids: readonly string[],
): SeriesChoice {
  const others = figures.series.map(({ id }) => id).filter((id) => !ids.includes(id));
  const isAlone =
    others.every((id) => choice.hidden.has(id)) && !ids.some((id) => choice.hidden.has(id));
  return { ...choice, hidden: new Set(isAlone ? [] : others) };
}

/** Hiding the last series shows all of them: an empty chart says nothing. */
function someShown(figures: Figures, hidden: ReadonlySet<string>): ReadonlySet<string> {
  return figures.series.every(({ id }) => hidden.has(id)) ? new Set() : hidden;
}

// The request for an image. Names come from strangers: each text is cut to a length that can be
// drawn.
import type { Figures } from "../../api/figures";
import { short } from "../../text/format";

export interface ImageRequest {
  readonly figures: Figures;
  readonly url: string;
  readonly date: string;
  /** The title of the result set; empty of a view that has none. */
  readonly name: string;
}

const LONGEST = 160;
const LONGEST_SENTENCE = 400;
const SENTENCES = new Set([
  ...["finding", "conditions", "truncated"],
  ...["sentence", "margin", "aside", "text"],
]);

/** The same value with every text cut and freed of invisible characters. */
export function boundTexts(value: unknown, key = ""): unknown {
  if (typeof value === "string") {
    return short(value, SENTENCES.has(key) ? LONGEST_SENTENCE : LONGEST);
  }
  if (Array.isArray(value)) return value.map((item) => boundTexts(item, key));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, boundTexts(item, name)]),
  );
}

/** The query is not shown: it stays as it is. */
export function readRequest(sent: unknown): ImageRequest {
  const { figures, url, date, name = "" } = sent as Omit<ImageRequest, "name"> & { name?: string };
  const shown = boundTexts(figures) as Figures;
  return { figures: { ...shown, query: figures.query }, url, date, name: short(name, LONGEST) };
}

// The values of each field that can be chosen, counted with all other filters applied.
import { getJson } from "./client";
import type { Facets } from "./schema";

export type { Facet, Facets, FacetValue } from "./schema";

export async function getFacets(url: string, signal: AbortSignal): Promise<Facets> {
  return (await getJson(url, signal)) as Facets;
}

// The JSON of /api/v1/facets: for each field its values, counted with all other filters applied.
import { getJson } from "./client";

export interface FacetValue {
  readonly value: string;
  readonly label: string;
  /** Trials. */
  readonly count: number;
  readonly chosen: boolean;
}

export interface Facet {
  readonly id: string;
  readonly label: string;
  readonly values: readonly FacetValue[];
  /** Values beyond those listed. */
  readonly more: number;
}

export interface Facets {
  readonly total: { readonly cells: number; readonly trials: number; readonly runs: number };
  readonly fields: readonly Facet[];
}

export async function getFacets(url: string, signal: AbortSignal): Promise<Facets> {
  return (await getJson(url, signal)) as Facets;
}

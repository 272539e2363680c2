// The trials behind a point: GET /api/v1/trials.

import { getJson } from "./client";
import type { Point } from "./figures";
import type { PointTrial, PointTrials } from "./schema";

export type { PointTrial } from "./schema";

export async function getPointTrials(
  endpoint: string,
  { cell, cells }: Point,
  signal: AbortSignal,
): Promise<readonly PointTrial[]> {
  const query = new URLSearchParams((cells?.length ? cells : [cell]).map((id) => ["cell", id]));
  return ((await getJson(`${endpoint}?${query}`, signal)) as PointTrials).trials;
}

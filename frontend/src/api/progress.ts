// The progress of a run: GET /api/v1/runs/<id>/progress.
import { getJson } from "./client";
import type { Progress } from "./schema";

export type { Current, Progress } from "./schema";

export function progressUrl(run: string): string {
  return `/api/v1/runs/${encodeURIComponent(run)}/progress`;
}

/** The browser asks with the ETag it has, so an unchanged answer costs a few bytes. */
export async function readProgress(url: string): Promise<Progress> {
  return (await getJson(url)) as Progress;
}

/** Whether more trials may follow. */
export function isRunning(progress: Progress): boolean {
  return progress.state === "running" || progress.state === "silent";
}

// The progress of a run: GET /api/v1/runs/<id>/progress.
import { getJson } from "./client";

export interface Trial {
  readonly ordinal: number;
  readonly server: string;
  readonly workload: string;
  readonly connections: number | null;
  readonly rate_rps: number | null;
  readonly repeat: number | null;
  readonly phase: "warmup" | "measure" | "search" | "confirm";
}

export interface Progress {
  readonly run: string;
  readonly state: "running" | "silent" | "finished" | "stopped" | "interrupted";
  readonly trials_recorded: number;
  readonly trials_done: number | null;
  readonly trials_planned: number | null;
  readonly current: Trial | null;
  readonly last: {
    readonly throughput_rps: number | null;
    readonly p99_us: number | null;
    readonly error_rate: number | null;
  } | null;
  readonly seconds_left: number | null;
  readonly heard_at: string | null;
}

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

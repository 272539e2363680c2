// The progress of a run that goes on.
import type { Progress } from "../api/progress";

export const RUNNING: Progress = {
  run: "r1",
  state: "running",
  trials_recorded: 3,
  trials_done: 4,
  trials_planned: 20,
  current: {
    ordinal: 4,
    server: "nginx",
    workload: "hello",
    connections: 64,
    rate_rps: null,
    repeat: 2,
    phase: "measure",
  },
  last: { throughput_rps: 8120, p99_us: 9100, error_rate: null },
  seconds_left: 200,
  heard_at: "2026-11-21T14:00:00Z",
};

// How far an archive is, in words; exports.html has the same.

/** Of the answer about an export, what the words need. */
export interface ExportProgress {
  state: string;
  rows_done: number;
  files_done: number;
  files_total: number | null;
}

const UNFINISHED = new Set(["waiting", "writing"]);

export function isUnfinished(progress: ExportProgress): boolean {
  return UNFINISHED.has(progress.state);
}

export function progressText(progress: ExportProgress): string {
  if (progress.state === "waiting") return "Waiting";
  if (progress.files_total === null) return `Writing rows: ${progress.rows_done} so far`;
  return `Writing raw files: ${progress.files_done} of ${progress.files_total}`;
}

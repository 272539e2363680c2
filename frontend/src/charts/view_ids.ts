// The ids of the views for the service: generate_view_ids.mjs writes this text to a module there.
import { VIEWS } from "./views";

const HEADER =
  '"""The charts of a comparison, made from frontend/src/charts/views.ts: run scripts/fix."""\n';

export function viewIdsModule(): string {
  const ids = VIEWS.map(({ id }) => `    "${id}",\n`);
  return `${HEADER}\nVIEWS = (\n${ids.join("")})\n`;
}

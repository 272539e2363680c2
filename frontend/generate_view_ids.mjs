// Writes backend/analysis/query/view_ids.py, the views that the service takes, from the table in
// src/charts/views.ts. `--check` only compares.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { keep } from "./generated.mjs";

const MODULE = new URL("../backend/analysis/query/view_ids.py", import.meta.url);

const built = await build({
  entryPoints: [fileURLToPath(new URL("src/charts/view_ids.ts", import.meta.url))],
  bundle: true,
  format: "esm",
  platform: "node",
  write: false,
});
const script = built.outputFiles[0].text;
const { viewIdsModule } = await import(`data:text/javascript,${encodeURIComponent(script)}`);
await keep(MODULE, viewIdsModule());

// Builds one script per page and one style sheet into dist/ under stable names, and into images/
// the program that draws images on the server, which no browser gets.
// Django adds the content hash when it collects static files, so no hash is made here.
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { bundles } from "./bundles.mjs";

const root = dirname(fileURLToPath(import.meta.url));
const outdir = join(root, "dist");
const images = join(root, "images");

for (const made of [outdir, images]) rmSync(made, { recursive: true, force: true });

const shared = {
  absWorkingDir: root,
  bundle: true,
  logLevel: "info",
  minify: true,
  outdir,
  sourcemap: "linked",
  // The manifest storage rewrites url() and sourceMappingURL; keep names plain and relative.
  legalComments: "linked",
};

for (const scripts of bundles) await build({ ...shared, ...scripts });
await build({
  ...shared,
  entryPoints: { site: "styles/site.css" },
  loader: { ".svg": "file" },
});
await build({
  ...shared,
  entryPoints: { render: "src/export/node/render.ts" },
  outdir: images,
  outExtension: { ".js": ".mjs" },
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: false,
  loader: { ".css": "text" },
  external: ["@napi-rs/canvas"],
});

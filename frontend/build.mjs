// Builds one script per page and one style sheet into dist/ under stable names, and into images/
// the program that draws images on the server, which no browser gets.
// Django adds the content hash when it collects static files, so no hash is made here.
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(fileURLToPath(import.meta.url));
const outdir = join(root, "dist");
const pages = ["compare", "embed", "new_upload", "run", "site", "theme", "trial", "upload"];

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

await build({
  ...shared,
  entryPoints: Object.fromEntries(pages.map((page) => [page, `src/pages/${page}.ts`])),
  format: "iife",
  target: ["chrome109", "firefox115", "safari16.4"],
});
await build({
  ...shared,
  entryPoints: { site: "styles/site.css" },
  loader: { ".svg": "file" },
});
await build({
  ...shared,
  entryPoints: { render: "src/images/render.ts" },
  outdir: images,
  outExtension: { ".js": ".mjs" },
  platform: "node",
  format: "esm",
  target: "node20",
  sourcemap: false,
  loader: { ".css": "text" },
  external: ["@napi-rs/canvas"],
});

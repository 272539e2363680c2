// What a browser gets: one script per page, and Chart.js as one more that several pages share.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(fileURLToPath(import.meta.url));
const PAGES = [
  "compare",
  "embed",
  "exports",
  "introduction",
  "new_upload",
  "run",
  "site",
  "theme",
  "trial",
  "upload",
];
// Where charts.js leaves what it holds. A page that draws names it before its own script; modules
// would share by themselves, but a framed page without an origin may not load any.
const SHARED = "loadsheetCharts";

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["chrome109", "firefox115", "safari16.4"],
};

/** The import of the library becomes a look at what the other script left. */
const sharedCharts = {
  name: "shared-charts",
  setup(build) {
    build.onResolve({ filter: /\/register$/ }, () => ({ path: SHARED, namespace: "shared" }));
    build.onLoad({ filter: /.*/, namespace: "shared" }, () => ({
      contents: `export const { Chart } = globalThis.${SHARED};`,
    }));
  },
};

const charts = {
  ...common,
  entryPoints: { charts: join(root, "src/charts/register.ts") },
  globalName: SHARED,
};

const pages = {
  ...common,
  entryPoints: Object.fromEntries(PAGES.map((page) => [page, join(root, `src/pages/${page}.ts`)])),
  plugins: [sharedCharts],
};

export const bundles = [charts, pages];

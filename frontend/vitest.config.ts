import { defineConfig } from "vitest/config";

const every = ["src/**/*.test.ts", "*.test.ts"];
// They put others in the place of modules, which all files that share a process would get.
const mocking = ["src/compare/new_view.test.ts", "src/export/paint.test.ts"];
// A file that needs a document says so in its first line. The tests of the service run beside.
const common = {
  environment: "node",
  pool: "threads",
  unstubGlobals: true,
  testTimeout: 60_000,
} as const;

export default defineConfig({
  test: {
    projects: [
      { test: { ...common, name: "shared", isolate: false, include: every, exclude: mocking } },
      { test: { ...common, name: "mocking", include: mocking } },
    ],
  },
});

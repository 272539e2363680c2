// Writes src/api/schema.ts, the types of the answers that pages read, from docs/openapi.yaml.
// `--check` only compares.
import { fileURLToPath } from "node:url";
import { bundle, createConfig } from "@redocly/openapi-core";
import openapiTS, { astToString } from "openapi-typescript";
import { keep } from "./generated.mjs";

const DOCUMENT = new URL("../docs/openapi.yaml", import.meta.url);
const TYPES = new URL("src/api/schema.ts", import.meta.url);
// The operations that the pages call. An operation missing here leaves its types out.
const CALLED = ["compare", "facets", "run_progress", "trial_list"];
// The pages name their requests themselves; they need the shapes of the answers.
const LEFT_OUT = ["paths", "webhooks", "operations", "$defs"];
const HEADER = "// Made from docs/openapi.yaml by generate_types.mjs: run scripts/fix.\n";

const called = await bundle({
  ref: fileURLToPath(DOCUMENT),
  config: await createConfig({
    decorators: { "filter-in": { property: "operationId", value: CALLED } },
  }),
  removeUnusedComponents: true,
});
const tree = await openapiTS(called.bundle.parsed, {
  immutable: true,
  rootTypes: true,
  rootTypesNoSchemaPrefix: true,
});
const kept = tree.filter((node) => !LEFT_OUT.includes(node.name?.text));
await keep(TYPES, HEADER + astToString(kept));

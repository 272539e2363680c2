// Writes src/api/schema.ts: the types of the API, from docs/openapi.yaml. `--check` only compares.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

const DOCUMENT = new URL("../docs/openapi.yaml", import.meta.url);
const TYPES = new URL("src/api/schema.ts", import.meta.url);
// The pages name their requests themselves; they need the shapes of the answers.
const LEFT_OUT = ["paths", "webhooks", "operations", "$defs"];
const HEADER = "// Made from docs/openapi.yaml by generate_types.mjs: run scripts/fix.\n";

const tree = await openapiTS(DOCUMENT, {
  immutable: true,
  rootTypes: true,
  rootTypesNoSchemaPrefix: true,
});
const types = HEADER + astToString(tree.filter((node) => !LEFT_OUT.includes(node.name?.text)));
if (!process.argv.includes("--check")) {
  await writeFile(TYPES, types);
} else if ((await readFile(TYPES, "utf8").catch(() => "")) !== types) {
  throw new Error("frontend/src/api/schema.ts is stale: run scripts/fix");
}

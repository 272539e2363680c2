// How a generated file is kept: written, or with `--check` only compared.
import { readFile, writeFile } from "node:fs/promises";

export async function keep(file, text) {
  if (!process.argv.includes("--check")) {
    await writeFile(file, text);
  } else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
    throw new Error(`${file.pathname} is stale: run scripts/fix`);
  }
}

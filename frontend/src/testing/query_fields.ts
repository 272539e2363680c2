// Some fields as a page delivers them, one of them of no project: importing this puts them in place.
import type { QueryFields } from "../query/fields";

const LOADS = [
  ["connections", "connections"],
  ["rate", "offered requests/s"],
] as const;

const OTHERS = [
  ["server", "server"],
  ["version", "version"],
  ["client", "client host"],
  ["workload", "workload"],
  ["colour", "colour of the case"],
] as const;

export const FIELDS: QueryFields = {
  filters: [["run", "run"], ...OTHERS, ...LOADS],
  axes: [...LOADS, ...OTHERS],
  grouping: [...OTHERS, ...LOADS],
};

const script = document.createElement("script");
script.type = "application/json";
script.id = "query-fields";
script.textContent = JSON.stringify(FIELDS);
document.head.append(script);

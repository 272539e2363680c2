// The fields of a comparison: the page holds the service's table, so that no list of them is here.

export type FieldName = readonly [id: string, name: string];

export interface QueryFields {
  /** Fields that narrow what is shown; each value can be taken away again. */
  readonly filters: readonly FieldName[];
  /** Fields that can lie on the axis. */
  readonly axes: readonly FieldName[];
  /** Fields that can make series and divide panels. */
  readonly grouping: readonly FieldName[];
}

export function queryFields(): QueryFields {
  const table = document.getElementById("query-fields")?.textContent;
  if (!table) throw new Error('The template has no id="query-fields".');
  return JSON.parse(table) as QueryFields;
}

/** "client host" for "client": a field as a reader calls it. */
export function fieldName(id: string): string {
  const { filters, grouping } = queryFields();
  return [...filters, ...grouping].find(([field]) => field === id)?.[1] ?? id;
}

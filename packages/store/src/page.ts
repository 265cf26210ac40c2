import { MAX_PAGE_BYTES, MAX_PAGE_ROWS, type Page, type Row } from "./engine.ts";

/** As many of these rows as make a page, at most `limit`; the others are not read. */
export function pageOf(rows: Iterable<Row>, limit = Number.POSITIVE_INFINITY): Page {
  const page: Row[] = [];
  let bytes = 0;
  if (limit <= 0) return { rows: page, isLast: true };
  for (const row of rows) {
    page.push(row);
    bytes += row.key.length + row.value.length;
    if (page.length >= limit) break;
    if (page.length === MAX_PAGE_ROWS || bytes >= MAX_PAGE_BYTES) return { rows: page, isLast: false };
  }
  return { rows: page, isLast: true };
}

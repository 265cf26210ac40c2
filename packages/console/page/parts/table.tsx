import type { ComponentChildren } from "preact";

export type Column<Row> = {
  readonly name: string;
  /** Numbers stand right, so that their digits line up. */
  readonly isNumber?: boolean;
  readonly cell: (row: Row) => ComponentChildren;
};

type TableProps<Row> = {
  /** Read by screen readers, not shown: a heading has the same text. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly empty: string;
};

/** Rows under named columns; it scrolls by itself where it is wider than the page. */
export function Table<Row>({ caption, columns, rows, keyOf, empty }: TableProps<Row>) {
  if (rows.length === 0) return <p class="muted">{empty}</p>;
  const kind = (isNumber?: boolean) => (isNumber ? "number" : undefined);
  return (
    <section class="wide" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" class={kind(isNumber)}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, isNumber, cell }) => (
                <td key={name} class={kind(isNumber)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

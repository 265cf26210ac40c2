/** Web pages that a service serves beside its calls: a fixed table, so that no request names a file. */

/** What a file of a page is. */
export type PageType =
  | "text/html; charset=utf-8"
  | "text/javascript; charset=utf-8"
  | "text/css; charset=utf-8"
  | "text/plain; charset=utf-8"
  | "image/svg+xml"
  | "application/wasm";

/** One file of a page. */
export type Page = {
  readonly type: PageType;
  readonly body: Buffer;
  /** Its path changes with its content, so that browsers may keep it. */
  readonly isLasting: boolean;
};

/** Files by their paths, each beginning with a slash. */
export type Pages = ReadonlyMap<string, Page>;

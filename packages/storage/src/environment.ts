import type { Database, RootDatabase, Transaction } from "lmdb";
import { open } from "lmdb";
import { readRecord, writeRecord } from "./layout.ts";
import type { KeyOf, RowOf, TableLayout, TableName } from "./tables.ts";
import { tables } from "./tables.ts";

type RawTable = Database<Buffer, Buffer>;

/** Which rows to walk: from `start` (inclusive) to `end` (exclusive), backwards when `reverse`. */
export interface RangeOf<K> {
  readonly start?: K;
  readonly end?: K;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/** Reads and writes rows of one table as values. */
export interface TableHandle<K, V> {
  get(key: K, at?: Transaction): V | undefined;
  has(key: K, at?: Transaction): boolean;
  put(key: K, value: V): void;
  remove(key: K): void;
  entries(range?: RangeOf<K>, at?: Transaction): Iterable<{ readonly key: K; readonly value: V }>;
  /** What `read` makes of the bytes of each row: a part of it, where that is all that is wanted. */
  scan<T>(read: (value: Buffer) => T, range?: RangeOf<K>, at?: Transaction): Iterable<T>;
}

export type Tables = { readonly [N in TableName]: TableHandle<KeyOf<N>, RowOf<N>> };

/** An open database file with its tables. */
export interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>;
  readonly tables: Tables;
}

function reading(at: Transaction | undefined): { transaction: Transaction } | undefined {
  return at === undefined ? undefined : { transaction: at };
}

function tableHandle<K, V>(raw: RawTable, layout: TableLayout<K, V>): TableHandle<K, V> {
  const keyBytes = (key: K) => writeRecord(layout.key, key);
  const walk = ({ start, end, reverse = false, limit }: RangeOf<K>, at: Transaction | undefined) =>
    raw.getRange({
      ...(start !== undefined && { start: keyBytes(start) }),
      ...(end !== undefined && { end: keyBytes(end) }),
      ...(limit !== undefined && { limit }),
      ...reading(at),
      reverse,
      snapshot: true,
    });
  return {
    get(key, at) {
      const found = raw.get(keyBytes(key), reading(at));
      return found === undefined ? undefined : readRecord(layout.value, found);
    },
    has: (key, at) => raw.get(keyBytes(key), reading(at)) !== undefined,
    put: (key, value) => void raw.putSync(keyBytes(key), writeRecord(layout.value, value)),
    remove: (key) => void raw.removeSync(keyBytes(key)),
    entries: (range = {}, at) =>
      walk(range, at).map(({ key, value }) => ({
        key: readRecord(layout.key, key),
        value: readRecord(layout.value, value),
      })),
    scan: (read, range = {}, at) => walk(range, at).map(({ value }) => read(value)),
  };
}

/**
 * Opens or creates the file at `path`; the binding grows it as needed. `transient`: writes are not flushed to
 * disk, so that a file nobody will open again costs no waiting.
 */
export function openEnvironment(path: string, { readOnly = false, transient = false } = {}): Environment {
  const names = Object.keys(tables) as TableName[];
  const root = open<Buffer, Buffer>({
    path,
    noSubdir: true,
    maxDbs: names.length + 1,
    readOnly,
    noSync: transient,
    encoding: "binary",
    keyEncoding: "binary",
  });
  const handles = names.map((name) => {
    const raw = root.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary" });
    return [name, tableHandle(raw, tables[name] as TableLayout<never, never>)];
  });
  return { root, tables: Object.fromEntries(handles) as unknown as Tables };
}

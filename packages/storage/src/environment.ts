import { SharedTurns } from "@anulo/limits";
import type { Database } from "lmdb";
import { open } from "lmdb";
import { CHECKSUM_BYTES, checksumSeed, isRowIntact, rowChecksum } from "./checksum.ts";
import { DamagedDatabase } from "./damage.ts";
import type { DatabaseFile, Snapshot } from "./database-file.ts";
import { type Field, readRecord, writeInto, writeRecord } from "./layout.ts";
import { createLongWrite, type LongWrite } from "./long-write.ts";
import type { KeyOf, RowOf, TableLayout, TableName } from "./tables.ts";
import { tables } from "./tables.ts";

type RawTable = Database<Buffer, Buffer> & {
  /** The binding's own declaration leaves the snapshot out. The bytes are valid until the next read. */
  getBinaryFast(key: Buffer, options?: { transaction: Snapshot }): Buffer | undefined;
};

/** A range of rows: from `start` (inclusive) to `end` (exclusive), backwards when `reverse`. */
export interface RangeOf<K> {
  readonly start?: K;
  readonly end?: K;
  readonly reverse?: boolean;
  readonly limit?: number;
}

/**
 * Reads and writes rows of one table as values. Readers throw DamagedDatabase for a row that is not what was written.
 */
export interface TableHandle<K, V> {
  get(key: K, at?: Snapshot): V | undefined;
  /**
   * Returns the result of `read` on a row's bytes, without copying them: they are valid only until `read` returns.
   * Undefined if there is no such row.
   */
  view<T>(key: K, read: (row: Buffer) => T, at?: Snapshot): T | undefined;
  has(key: K, at?: Snapshot): boolean;
  /** Reads the pages of these rows into memory, in a thread of the system; resolves once they are there. */
  prefetch(keys: readonly K[]): Promise<void>;
  put(key: K, value: V): void;
  remove(key: K): void;
  entries(range?: RangeOf<K>, at?: Snapshot): Iterable<{ readonly key: K; readonly value: V }>;
  /** Number of rows. */
  count(): number;
}

export type Tables = { readonly [N in TableName]: TableHandle<KeyOf<N>, RowOf<N>> };

/** Number of rows read since the file was opened, also of those that were looked for in vain. */
export interface RowsRead {
  count: number;
}

/** An open database file with its tables. */
export interface Environment {
  readonly root: DatabaseFile;
  readonly rowsRead: RowsRead;
  readonly tables: Tables;
  readonly longWrite: LongWrite;
}

/** Longer than any key. */
const keyScratch = Buffer.allocUnsafeSlow(64);
const valueScratch = Buffer.allocUnsafeSlow(64 * 1024);

/** Where a row may be written. */
const AT_THE_END = { append: true };
const ANYWHERE = {};

interface NamedTable<K, V> {
  readonly longWrite: LongWrite;
  readonly rowsRead: RowsRead;
  readonly onDamage: (damage: DamagedDatabase) => void;
  readonly name: TableName;
  readonly raw: RawTable;
  readonly layout: TableLayout<K, V>;
}

/** The binding copies a key before it does anything else, so all keys except those of ranges share their memory. */
function createKeyWriter<K>(field: Field<K>): (key: K) => Buffer {
  const { fixedSize } = field;
  if (fixedSize === undefined) return (key) => writeInto(field, key, { scratch: keyScratch });
  const bytes = keyScratch.subarray(0, fixedSize);
  return (key) => {
    field.write({ bytes, at: 0 }, key);
    return bytes;
  };
}

/** The binding's memory holds a row only until the next one is read, and is longer than that row. */
function copyOf(row: Buffer): Buffer {
  const copy = Buffer.allocUnsafe(row.length);
  copy.set(new Uint8Array(row.buffer, row.byteOffset, copy.length));
  return copy;
}

/** Returns a row as it is, or throws DamagedDatabase. */
function createRowCheck({ name, onDamage }: Pick<NamedTable<never, never>, "name" | "onDamage">) {
  const seed = checksumSeed(name);
  return (key: Buffer, row: Buffer): Buffer => {
    if (isRowIntact(seed, key, row)) return row;
    const damage = new DamagedDatabase(`a row of ${name} is not what was written`);
    onDamage(damage);
    throw damage;
  };
}

function tableHandle<K, V>(named: NamedTable<K, V>): TableHandle<K, V> {
  const { name, raw, layout, longWrite, rowsRead } = named;
  const reading = (at = longWrite.before) => (at === undefined ? undefined : { transaction: at });
  const checked = createRowCheck(named);
  const seed = checksumSeed(name);
  const keyBytes = createKeyWriter(layout.key);
  const checkNeighbours = (searchKey: Buffer, at: Snapshot | undefined): undefined => {
    const start = Buffer.from(searchKey);
    for (const reverse of [false, true]) {
      const neighbours = raw.getRange({ start, reverse, limit: 1, ...reading(at), snapshot: true });
      for (const { key, value } of neighbours) checked(key, value);
    }
  };
  const view = <T>(key: K, read: (row: Buffer) => T, at: Snapshot | undefined): T | undefined => {
    rowsRead.count++;
    const bytes = keyBytes(key);
    const row = raw.getBinaryFast(bytes, reading(at));
    if (row !== undefined) return read(checked(bytes, row));
    return layout.provesAbsence === true ? checkNeighbours(bytes, at) : undefined;
  };
  const readCopy = (row: Buffer): V => readRecord(layout.value, copyOf(row), CHECKSUM_BYTES);
  const walk = ({ start, end, reverse = false, limit }: RangeOf<K>, at: Snapshot | undefined) =>
    raw.getRange({
      ...(start !== undefined && { start: writeRecord(layout.key, start) }),
      ...(end !== undefined && { end: writeRecord(layout.key, end) }),
      ...(limit !== undefined && { limit }),
      ...reading(at),
      reverse,
      snapshot: true,
    });
  return {
    get: (key, at) => view(key, readCopy, at),
    view,
    has: (key, at) => view(key, () => true, at) === true,
    prefetch: (keys) => raw.prefetch(keys.map((key) => writeRecord(layout.key, key))),
    put(key, value) {
      const bytes = keyBytes(key);
      const row = writeInto(layout.value, value, { scratch: valueScratch, spare: CHECKSUM_BYTES });
      const end = row.length - CHECKSUM_BYTES;
      row.writeUInt32LE(rowChecksum(seed, bytes, row.subarray(0, end)), end);
      const isStored = raw.putSync(
        bytes,
        row,
        layout.grows === true ? AT_THE_END : ANYWHERE,
      ) as unknown as boolean;
      if (!isStored) throw new DamagedDatabase(`${name} has rows where new ones belong`);
    },
    remove: (key) => void raw.removeSync(keyBytes(key)),
    entries: (range = {}, at) =>
      walk(range, at).map(({ key, value }) => {
        rowsRead.count++;
        return {
          key: readRecord(layout.key, key),
          value: readRecord(layout.value, checked(key, value), CHECKSUM_BYTES),
        };
      }),
    count: () => (raw.getStats() as { entryCount: number }).entryCount,
  };
}

/**
 * Address space for the file, large enough that the file never has to be mapped again: pages of a file mapped twice
 * would count twice. It uses no memory, and no disk space except on Windows.
 */
const MAP_BYTES = process.platform === "win32" ? undefined : 2 ** 40;

/**
 * Options of every LMDB file of ours, some of which the binding reads but does not declare. The system must not read
 * pages ahead, because related rows are spread over the file. Each commit reads the list of free pages again, but only
 * a limited number of its entries (docs/database.md, "Free pages").
 */
export const lmdbOptions = {
  noReadAhead: true,
  maxFreeSpaceToRetain: 0,
  maxFreeSpaceToLoad: 1000,
  ...(MAP_BYTES !== undefined && { mapSize: MAP_BYTES }),
};

export interface EnvironmentOptions {
  readonly readOnly?: boolean;
  /** Tables that are written as those that grow: every new key is above all others. */
  readonly ascending?: readonly TableName[];
  /** Called for a damaged row before the reader throws. */
  readonly onDamage?: (damage: DamagedDatabase) => void;
  /** The works beside which a long write goes on. */
  readonly turns?: SharedTurns | undefined;
}

/**
 * Opens or creates the file at `path`. Commits do not wait for the disk: that is the task of `createFlusher`, without
 * which a loss of power can damage the file.
 */
export function openEnvironment(path: string, options: EnvironmentOptions = {}): Environment {
  const { readOnly = false, ascending = [], onDamage = () => {}, turns = new SharedTurns() } = options;
  const names = Object.keys(tables) as TableName[];
  const root = open<Buffer, Buffer>({
    path,
    noSubdir: true,
    maxDbs: names.length + 1,
    readOnly,
    noSync: true,
    overlappingSync: false,
    ...lmdbOptions,
    encoding: "binary",
    keyEncoding: "binary",
  });
  const longWrite = createLongWrite(root, turns);
  const rowsRead = { count: 0 };
  const handles = names.map((name) => {
    const raw = root.openDB<Buffer, Buffer>({ name, encoding: "binary", keyEncoding: "binary" }) as RawTable;
    const declared = tables[name] as TableLayout<never, never>;
    const layout = ascending.includes(name) ? { ...declared, grows: true } : declared;
    return [name, tableHandle({ longWrite, rowsRead, onDamage, name, raw, layout })];
  });
  return { root, rowsRead, tables: Object.fromEntries(handles) as unknown as Tables, longWrite };
}

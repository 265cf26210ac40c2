import { DamagedStore, type WalletRow, type WalletStore } from "@anulo/store";
import { packJson, unpackJson } from "./json.ts";
import { tables } from "./tables.ts";

/** The log's own record. */
export interface LogState {
  readonly id: string;
  /** Numbers of the oldest event that was not pruned, and of the last event. */
  readonly oldest: number;
  readonly last: number;
}

const FORMAT = 1;
const key = Buffer.from("log");

/** Reads the record; undefined for a new log. Throws `DamagedStore` for another format. */
export async function readState(store: WalletStore): Promise<LogState | undefined> {
  const bytes = await store.read(tables.state, key);
  if (bytes === undefined) return undefined;
  const { format, ...state } = unpackJson(Buffer.from(bytes).toString()) as unknown as LogState & {
    format: number;
  };
  if (format !== FORMAT) throw new DamagedStore(`the event log has format ${format}, not ${FORMAT}`);
  return state;
}

export function writeState(state: LogState): WalletRow {
  return { table: tables.state, key, value: Buffer.from(packJson({ format: FORMAT, ...state })) };
}

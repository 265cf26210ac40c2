import { randomBytes } from "node:crypto";
import {
  type Engine,
  type Mark,
  type NewRow,
  type RowKey,
  WALLET_ID_BYTES,
  type WalletId,
} from "../engine.ts";
import { DamagedStore, WrongStoreKey } from "../errors.ts";
import { seal, unseal } from "./seal.ts";
import { OWN_TABLE } from "./tables.ts";

/** Length of a data key and of the keys that wrap it. */
const KEY_BYTES = 32;
export const dataKeyRow: RowKey = { table: OWN_TABLE, key: Buffer.from("data key") };
/** The row of a wallet that was removed: its next opening begins anew. */
export const removedRow: RowKey = { table: OWN_TABLE, key: Buffer.from("removed") };
/** While the wrapping key changes: the row of the data key, wrapped by the next wrapping key. */
export const nextDataKeyRow: RowKey = { table: OWN_TABLE, key: Buffer.from("next data key") };

export const createDataKey = (): Buffer => randomBytes(KEY_BYTES);

function wrapping(key: Uint8Array, wallet: WalletId) {
  if (key.length !== KEY_BYTES) throw new RangeError(`a wrapping key has ${KEY_BYTES} bytes`);
  return { key, place: Buffer.concat([Buffer.from("data key of"), wallet.subarray(0, WALLET_ID_BYTES)]) };
}

/**
 * The row that contains a wallet's data key, wrapped by `key` (32 bytes); with `isNext`, the row for the next wrapping
 * key.
 */
export function wrapDataKey(
  dataKey: Uint8Array,
  { key, wallet, isNext = false }: { key: Uint8Array; wallet: WalletId; isNext?: boolean },
): NewRow {
  return { ...(isNext ? nextDataKeyRow : dataKeyRow), value: seal(wrapping(key, wallet), dataKey) };
}

export interface WrappedKey {
  readonly engine: Engine;
  readonly wallet: WalletId;
  readonly wrappingKey: Uint8Array;
  /** Keys to try if the first does not open it. */
  readonly formerKeys?: readonly Uint8Array[];
}

/** `isSettled`: it is wrapped by the wrapping key only. */
export interface UnwrappedKey {
  readonly dataKey: Buffer;
  readonly isSettled: boolean;
}

/**
 * Reads a wallet's data key; undefined if the first opening was interrupted before it was written. Throws
 * `WrongStoreKey`, and `DamagedStore` if it is missing.
 */
export async function readDataKey(
  { engine, wallet, wrappingKey, formerKeys = [] }: WrappedKey,
  { sequence }: Mark,
): Promise<UnwrappedKey | undefined> {
  const wrapped = await engine.read(wallet, dataKeyRow);
  if (wrapped === undefined) {
    const isNew = sequence === 0 || (await engine.read(wallet, removedRow)) !== undefined;
    if (isNew) return undefined;
    throw new DamagedStore("the wallet's data key is gone, or it was put back from a copy in part");
  }
  const next = await engine.read(wallet, nextDataKeyRow);
  for (const key of [wrappingKey, ...formerKeys]) {
    for (const value of [wrapped, next]) {
      const dataKey = value && unseal(wrapping(key, wallet), value);
      if (dataKey === undefined) continue;
      return { dataKey, isSettled: key === wrappingKey && value === wrapped && next === undefined };
    }
  }
  throw new WrongStoreKey("the key does not open the wallet's store");
}

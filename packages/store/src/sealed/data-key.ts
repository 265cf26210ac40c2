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

/** Of a data key and of what wraps it. */
const KEY_BYTES = 32;
const ROW = { table: OWN_TABLE, key: Buffer.from("data key") };
/** While the wrapping key changes: the data key under the one to come. */
export const nextDataKeyRow: RowKey = { table: OWN_TABLE, key: Buffer.from("next data key") };

export const createDataKey = (): Buffer => randomBytes(KEY_BYTES);

function wrapping(key: Uint8Array, wallet: WalletId) {
  if (key.length !== KEY_BYTES) throw new RangeError(`a wrapping key has ${KEY_BYTES} bytes`);
  return { key, place: Buffer.concat([Buffer.from("data key of"), wallet.subarray(0, WALLET_ID_BYTES)]) };
}

/** The row that holds a wallet's data key, wrapped by `key` (32 bytes); the one for the key to come where `isNext`. */
export function wrapDataKey(
  dataKey: Uint8Array,
  { key, wallet, isNext = false }: { key: Uint8Array; wallet: WalletId; isNext?: boolean },
): NewRow {
  return { ...(isNext ? nextDataKeyRow : ROW), value: seal(wrapping(key, wallet), dataKey) };
}

export interface WrappedKey {
  readonly engine: Engine;
  readonly wallet: WalletId;
  readonly wrappingKey: Uint8Array;
  /** Tried where that does not open it. */
  readonly formerKeys?: readonly Uint8Array[];
}

/** `isSettled`: it is wrapped by the wrapping key and by no other. */
export interface UnwrappedKey {
  readonly dataKey: Buffer;
  readonly isSettled: boolean;
}

/**
 * A wallet's data key; undefined where its first opening got no further. Throws `WrongStoreKey`, and `DamagedStore`
 * where it is gone.
 */
export async function readDataKey(
  { engine, wallet, wrappingKey, formerKeys = [] }: WrappedKey,
  { sequence }: Mark,
): Promise<UnwrappedKey | undefined> {
  const wrapped = await engine.read(wallet, ROW);
  if (wrapped === undefined && sequence === 0) return undefined;
  if (wrapped === undefined) throw new DamagedStore("the wallet's data key is gone");
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

import { randomBytes } from "node:crypto";
import { type Engine, type Mark, type NewRow, WALLET_ID_BYTES, type WalletId } from "../engine.ts";
import { DamagedStore, WrongStoreKey } from "../errors.ts";
import { seal, unseal } from "./seal.ts";
import { OWN_TABLE } from "./tables.ts";

/** Of a data key and of what wraps it. */
const KEY_BYTES = 32;
const ROW = { table: OWN_TABLE, key: Buffer.from("data key") };

export const createDataKey = (): Buffer => randomBytes(KEY_BYTES);

function wrapping(key: Uint8Array, wallet: WalletId) {
  if (key.length !== KEY_BYTES) throw new RangeError(`a wrapping key has ${KEY_BYTES} bytes`);
  return { key, place: Buffer.concat([Buffer.from("data key of"), wallet.subarray(0, WALLET_ID_BYTES)]) };
}

/** The row that holds a wallet's data key, wrapped by `key` (32 bytes). */
export function wrapDataKey(
  dataKey: Uint8Array,
  { key, wallet }: { key: Uint8Array; wallet: WalletId },
): NewRow {
  return { ...ROW, value: seal(wrapping(key, wallet), dataKey) };
}

export interface WrappedKey {
  readonly engine: Engine;
  readonly wallet: WalletId;
  readonly wrappingKey: Uint8Array;
}

/**
 * A wallet's data key; undefined where its first opening got no further. Throws `WrongStoreKey`, and `DamagedStore`
 * where it is gone.
 */
export async function readDataKey(
  { engine, wallet, wrappingKey }: WrappedKey,
  { sequence }: Mark,
): Promise<Buffer | undefined> {
  const wrapped = await engine.read(wallet, ROW);
  if (wrapped === undefined && sequence === 0) return undefined;
  if (wrapped === undefined) throw new DamagedStore("the wallet's data key is gone");
  const dataKey = unseal(wrapping(wrappingKey, wallet), wrapped);
  if (dataKey === undefined) throw new WrongStoreKey("the key does not open the wallet's store");
  return dataKey;
}

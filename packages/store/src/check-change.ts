import {
  type Change,
  MAX_CHANGE_BYTES,
  MAX_CHANGE_ROWS,
  MAX_KEY_BYTES,
  MAX_TABLE_NUMBER,
  MAX_VALUE_BYTES,
  type Mark,
  type RowKey,
  WALLET_ID_BYTES,
  type WalletId,
} from "./engine.ts";
import { ChangeTooLarge, Fenced, RolledBack } from "./errors.ts";

/** Throws a RangeError unless these bytes are a wallet's id. */
export function checkWallet(wallet: WalletId): void {
  if (wallet.length !== WALLET_ID_BYTES) throw new RangeError(`a wallet id has ${WALLET_ID_BYTES} bytes`);
}

/** Throws a RangeError unless a row can have this table and key. */
export function checkRowKey({ table, key }: RowKey): void {
  if (!Number.isInteger(table) || table < 0 || table > MAX_TABLE_NUMBER)
    throw new RangeError(`table ${table}`);
  if (key.length === 0 || key.length > MAX_KEY_BYTES) throw new RangeError(`a key of ${key.length} bytes`);
}

/** Bytes of a change's keys and values. Throws a RangeError or `ChangeTooLarge`. */
export function checkChange(wallet: WalletId, { epoch, puts, deletes }: Change): number {
  checkWallet(wallet);
  if (!Number.isSafeInteger(epoch) || epoch < 1) throw new RangeError(`epoch ${epoch}`);
  const rows = puts.length + deletes.length;
  if (rows > MAX_CHANGE_ROWS) throw new ChangeTooLarge(`a change of ${rows} rows`);
  let bytes = 0;
  for (const row of deletes) {
    checkRowKey(row);
    bytes += row.key.length;
  }
  for (const row of puts) {
    checkRowKey(row);
    if (row.value.length > MAX_VALUE_BYTES) throw new ChangeTooLarge(`a value of ${row.value.length} bytes`);
    bytes += row.key.length + row.value.length;
  }
  if (bytes > MAX_CHANGE_BYTES) throw new ChangeTooLarge(`a change of ${bytes} bytes`);
  return bytes;
}

/** The mark of a wallet after a change, or the error for which the change is refused. */
export function markAfter(mark: Mark | undefined, { epoch, after }: Change): Mark | Error {
  const found = mark ?? { epoch: 0, sequence: 0 };
  const isOlder = found.epoch < epoch || (found.epoch === epoch && found.sequence !== after);
  if (after !== undefined && isOlder) return new RolledBack({ epoch, sequence: after }, found);
  return found.epoch === epoch ? { epoch, sequence: found.sequence + 1 } : new Fenced(epoch, found.epoch);
}

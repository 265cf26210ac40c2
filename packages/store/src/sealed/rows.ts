import { type NewRow, type Row, WALLET_ID_BYTES, type WalletId } from "../engine.ts";
import { DamagedStore } from "../errors.ts";
import type { SlotReference } from "./key-slots.ts";
import { Salts, type SealContext, seal, unseal } from "./seal.ts";
import type { RowKeys, Table } from "./tables.ts";
import { wipe } from "./wipe.ts";

/** Length of the epoch before each sealed row. */
const EPOCH_BYTES = 6;
/** Length of a slot reference: its index and its id. */
const SLOT_BYTES = 4 + 8;
/** Length of a key's length, which precedes the key in the sealed message. */
const LENGTH_BYTES = 1;

/** Number of salts generated at once: a few kilobytes for each open wallet. */
const SALTS = 128;

/** The slot of a secret row's key, and the key. */
export interface RowSlot {
  readonly reference: SlotReference;
  readonly rowKey: Uint8Array;
}

export interface RowSealerParts {
  readonly wallet: WalletId;
  /** 32 bytes, secret. */
  readonly key: Uint8Array;
  readonly keys: RowKeys;
}

/**
 * Converts a wallet's rows to those of an engine and back. In the engine a value is the epoch (6 bytes), in a secret
 * table the slot of its key (12 bytes), and the output of `seal` for the row's own key and value, bound to all that is
 * visible of it: wallet, table, kind of table, epoch, slot and the engine's key.
 */
export class RowSealer {
  readonly #parts: RowSealerParts;
  readonly #salts = new Salts(SALTS);

  constructor(parts: RowSealerParts) {
    this.#parts = parts;
  }

  seal(table: Table, row: Row, { epoch, slot }: { epoch: number; slot?: RowSlot | undefined }): NewRow {
    const key = this.#parts.keys.hide(table, row.key);
    const head = Buffer.alloc(headLength(table));
    head.writeUIntBE(epoch, 0, EPOCH_BYTES);
    if (slot !== undefined) writeReference(head, slot.reference);
    const message = Buffer.concat([Uint8Array.of(row.key.length), row.key, row.value]);
    const sealed = seal(this.#context({ table, head, key, rowKey: slot?.rowKey }), message, this.#salts);
    wipe(message);
    return { table: table.number, key, value: Buffer.concat([head, sealed]) };
  }

  /** Opens a row that `seal` sealed. Throws `DamagedStore` for any other. */
  unseal(table: Table, { key, value }: Row, rowKey?: Uint8Array): Row {
    const head = value.subarray(0, headLength(table));
    const message = unseal(
      this.#context({ table, head, key, rowKey }),
      value.subarray(Math.min(headLength(table), value.length)),
    );
    if (message === undefined)
      throw new DamagedStore(`a row of table ${table.number} is not what was written`);
    const valueAt = LENGTH_BYTES + message[0]!;
    return { key: message.subarray(LENGTH_BYTES, valueAt), value: message.subarray(valueAt) };
  }

  #context({ table, head, key, rowKey }: Pick<Row, "key"> & ContextParts): SealContext {
    const kind = Uint8Array.of(table.number, table.isSecret === true ? 1 : 0);
    const place = Buffer.concat([this.#parts.wallet.subarray(0, WALLET_ID_BYTES), kind, head, key]);
    return { key: this.#parts.key, place, ...(rowKey && { rowKey }) };
  }
}

interface ContextParts {
  readonly table: Table;
  readonly head: Uint8Array;
  readonly rowKey: Uint8Array | undefined;
}

const headLength = ({ isSecret }: Table): number =>
  isSecret === true ? EPOCH_BYTES + SLOT_BYTES : EPOCH_BYTES;

function writeReference(head: Buffer, { index, id }: SlotReference): void {
  head.writeUInt32BE(index, EPOCH_BYTES);
  head.set(id, EPOCH_BYTES + 4);
}

/** The epoch of the writer of an engine's value that was opened. */
export function epochOf(value: Uint8Array): number {
  return Buffer.from(value.buffer, value.byteOffset, EPOCH_BYTES).readUIntBE(0, EPOCH_BYTES);
}

/** The slot that an engine's value of a secret table refers to. Throws `DamagedStore`. */
export function slotOf(value: Uint8Array): SlotReference {
  if (value.length < EPOCH_BYTES + SLOT_BYTES) throw new DamagedStore("a secret row without a slot");
  const head = Buffer.from(value.buffer, value.byteOffset, EPOCH_BYTES + SLOT_BYTES);
  return { index: head.readUInt32BE(EPOCH_BYTES), id: head.subarray(EPOCH_BYTES + 4) };
}

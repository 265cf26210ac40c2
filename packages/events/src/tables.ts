import type { Table } from "@anulo/store";

/** The tables of the log and of what delivers it: who reads the engine sees how many events there are, not of whom. */
export const tables = {
  /** By number. */
  events: { number: 1, orderedBytes: 8 },
  /** How far each source has come, by its 16 bytes. */
  sources: { number: 2 },
  /** The log's own record. */
  state: { number: 3 },
  /** Webhooks by their id. */
  hooks: { number: 4 },
  /** How far each delivery has come, by its name. */
  cursors: { number: 5 },
  /** What a webhook could not be given, by the hook's 16 bytes and the event's number. */
  deadLetters: { number: 6, groupBytes: 16, orderedBytes: 8 },
} as const satisfies Record<string, Table>;

/** 8 bytes in whose order the numbers are. */
export function sequenceKey(sequence: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt(sequence));
  return key;
}

export const sequenceOf = (key: Uint8Array): number => Number(Buffer.from(key).readBigUInt64BE());

import type { Table } from "@anulo/store";

/** The tables of the log and its deliveries: the engine's rows reveal how many events there are, but not whose. */
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
  /** Events that could not be delivered to a webhook, by the webhook's 16 bytes and the event's number. */
  deadLetters: { number: 6, groupBytes: 16, orderedBytes: 8 },
} as const satisfies Record<string, Table>;

/** 8 bytes whose order is that of the numbers. */
export function sequenceKey(sequence: number): Buffer {
  const key = Buffer.alloc(8);
  key.writeBigUInt64BE(BigInt(sequence));
  return key;
}

export const sequenceOf = (key: Uint8Array): number => Number(Buffer.from(key).readBigUInt64BE());

import type { WalletRow } from "@anulo/store";
import { packJson, unpackJson } from "../json.ts";
import type { DeliveryRows } from "../log.ts";
import { tables } from "../tables.ts";

/** A webhook as it is stored. */
export interface Hook {
  /** 32 hexadecimal digits. */
  readonly id: string;
  readonly url: string;
  /** Names of wallets, where * stands for any characters; empty means all wallets. */
  readonly wallets: readonly string[];
  /** Types of events; empty means all. */
  readonly types: readonly string[];
  readonly secret: string;
  /** Why sending was stopped until the webhook is enabled again; empty while it is enabled. */
  readonly disabled: string;
}

/** How far a webhook has come, and the attempts to send the next event. */
export interface HookProgress {
  readonly sequence: number;
  readonly attempts: number;
  /** Milliseconds since 1970 of the first attempt for the next event, and of its next attempt; 0 before any. */
  readonly since: number;
  readonly next: number;
  /** Number of events that were pruned from the log before they were sent. */
  readonly missed: number;
}

export interface DeadLetter {
  readonly sequence: number;
  /** Seconds since 1970 at which the delivery was given up. */
  readonly time: number;
  readonly attempts: number;
  /** The result of the last attempt. */
  readonly reason: string;
}

const keyOf = (id: string): Buffer => Buffer.from(id, "hex");
const read = (bytes: Uint8Array): unknown => unpackJson(Buffer.from(bytes).toString());

export const hookKey = (id: string) => ({ table: tables.hooks, key: keyOf(id) });
export const progressKey = (id: string) => ({ table: tables.cursors, key: keyOf(id) });

export const hookRow = (hook: Hook): WalletRow => ({
  ...hookKey(hook.id),
  value: Buffer.from(packJson({ ...hook })),
});

export const progressRow = (id: string, progress: HookProgress): WalletRow => ({
  ...progressKey(id),
  value: Buffer.from(packJson({ ...progress })),
});

export async function readHooks(rows: DeliveryRows): Promise<{ hook: Hook; progress: HookProgress }[]> {
  const found: { hook: Hook; progress: HookProgress }[] = [];
  for await (const { value } of rows.range(tables.hooks)) {
    const hook = read(value) as Hook;
    const progress = await rows.read(tables.cursors, keyOf(hook.id));
    found.push({ hook, progress: progress ? (read(progress) as HookProgress) : startAt(0) });
  }
  return found;
}

/** The progress after an event, before the first attempt of the next one. */
export const startAt = (sequence: number, missed = 0): HookProgress => ({
  sequence,
  attempts: 0,
  since: 0,
  next: 0,
  missed,
});

import { TimeSlice } from "@anulo/limits";
import { type PoolParts, transact } from "./parts.ts";

const DAY_SECONDS = 24 * 60 * 60;
/** Seconds for which a transaction may wait. Source: cryptonote_config.h `CRYPTONOTE_MEMPOOL_TX_LIVETIME`. */
const LIFETIME_SECONDS = 3 * DAY_SECONDS;
/** The same for one that was in a block. Source: `CRYPTONOTE_MEMPOOL_TX_FROM_ALT_BLOCK_LIVETIME`. */
const LIFETIME_FROM_BLOCK_SECONDS = 7 * DAY_SECONDS;

/** Number of transactions dropped in one turn of the event loop: a few milliseconds of work. */
const DROPS_PER_TURN = 100;

/** Drops these transactions (ids in hexadecimal) from the pool, in turns; unknown ids are ignored. */
export async function dropFromPool(parts: PoolParts, keys: readonly string[]): Promise<void> {
  for (let at = 0; at < keys.length; at += DROPS_PER_TURN) {
    if (at > 0) await new TimeSlice().yield();
    await parts.store.whenWritable(() =>
      parts.proofs.measure(() => dropSome(parts, keys.slice(at, at + DROPS_PER_TURN))),
    );
  }
}

function dropSome(parts: PoolParts, keys: readonly string[]): void {
  const present = keys.filter((key) => parts.pool.get(key) !== undefined);
  if (present.length === 0) return;
  transact(parts, (writer) => {
    for (const key of present) parts.pool.remove(writer, key);
  });
}

/** Drops the transactions that have waited too long. */
export async function dropStale(parts: PoolParts): Promise<void> {
  const now = parts.now();
  const stale = parts.pool.entries().filter(({ row }) => {
    return now - row.receiveTime > (row.keptByBlock ? LIFETIME_FROM_BLOCK_SECONDS : LIFETIME_SECONDS);
  });
  for (const { key } of stale) parts.pool.markExpired(key);
  await dropFromPool(
    parts,
    stale.map(({ key }) => key),
  );
}

/** Relays a transaction that was kept here, as if it were submitted now. */
export function release(parts: PoolParts, key: string): Promise<void> {
  return parts.store.whenWritable(() => releaseNow(parts, key));
}

function releaseNow(parts: PoolParts, key: string): void {
  const entry = parts.pool.get(key);
  if (entry === undefined) return;
  if (entry.row.doNotRelay) {
    transact(parts, (writer) => parts.pool.update(writer, key, { doNotRelay: false, phase: "local" }));
  }
  parts.emit({ type: "transactionReleased", id: entry.id });
}

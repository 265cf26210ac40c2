import { fromHex } from "@anulo/protocol";
import type { PoolTransaction, RelayPhase } from "@anulo/storage";
import { isPublic, NEVER, type PoolEntry } from "./entry.ts";
import { type PoolParts, transact } from "./parts.ts";

/** The phases from private to public. Source: cryptonote_protocol/enums.h `relay_method`. */
const phases: readonly RelayPhase[] = ["local", "forward", "stem", "fluff"];

/** The next phase when a transaction of the pool arrives again; undefined if nothing changes. */
function nextPhase(row: PoolTransaction, coming: RelayPhase): RelayPhase | undefined {
  if (row.keptByBlock || row.doNotRelay || row.phase === "fluff") return undefined;
  // A stem transaction that returns is going in a circle: it is relayed to all. Source: tx_pool.cpp `add_tx`.
  if (row.phase === "stem" && coming === "stem") return "fluff";
  return phases.indexOf(coming) > phases.indexOf(row.phase) ? coming : undefined;
}

/** Records that a waiting transaction arrived again; returns true if it has to be relayed more widely than before. */
export function promote(
  parts: PoolParts,
  { id, key, row }: PoolEntry,
  { phase: coming = "local", relayAt }: { readonly phase?: RelayPhase; readonly relayAt?: number },
): boolean {
  const phase = nextPhase(row, coming);
  if (phase === undefined) return false;
  const lastRelayedTime = relayAt === undefined ? NEVER : BigInt(relayAt);
  const change = { phase, lastRelayedTime, receiveTime: parts.now(), relayed: true };
  transact(parts, (writer) => parts.pool.update(writer, key, change));
  if (phase === "fluff") parts.emit({ type: "transactionsPublic", ids: [id] });
  return true;
}

/** A transaction that was relayed, and until when (Unix seconds) others are expected to relay it further. */
export interface RelayedEntry {
  readonly key: string;
  readonly embargoEnd?: number | undefined;
}

/** Records that these were relayed to peers in this phase; transactions in a later phase remain in it. */
export function markRelayed(
  parts: PoolParts,
  entries: readonly RelayedEntry[],
  phase: RelayPhase,
): Promise<void> {
  return parts.store.whenWritable(() => markNow(parts, entries, phase));
}

function markNow(parts: PoolParts, entries: readonly RelayedEntry[], phase: RelayPhase): void {
  const present = entries.filter(({ key }) => parts.pool.get(key) !== undefined);
  if (present.length === 0) return;
  const hidden = present.map(({ key }) => parts.pool.get(key)!).filter(({ row }) => !isPublic(row));
  transact(parts, (writer) => {
    for (const { key, embargoEnd } of present) {
      const { row } = parts.pool.get(key)!;
      const reached = phases.indexOf(phase) > phases.indexOf(row.phase) ? phase : row.phase;
      const isWaiting = reached === "stem" && !row.keptByBlock && embargoEnd !== undefined;
      const lastRelayedTime = BigInt(isWaiting ? embargoEnd : parts.now());
      parts.pool.update(writer, key, {
        phase: reached,
        doNotRelay: false,
        relayed: true,
        lastRelayedTime,
      });
    }
  });
  const ids = hidden.filter(({ key }) => isPublic(parts.pool.get(key)!.row)).map(({ id }) => id);
  if (ids.length > 0) parts.emit({ type: "transactionsPublic", ids });
}

const MINUTE_SECONDS = 60;
/** Seconds before a transaction is relayed again: at first, and at most. Source: tx_pool.cpp. */
const FIRST_DELAY_SECONDS = 5 * MINUTE_SECONDS;
const MAX_DELAY_SECONDS = 4 * 60 * MINUTE_SECONDS;
const DAY_SECONDS = 24 * 60 * MINUTE_SECONDS;
/** Half of the time it may wait: older ones are not relayed again, since other nodes drop them soon. */
const MAX_AGE_SECONDS = { own: 1.5 * DAY_SECONDS, fromBlock: 3.5 * DAY_SECONDS };

/** Grows with the time since a transaction was received, in steps. Source: tx_pool.cpp `get_relay_delay`. */
function delayOf(lastRelayed: number, received: number): number {
  const steps = Math.floor((lastRelayed - received + FIRST_DELAY_SECONDS) / FIRST_DELAY_SECONDS);
  return Math.min(MAX_DELAY_SECONDS, steps * FIRST_DELAY_SECONDS);
}

function isDue({ phase, keptByBlock, lastRelayedTime, receiveTime }: PoolTransaction, now: number): boolean {
  if (lastRelayedTime === NEVER) return now - receiveTime > FIRST_DELAY_SECONDS;
  const isTimed = !keptByBlock && (phase === "stem" || phase === "forward");
  const last = Number(lastRelayedTime);
  return isTimed ? last <= now : now - last > delayOf(last, receiveTime);
}

/**
 * Waiting transactions that should be relayed (again): their embargo ended, or they were not mined for a while. Those
 * whose outputs the chain has spent otherwise wait for a reorganisation: every peer refuses them, and the original
 * drops who sends them, so that we would lose all such peers at once. Source: tx_pool.cpp
 * `get_relayable_transactions`, which relays the latter, too.
 */
export function dueTransactions({
  pool,
  state,
  now,
}: Pick<PoolParts, "pool" | "now"> & {
  readonly state: Pick<PoolParts["state"], "view">;
}): PoolEntry[] {
  const moment = now();
  const view = state.view();
  return pool.byFeeRate().filter(({ row, keyImages }) => {
    if (row.doNotRelay || row.fee === 0n || !isDue(row, moment)) return false;
    const maxAge = row.keptByBlock ? MAX_AGE_SECONDS.fromBlock : MAX_AGE_SECONDS.own;
    if (moment - row.receiveTime > maxAge) return false;
    return !keyImages.some((image) => view.isKeyImageSpent(fromHex(image)));
  });
}

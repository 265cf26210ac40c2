import { setTimeout as delay } from "node:timers/promises";
import { call } from "@anulo/devnet";
import { until } from "../../until.ts";
import { type Chance, createChance } from "../chance.ts";
import { demand, listOf } from "../wallet/stage.ts";
import { type EventsStore, EventsWorld } from "./world.ts";

export type EventRoundsOptions = {
  /** Number of kills of the service. */
  readonly rounds: number;
  /** Number of payments in blocks, undone ones included. */
  readonly payments: number;
  readonly seed: string;
  /** Where the wallets' ledgers are; in the folder's own store if left out. */
  readonly store?: EventsStore | undefined;
  /** Called after every round. */
  readonly onRound?: (round: number, events: number) => void;
};

export type EventRoundsReport = {
  readonly events: number;
  /** Number of events of each type. */
  readonly counts: ReadonlyMap<string, number>;
  readonly reorganisations: number;
  /** Webhooks that were refused, and that came again after they had been taken. */
  readonly refused: number;
  readonly repeated: number;
};

/** Milliseconds in which the service is killed once there is something to scan. */
const WORK_MS = 1500;
const MAX_DEPTH = 5;
/** Blocks that `fund` mines on top of those that pay. */
const BLOCKS_ON_TOP = 60;
/** More than the deepest event of a payment waits for. */
const BLOCKS_AT_THE_END = 70;
/** Milliseconds without a new event after which a consumer counts as left behind. */
const PATIENCE_MS = 120_000;
const BLOCKS_PER_CALL = 200;

/** Pays by blocks and into the pool, and undoes blocks in some rounds; returns whether it did. */
async function payAndReorganise(world: EventsWorld, payments: number, chance: Chance): Promise<boolean> {
  const { devnet, addresses } = world;
  const amounts: { [address: string]: bigint[] } = {};
  const count = Math.min(payments, addresses.length);
  for (let i = 0; i < count; i++) amounts[addresses[i]!] = [BigInt(chance.between(1, 1_000_000))];
  const { payer } = devnet.wallets;
  if (chance.happens(0.5)) await payer.pay(chance.pick(addresses), BigInt(chance.between(1, 1_000_000)));
  for (let paid = 0; paid < payments; paid += count) await devnet.fund(amounts);
  const isUndone = chance.happens(0.5);
  if (isUndone) {
    const isDeep = chance.happens(0.3);
    const depth = isDeep ? BLOCKS_ON_TOP + chance.between(1, 3) : chance.between(1, MAX_DEPTH);
    await devnet.reorg(depth, { payments: chance.pick(["pool", "mined"] as const) });
  }
  if (chance.happens(0.5)) await payer.pay(chance.pick(addresses), BigInt(chance.between(1, 1_000_000)));
  return isUndone;
}

async function playRound(world: EventsWorld, payments: number, chance: Chance): Promise<boolean> {
  const reorganised = await payAndReorganise(world, payments, chance);
  // Cut off where the service is killed.
  const scanned = call(world.service.url, "refresh").catch(() => undefined);
  await delay(chance.between(0, WORK_MS));
  await world.killService();
  await scanned;
  if (chance.happens(0.2)) await world.killNats();
  await world.ask("refresh");
  world.check();
  return reorganised;
}

/** Throws unless all readers have seen the same events, and these say what the wallet lists. */
async function checkAll(world: EventsWorld): Promise<void> {
  const { cursor, hook, stream, devnet, payments } = world;
  hook.isSteady = true;
  const height = await devnet.mine(BLOCKS_AT_THE_END);
  await world.ask("refresh");
  const last = await lastSequence(world);
  const readers = [cursor, hook, stream];
  let count = 0;
  const haveMore = async () => {
    world.check();
    const before = count;
    count = readers.reduce((sum, { seenEvents }) => sum + seenEvents.last, 0);
    return count > before;
  };
  const isOver = () => readers.every(({ seenEvents }) => seenEvents.last >= last);
  while (!isOver() && (await until(haveMore, PATIENCE_MS)));
  demand(
    isOver(),
    `of ${last} events ${cursor.seenEvents.last}, ${hook.seenEvents.last} and ${stream.seenEvents.last} came`,
  );
  cursor.seenEvents.demandSame(hook.seenEvents);
  cursor.seenEvents.demandSame(stream.seenEvents);
  const receipts = [];
  for (let from = 0; from < height; from += BLOCKS_PER_CALL) {
    const filter = {
      in: true,
      filter_by_height: true,
      min_height: from,
      max_height: from + BLOCKS_PER_CALL,
    };
    receipts.push(...listOf((await world.ask("get_transfers", filter)).in));
  }
  payments.demandMined(receipts);
}

/** The number of the last event, asked until no more come. */
async function lastSequence(world: EventsWorld): Promise<number> {
  for (let last = -1; ; ) {
    const response = await fetch(`${world.service.url}/events?after=${world.cursor.seenEvents.last}&limit=1`);
    const { events } = (await response.json()) as { events: { sequence: number }[] };
    if (events.length === 0 && last === world.cursor.seenEvents.last) return last;
    last = world.cursor.seenEvents.last;
    await delay(500);
    world.check();
  }
}

/**
 * Kills a wallet service with an event log, and the NATS server, while payments come in and are undone: a reader with a
 * cursor, a receiver of webhooks that fails and a reader of the stream each see every event once and in order, and what
 * they say is what the wallet lists. Rejects at the first failure.
 */
export async function runEventRounds(options: EventRoundsOptions): Promise<EventRoundsReport> {
  const { rounds, payments, seed, store, onRound } = options;
  const world = await EventsWorld.create(createChance(`${seed} receiver`), store);
  let reorganisations = 0;
  try {
    for (let round = 1; round <= rounds; round++) {
      const chance = createChance(`${seed} ${round}`);
      const hasReorganised = await playRound(world, Math.ceil(payments / rounds), chance).catch(
        (error: unknown) => {
          throw new Error(`round ${round}: ${String(error)}`, { cause: error });
        },
      );
      reorganisations += hasReorganised ? 1 : 0;
      onRound?.(round, world.cursor.seenEvents.last);
    }
    await checkAll(world);
    const { cursor, hook, payments: receiverPayments } = world;
    const { refused } = hook;
    return {
      events: cursor.seenEvents.last,
      counts: receiverPayments.counts,
      reorganisations,
      refused,
      repeated: hook.seenEvents.repeated,
    };
  } finally {
    await world.stop();
  }
}

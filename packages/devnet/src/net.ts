import { createAutoMining } from "./auto-mining.ts";
import { call } from "./call.ts";
import { heightOf, mineBlocks, mineEmptyBlocks, popBlocks } from "./chain-calls.ts";
import { type Clock, checkTime } from "./clock.ts";
import type { FaultBook } from "./faults.ts";
import { BLOCKS_UNTIL_SPENDABLE, mineOutputs } from "./fund.ts";
import type { Devnet, DevnetWallet } from "./options.ts";
import type { Programs } from "./programs.ts";
import type { SavedState } from "./saved-state.ts";
import { createTurns } from "./turns.ts";

export type NetParts<N extends string> = {
  readonly programs: Programs;
  readonly wallets: Devnet<N>["wallets"];
  readonly faults: FaultBook;
  /** Addresses of who is usually paid for blocks, and of nobody's wallet. */
  readonly miner: string;
  readonly nobody: string;
  stop(): Promise<void>;
};

/** What the programs of others cannot do. */
export class NotSupported extends Error {
  override name = "NotSupported";
}

const systemSeconds = (): number => Math.floor(Date.now() / 1000);
/** Milliseconds between two looks at the pool of a node that does not report payments. */
const POLL_MS = 200;
/** Each keeps pages of the database, of whose readers there are some hundred. */
const MAX_SNAPSHOTS = 50;

/** The devnet of programs that run. */
export function netOf<N extends string>(parts: NetParts<N>): Devnet<N> {
  const { programs, wallets, faults } = parts;
  const { nodeUrl, clock } = programs;
  const inTurn = createTurns();
  const addressOf = (nameOrAddress: string) =>
    new Map(Object.entries<DevnetWallet>(wallets)).get(nameOrAddress)?.address ?? nameOrAddress;
  const minerOf = (to: string | undefined) => (to === undefined ? parts.miner : addressOf(to));
  const mine = (blocks: number, to?: string) => inTurn(() => mineBlocks(nodeUrl, blocks, minerOf(to)));
  const autoMining = createAutoMining({
    onPayment: (listener) => onPayment(programs, listener),
    waiting: async () => Number((await call(nodeUrl, "get_info")).tx_pool_size),
    mine: () => mine(1),
  });
  return {
    get node() {
      if (programs.node === undefined)
        throw new NotSupported("the node is not ours: it is asked by its URL alone");
      return programs.node;
    },
    nodeUrl,
    wallets,
    faults,
    stopRequested: programs.stopRequested,
    mine,
    reorg: (depth, { payments = "pool", to } = {}) =>
      inTurn(async () => {
        await popBlocks(nodeUrl, depth);
        const mineAgain = payments === "pool" ? mineEmptyBlocks : mineBlocks;
        return await mineAgain(nodeUrl, depth + 1, minerOf(to));
      }),
    autoMine: autoMining.set,
    fund: (outputs) =>
      inTurn(async () => {
        const all = Object.entries(outputs).flatMap(([to, amounts]) =>
          amounts.map((amount) => ({ address: addressOf(to), amount })),
        );
        if (all.length === 0) return heightOf(nodeUrl);
        const { random } = programs.random;
        await mineOutputs({ nodeUrl, miner: parts.nobody, random }, all);
        return await mineBlocks(nodeUrl, BLOCKS_UNTIL_SPENDABLE, parts.nobody);
      }),
    ...snapshotsOf(programs, inTurn),
    ...timeOf(clock),
    async stop() {
      await autoMining.stop();
      await parts.stop();
    },
  };
}

function onPayment({ node }: Programs, listener: () => void): () => void {
  if (node !== undefined) {
    return node.events.listen(({ type }) => {
      if (type === "transactionAdded" || type === "transactionsPublic") listener();
    });
  }
  const timer = setInterval(listener, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

type Snapshots = Pick<Devnet, "snapshot" | "revert" | "dropSnapshot">;

function snapshotsOf(programs: Programs, inTurn: ReturnType<typeof createTurns>): Snapshots {
  const saved = new Map<number, SavedState>();
  let lastId = 0;
  const stateOf = (id: number): SavedState => {
    const state = saved.get(id);
    if (state === undefined) throw new RangeError(`there is no snapshot ${id}`);
    return state;
  };
  return {
    snapshot: () =>
      inTurn(async () => {
        if (saved.size >= MAX_SNAPSHOTS)
          throw new RangeError(`there are ${saved.size} snapshots, which is the most: drop one`);
        const state = await programs.save();
        lastId += 1;
        saved.set(lastId, state);
        return lastId;
      }),
    revert: (id) => inTurn(() => stateOf(id).restore()),
    dropSnapshot: (id) =>
      inTurn(async () => {
        const state = stateOf(id);
        saved.delete(id);
        await state.drop();
      }),
  };
}

type Time = Pick<Devnet, "time" | "setTime" | "advanceTime">;

function timeOf(clock: Clock | undefined): Time {
  const own = (): Clock => {
    if (clock === undefined)
      throw new NotSupported("the original programs take the time from the system: it can't be set");
    return clock;
  };
  return {
    time: () => clock?.now() ?? systemSeconds(),
    setTime(seconds) {
      const { now } = own();
      checkTime(seconds);
      if (seconds < now()) throw new RangeError("the time of a devnet does not go back");
      own().shift += seconds - now();
    },
    advanceTime(seconds) {
      const { now } = own();
      if (!Number.isSafeInteger(seconds) || seconds < 0)
        throw new RangeError("time moves on by a whole number of seconds");
      checkTime(now() + seconds);
      own().shift += seconds;
    },
  };
}

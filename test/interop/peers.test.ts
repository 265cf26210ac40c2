import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  call,
  loadBlocks,
  loadChain,
  loadGoldenState,
  post,
  type RunningDaemon,
  sendTransaction,
  startDaemon,
} from "@anulo/testkit";
import { needsRealPrograms, otherSide, type Side } from "../actors.ts";

const chain = loadChain();
/** A chain of 107 blocks, with payments in a few of them. */
const short = loadGoldenState();
const withinMs = 90_000;

/** A node that can be ended and started again on its chain, with other peers. */
class Actor {
  readonly #side: Side;
  readonly #folder = mkdtempSync(join(tmpdir(), "anulo-"));
  #daemon: RunningDaemon | undefined;

  constructor(side: Side) {
    this.#side = side;
  }

  /** Starts it, or ends it and starts it again; without `peers` it speaks to nobody. */
  async start(peers?: readonly Actor[]): Promise<this> {
    await this.#daemon?.stop();
    const ports = this.#daemon && { port: this.#daemon.port, p2pPort: this.#daemon.p2pPort };
    const addresses = peers?.map(({ address }) => address);
    const whom = addresses === undefined ? {} : { peers: addresses };
    this.#daemon = await startDaemon({ kind: this.#side }, { dataDir: this.#folder, ...ports, ...whom });
    return this;
  }

  get url(): string {
    return this.#daemon!.url;
  }

  get address(): string {
    return `127.0.0.1:${this.#daemon!.p2pPort}`;
  }

  async height(): Promise<number> {
    return Number((await call(this.url, "get_info")).height);
  }

  async top(): Promise<string> {
    return String((await call(this.url, "get_info")).top_block_hash);
  }

  async pool(): Promise<number> {
    const { tx_hashes } = await post(`${this.url}/get_transaction_pool_hashes`, {});
    return Array.isArray(tx_hashes) ? tx_hashes.length : 0;
  }

  async mine(count: number): Promise<void> {
    const { address } = chain.wallets.alice;
    await call(this.url, "generateblocks", { amount_of_blocks: count, wallet_address: address });
  }

  async end(): Promise<void> {
    await this.#daemon?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function withActors(
  sides: readonly Side[],
  play: (...actors: Actor[]) => Promise<void>,
): Promise<void> {
  const actors = sides.map((side) => new Actor(side));
  try {
    await play(...actors);
  } finally {
    for (const actor of actors) await actor.end();
  }
}

/** Asks until it is so. */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await delay(50);
  }
}

const agree = (...actors: Actor[]) =>
  until("all have the same top", async () => {
    const tops = await Promise.all(actors.map((actor) => actor.top()));
    return new Set(tops).size === 1;
  });

/** Blocks of the recorded chain that go from peer to peer. */
const BLOCKS = 420;
const story = chain.blocks.slice(0, BLOCKS);

test(
  "a chain goes from ours to the original and on to ours; then news go both ways",
  needsRealPrograms,
  async (t) => {
    await withActors(["ours", "real", "ours"], async (first, middle, last) => {
      await first.start();
      await loadBlocks(first.url, story);
      await first.start([]);
      const payments = story.reduce((sum, { txs }) => sum + txs.length, 0);
      assert.ok(payments >= 300);

      const began = Date.now();
      await middle.start([first]);
      await agree(first, middle);
      const passed = Date.now();
      await last.start([middle]);
      await agree(middle, last);
      t.diagnostic(`${BLOCKS} blocks, ${payments} payments: to the original ${passed - began} ms`);
      t.diagnostic(`and to ours ${Date.now() - passed} ms`);
      const sum = { height: 0, count: BLOCKS };
      const [theirs, own] = await Promise.all(
        [middle, last].map(({ url }) => call(url, "get_coinbase_tx_sum", sum)),
      );
      assert.deepEqual(own, theirs);

      // Who gave the chain away has not met an equal yet; after this it has.
      await first.start([]);
      await until(
        "it is synchronized",
        async () => (await call(first.url, "get_info")).synchronized === true,
      );
      for (const miner of [first, middle, last]) {
        await miner.mine(2);
        await agree(first, middle, last);
      }
    });
  },
);

test(
  "transactions reach everybody through ours and the original, and leave with their block",
  needsRealPrograms,
  async () => {
    await withActors(["ours", "real", "ours"], async (first, middle, last) => {
      await first.start();
      const busy = short.blocks.findIndex(({ txs }) => txs.length >= 3);
      await loadBlocks(first.url, short.blocks.slice(0, busy));
      await first.start([]);
      await middle.start([first]);
      await agree(first, middle);
      await last.start([middle]);
      await agree(middle, last);
      await first.start([]);
      await until(
        "it is synchronized",
        async () => (await call(first.url, "get_info")).synchronized === true,
      );
      const { txs } = short.blocks[busy]!;
      const senders = [first, middle, last];
      for (const [i, sender] of senders.entries()) await sendTransaction(sender.url, txs[i]!);
      await until("all know all transactions", async () => {
        const known = await Promise.all(senders.map((actor) => actor.pool()));
        return known.every((count) => count === senders.length);
      });
      await middle.mine(1);
      await agree(first, middle, last);
      for (const actor of senders) assert.equal(await actor.pool(), 0);
    });
  },
);

for (const side of ["ours", "real"] as const satisfies readonly Side[]) {
  test(
    `a branch with payments made by ${side} replaces ten blocks of the other`,
    needsRealPrograms,
    async () => {
      await withActors([side, otherSide[side]], async (winner, loser) => {
        const fork = short.blocks.findIndex(({ txs }) => txs.length > 1);
        await winner.start();
        await loadBlocks(winner.url, short.blocks.slice(0, fork));
        await loser.start();
        await loadBlocks(loser.url, short.blocks.slice(0, fork));
        await loser.mine(10);
        await loadBlocks(winner.url, short.blocks.slice(fork, fork + 13));
        const lost = await loser.top();
        await winner.start([]);
        await loser.start([winner]);
        await agree(winner, loser);
        assert.notEqual(await loser.top(), lost);
        assert.equal(await loser.height(), fork + 14);
      });
    },
  );
}

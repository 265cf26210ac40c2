import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call, type Exact, type ExactObject, type Maker, post, startWallet } from "@anulo/testkit";
import { bigintOf, listOf, makerOf, needsRealPrograms } from "../actors.ts";
import { openRealChain, type RealChain } from "../eras/recorder/real-chain.ts";
import { words } from "./words.ts";

/** Hard forks 2 to 16, one block after the other once there are coins of the first. */
const forkHeights = Array.from({ length: 15 }, (_, i) => 96 + i);

type Actor = {
  readonly address: string;
  ask(method: string, params?: Exact): Promise<ExactObject>;
  stop(): Promise<void>;
};

async function openWallet(maker: Maker, daemonPort: number, seed: string): Promise<Actor> {
  const wallet = await startWallet(maker, { daemonPort, extra: ["--stagenet"] });
  const ask = (method: string, params: Exact = {}) => call(wallet.url, method, params);
  const restored = { filename: "wallet", password: "", seed, restore_height: 0 };
  const { address } = await ask("restore_deterministic_wallet", restored);
  return { address: String(address), ask, stop: () => wallet.stop() };
}

/** The rings of a transaction in the pool or the chain: amount and size of each. */
async function ringsOf(chain: RealChain, txHash: string) {
  const asked = { txs_hashes: [txHash], decode_as_json: true };
  const { txs } = await post(`${chain.daemon.url}/get_transactions`, asked);
  const { version, vin } = JSON.parse(String(listOf(txs)[0]!.as_json)) as {
    version: number;
    vin: { key: { amount: number; key_offsets: number[] } }[];
  };
  return { version, rings: vin.map(({ key }) => ({ amount: key.amount, size: key.key_offsets.length })) };
}

/** Coins of the first era: common amounts of the miner's, rare ones that he paid to somebody. */
async function playFirstEra(chain: RealChain, miner: Actor, somebody: string): Promise<void> {
  const mine = async (blocks: number) => {
    for (let i = 0; i < blocks; i++) await chain.mine(miner.address);
  };
  await mine(80);
  await miner.ask("refresh");
  for (const amount of [(333n * coin) / 100n, (444n * coin) / 100n]) {
    await miner.ask("transfer", { destinations: [{ address: somebody, amount }] });
    await mine(1);
  }
  // The original pays by the rules of the newest fork once it is 30 blocks old.
  await mine(forkHeights.at(-1)! + 33 - 82);
}

test(
  "outputs from before RingCT are spent: in rings of their amount, and without rings where it is too rare",
  needsRealPrograms,
  async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), "anulo-visible-"));
    const start = Math.floor(Date.now() / 1000) - 300 * 120;
    const timestamp = (height: number) => start + 120 * height;
    const chain = await openRealChain({ dataDir, forkHeights, timestamp, maker: makerOf("real") });
    const actors: Actor[] = [];
    try {
      const open = async (kind: "real" | "ours", seed: string) => {
        const actor = await openWallet(makerOf(kind), chain.daemon.port, seed);
        actors.push(actor);
        return actor;
      };
      const realMiner = await open("real", words.alice);
      const realSomebody = await open("real", words.bob);
      await playFirstEra(chain, realMiner, realSomebody.address);
      const miner = await open("ours", words.alice);
      const somebody = await open("ours", words.bob);
      for (const actor of actors) await actor.ask("refresh");
      for (const [ours, real] of [
        [miner, realMiner],
        [somebody, realSomebody],
      ] as const) {
        const [a, b] = await Promise.all([ours.ask("get_balance"), real.ask("get_balance")]);
        assert.equal(a.balance, b.balance);
        assert.equal(a.unlocked_balance, b.unlocked_balance);
      }
      assert.equal(bigintOf((await somebody.ask("get_balance")).balance), (777n * coin) / 100n);

      await t.test("a rare amount can't hide in a ring", async () => {
        const asked = { destinations: [{ address: miner.address, amount: coin }] };
        await assert.rejects(somebody.ask("transfer", asked), /sweep_dust/);
        await assert.rejects(realSomebody.ask("transfer", asked), /sweep_dust/);
      });

      await t.test("it is swept as the original sweeps it", async () => {
        const real = await realSomebody.ask("sweep_dust", { do_not_relay: true });
        const made = await somebody.ask("sweep_dust", { get_tx_keys: true });
        assert.deepEqual([made.fee_list, made.amount_list], [real.fee_list, real.amount_list]);
        const [txHash] = made.tx_hash_list as string[];
        const { version, rings } = await ringsOf(chain, txHash!);
        assert.equal(version, 1);
        assert.ok(rings.length >= 4 && rings.every(({ size, amount }) => size === 1 && amount > 0));
        for (let i = 0; i < 11; i++) await chain.mine(miner.address);
        for (const actor of [somebody, realSomebody]) await actor.ask("refresh");
        const [ours, theirs] = [await somebody.ask("get_balance"), await realSomebody.ask("get_balance")];
        assert.equal(ours.unlocked_balance, theirs.unlocked_balance);
        const fee = (made.fee_list as bigint[]).reduce((sum, each) => sum + BigInt(each), 0n);
        assert.equal(bigintOf(ours.unlocked_balance), (777n * coin) / 100n - fee);
      });

      await t.test("a common amount hides among its likes in a RingCT transaction", async () => {
        await miner.ask("refresh");
        const { transfers } = await miner.ask("incoming_transfers", { transfer_type: "available" });
        const old = listOf(transfers).filter(({ amount }) => bigintOf(amount) === 7n * coin);
        assert.ok(old.length > 16);
        const paid = { address: somebody.address, key_image: old[3]!.key_image! };
        const swept = await miner.ask("sweep_single", paid);
        const { version, rings } = await ringsOf(chain, String(swept.tx_hash));
        assert.deepEqual([version, rings], [2, [{ amount: 7_000_000_000_000, size: 16 }]]);
        const rare = { address: somebody.address, below_amount: coin / 100n };
        for (const actor of [miner, realMiner])
          await assert.rejects(actor.ask("sweep_all", rare), /sweep_dust/);
        for (let i = 0; i < 11; i++) await chain.mine(miner.address);
        for (const actor of actors) await actor.ask("refresh");
        const [ours, theirs] = [await somebody.ask("get_balance"), await realSomebody.ask("get_balance")];
        assert.equal(ours.balance, theirs.balance);
      });
    } finally {
      for (const actor of actors) await actor.stop();
      await chain.stop();
      rmSync(dataDir, { recursive: true });
    }
  },
);

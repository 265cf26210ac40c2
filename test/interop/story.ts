import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { call, post, type RecordedBlock, type RunningDaemon } from "@anulo/testkit";
import { listOf, mine, type Side, type Stage, type WalletActor } from "../actors.ts";
import { words } from "./words.ts";

export type Story = {
  readonly daemon: RunningDaemon;
  readonly alice: WalletActor;
  readonly bob: WalletActor;
  /** How many transactions the blocks hold. */
  readonly payments: number;
};

/** Two wallets pay each other in every way they can, on a chain of their own, with the programs of one side. */
export async function tellStory(stage: Stage, side: Side): Promise<Story> {
  const daemon = await stage.daemon(side);
  const alice = await stage.wallet(side, { mnemonic: words.alice, daemonPort: daemon.port });
  const bob = await stage.wallet(side, { mnemonic: words.bob, daemonPort: daemon.port });
  await mine(daemon, 95, alice.address);
  await mine(daemon, 5, bob.address);
  await alicePays(daemon, alice, bob);
  await mine(daemon, 10, bob.address);
  await bobPays(daemon, alice, bob);
  await mine(daemon, 10, alice.address);
  return { daemon, alice, bob, payments: await countPayments(daemon) };
}

/** 18 payments over 4 blocks: to one and to many, to subaddresses, with a payment id, at each priority. */
async function alicePays(daemon: RunningDaemon, alice: WalletActor, bob: WalletActor): Promise<void> {
  const subaddresses = listOf((await bob.call("create_address", { account_index: 0, count: 3 })).addresses);
  const { integrated_address } = await bob.call("make_integrated_address", {
    payment_id: "0123456789abcdef",
  });
  const places = [bob.address, ...subaddresses.map(String), String(integrated_address)];
  await alice.refresh();
  for (const [round, amount] of [coin, 3n * coin, coin / 1000n].entries()) {
    for (const address of places) await alice.pay([{ address, amount }], { priority: round + 1 });
    await mine(daemon, 1, alice.address);
    await alice.refresh();
  }
  const many = Array.from({ length: 15 }, (_, at) => ({
    address: places[at % 4]!,
    amount: coin + BigInt(at),
  }));
  await alice.pay(many);
  await alice.pay([
    { address: bob.address, amount: 7n },
    { address: alice.address, amount: coin },
  ]);
  await alice.pay([{ address: bob.address, amount: coin }]);
  await mine(daemon, 1, bob.address);
}

/** What bob has received goes back: by transfer_split, by sweeping one output, one subaddress, then everything. */
async function bobPays(daemon: RunningDaemon, alice: WalletActor, bob: WalletActor): Promise<void> {
  await bob.refresh();
  const destinations = [{ address: alice.address, amount: coin / 2n }];
  await bob.call("transfer_split", { destinations });
  const received = listOf((await bob.call("incoming_transfers", { transfer_type: "available" })).transfers);
  const single = received.find(
    ({ unlocked, amount }) => unlocked === true && BigInt(String(amount)) === 3n * coin,
  );
  if (single === undefined) throw new Error("bob found none of the payments of 3 XMR unlocked");
  await bob.call("sweep_single", { address: alice.address, key_image: single.key_image! });
  await mine(daemon, 1, bob.address);
  await bob.refresh();
  await bob.call("sweep_all", { address: alice.address, subaddr_indices: [1, 2] });
  await mine(daemon, 1, bob.address);
  await bob.refresh();
  await bob.call("sweep_all", { address: alice.address });
}

async function countPayments(daemon: RunningDaemon): Promise<number> {
  const { height } = await call(daemon.url, "get_info");
  const range = { start_height: 1, end_height: Number(height) - 1 };
  const { headers } = await call(daemon.url, "get_block_headers_range", range);
  return listOf(headers).reduce((sum, { num_txes }) => sum + Number(num_txes), 0);
}

/** All blocks of a node from height 1, each with its transactions, as its RPC gives them. */
export async function readBlocks(url: string): Promise<RecordedBlock[]> {
  const { height } = await call(url, "get_info");
  const blocks: RecordedBlock[] = [];
  for (let at = 1; at < Number(height); at++) {
    const { blob, tx_hashes } = await call(url, "get_block", { height: at });
    blocks.push({ blob: String(blob), txs: await readTransactions(url, (tx_hashes ?? []) as string[]) });
  }
  return blocks;
}

async function readTransactions(url: string, hashes: readonly string[]): Promise<string[]> {
  if (hashes.length === 0) return [];
  const { txs } = await post(`${url}/get_transactions`, { txs_hashes: [...hashes] });
  return listOf(txs).map(({ as_hex }) => String(as_hex));
}

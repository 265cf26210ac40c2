/** Two wallets, ours and the original, carry out the same payments on one chain. */
import { call, type ExactObject, post, type RunningDaemon } from "@anulo/testkit";
import { bigintOf, listOf, mine, type Side, type Stage } from "../actors.ts";
import { type Features, featuresOf } from "./features.ts";
import { type Addresses, type PlannedPayment, planPayments } from "./payments.ts";
import { placesOfChange } from "./unsent.ts";

/** What is seen of one payment; ages in blocks, of decoys and of the output that is spent. */
export type Seen = {
  readonly features: Features;
  /** Of the first transaction where there are several. */
  readonly transactions: number;
  /** Atomic units per byte the node asked for, by the payment's priority. */
  readonly feePerByte: bigint;
  readonly decoyAges: readonly number[];
  readonly realAges: readonly number[];
  /** Places of the real output among the members of each ring. */
  readonly realPlaces: readonly number[];
  /** Place of the change among the outputs, where there is one. */
  readonly changePlace: number | undefined;
};

type Player = {
  readonly address: string;
  ask(method: string, params?: ExactObject): Promise<ExactObject>;
  readonly sent: { readonly features: Features[]; readonly height: number; readonly feePerByte: bigint }[];
};

/** Payments between two blocks. */
const PAYMENTS_PER_BLOCK = 5;

async function openPlayer(stage: Stage, side: Side, daemonPort: number): Promise<Player> {
  const { url } = await stage.service(side, daemonPort);
  const ask: Player["ask"] = (method, params = {}) => call(url, method, params);
  await ask("create_wallet", { filename: "player", password: "", language: "English" });
  return { address: String((await ask("get_address")).address), ask, sent: [] };
}

async function receiver(stage: Stage, daemonPort: number): Promise<Addresses> {
  const { url } = await stage.service("ours", daemonPort);
  await call(url, "create_wallet", { filename: "receiver", password: "", language: "English" });
  const { address } = await call(url, "get_address");
  const { addresses } = await call(url, "create_address", { account_index: 0, count: 6 });
  const { integrated_address } = await call(url, "make_integrated_address");
  return {
    standard: String(address),
    subaddresses: listOf(addresses).map(String),
    integrated: String(integrated_address),
  };
}

/** Carries out one payment; the fifth of a wallet's spendable outputs is sent where a whole one is wanted. */
async function payOne({ ask }: Player, { kind, params }: PlannedPayment): Promise<string[]> {
  const told = { get_tx_hex: true };
  if (kind === "transfer") {
    const { tx_blob_list } = await ask("transfer_split", { ...params, ...told });
    return tx_blob_list as string[];
  }
  const { transfers } = await ask("incoming_transfers", { transfer_type: "available" });
  const chosen = listOf(transfers).filter(
    (it) => it.unlocked === true && bigintOf(it.amount) > 10n ** 12n,
  )[4];
  if (chosen === undefined) throw new Error("a wallet has run out of outputs");
  const { tx_blob } = await ask("sweep_single", { ...params, ...told, key_image: String(chosen.key_image) });
  return [String(tx_blob)];
}

/** What a payment spends of a wallet's outputs, about, change returned not counted. */
const OUTPUTS_PER_PAYMENT = 2.2;
const DESTINATIONS = 15;

/** Gives both wallets outputs of 2 coins in as many blocks as are needed, fifteen in each. */
async function fund(
  players: readonly Player[],
  { daemon, count, miner }: { daemon: RunningDaemon; count: number; miner: string },
): Promise<void> {
  const rounds = Math.ceil((OUTPUTS_PER_PAYMENT * count + 20) / DESTINATIONS);
  // Two inputs each.
  for (let i = 0; i < 2 * rounds + 2; ++i) for (const { address } of players) await mine(daemon, 1, address);
  // With hardly more outputs than it asks for, the original looks for decoys without end.
  await mine(daemon, 100, miner);
  for (const { ask } of players) await ask("refresh");
  for (let i = 0; i < rounds; ++i) {
    for (const { address, ask } of players) {
      const destinations = Array.from({ length: DESTINATIONS }, () => ({ address, amount: 2n * 10n ** 12n }));
      await ask("transfer", { destinations, priority: 1 });
    }
    await mine(daemon, 1, miner);
  }
  await mine(daemon, 10, miner);
}

/** What is seen of one wallet. */
export type Sample = {
  readonly payments: readonly Seen[];
  /** Places of the change in payments of one output that were not sent. */
  readonly changePlaces: readonly number[];
};

/** Has each wallet send `count` payments, and make `unsent` that nobody sees. */
export async function playPayments(
  stage: Stage,
  { count, unsent }: { readonly count: number; readonly unsent: number },
): Promise<Record<Side, Sample>> {
  const daemon = await stage.daemon("ours");
  const addresses = await receiver(stage, daemon.port);
  const players = {
    ours: await openPlayer(stage, "ours", daemon.port),
    real: await openPlayer(stage, "real", daemon.port),
  };
  await fund([players.ours, players.real], { daemon, count, miner: addresses.standard });
  for (const [at, payment] of planPayments(count, addresses).entries()) {
    const estimate = await call(daemon.url, "get_fee_estimate", { grace_blocks: 10 });
    const level = Math.max(Number(payment.params.priority), 1) - 1;
    const feePerByte = bigintOf((estimate.fees as number[])[level]);
    const height = Number((await post(`${daemon.url}/get_height`)).height);
    for (const player of [players.ours, players.real]) {
      if (at % PAYMENTS_PER_BLOCK === 0) await player.ask("refresh");
      const features = (await payOne(player, payment)).map(featuresOf);
      player.sent.push({ features, height, feePerByte });
    }
    if (at % PAYMENTS_PER_BLOCK === PAYMENTS_PER_BLOCK - 1) await mine(daemon, 1, addresses.standard);
  }
  await mine(daemon, 1, addresses.standard);
  const look = async (side: Side) => {
    const payments = await lookAt(players[side], daemon.url);
    return { payments, changePlaces: await placesOfChange(players[side], addresses.standard, unsent) };
  };
  const [ours, real] = await Promise.all([look("ours"), look("real")]);
  return { ours, real };
}

/** Adds what only the wallet itself knows: which member of a ring is real, which output is change. */
async function lookAt({ ask, sent }: Player, url: string): Promise<Seen[]> {
  await ask("refresh");
  const owned = listOf((await ask("incoming_transfers", { transfer_type: "all" })).transfers);
  const realIndex = new Map(owned.map((it) => [String(it.key_image), Number(it.global_index)]));
  const ownIndices = new Set(owned.map((it) => Number(it.global_index)));
  const heights = await heightsOfOutputs(url);
  return sent.map(({ features: [features, ...others], height, feePerByte }) => {
    const { rings } = features!;
    const isReal = (keyImage: string, member: number) => realIndex.get(keyImage) === member;
    const ages = (real: boolean) =>
      rings.flatMap(({ keyImage, members }) =>
        members
          .filter((member) => isReal(keyImage, member) === real)
          .map((member) => height - heights.ofIndex[member]!),
      );
    const places = heights.outputsOf.get(rings[0]!.keyImage) ?? [];
    const changePlace = places.findIndex((index) => ownIndices.has(index));
    return {
      features: features!,
      transactions: 1 + others.length,
      feePerByte,
      decoyAges: ages(false),
      realAges: ages(true),
      realPlaces: rings.map(({ keyImage, members }) => members.findIndex((it) => isReal(keyImage, it))),
      changePlace: changePlace === -1 ? undefined : changePlace,
    };
  });
}

/** Heights of all outputs by global index, and the outputs of each transaction by its first key image. */
async function heightsOfOutputs(url: string) {
  const { height: top } = await post(`${url}/get_height`);
  const ofIndex: number[] = [];
  const outputsOf = new Map<string, number[]>();
  const note = (indices: readonly number[], height: number) => {
    for (const index of indices) ofIndex[index] = height;
  };
  for (let height = 0; height < Number(top); ++height) {
    const block = await call(url, "get_block", { height });
    const hashes = [String(block.miner_tx_hash), ...((block.tx_hashes ?? []) as string[])];
    const { txs } = await post(`${url}/get_transactions`, { txs_hashes: hashes });
    for (const tx of listOf(txs)) {
      const indices = (tx.output_indices as (number | bigint)[]).map(Number);
      note(indices, height);
      const image = tx.tx_hash === hashes[0] ? undefined : featuresOf(String(tx.as_hex)).rings[0]?.keyImage;
      if (image !== undefined) outputsOf.set(image, indices);
    }
  }
  return { ofIndex, outputsOf };
}

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import type { WalletChange } from "../src/changes.ts";
import { createStore, openStore } from "../src/file/store.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { createRuntime } from "../src/runtime.ts";
import type { OutgoingPayment } from "../src/state.ts";
import { pickCandidates } from "../src/transfer/decoys.ts";
import { createRings, type OutputSource, type RingMemory } from "../src/transfer/rings.ts";
import { RING_SIZE, type Ring } from "../src/transfer/stages.ts";
import { createChain, receive, seededRandom } from "./transfer-fixture.ts";

const { threads } = createRuntime();

const random = seededRandom("rings");
const keys = createKeys(random);
const owned = receive(keys, { amount: 5n, globalIndex: 4000, height: 200 }, random);
const settings = { seedLanguage: "", refreshFromHeight: 0 };

function memoryOf(ledger: Ledger): RingMemory {
  return {
    ringOf: (key) => ledger.state.rings.get(key),
    remember: async (rings) => applyChange(ledger, { kind: "rings", rings }),
  };
}

const emptyLedger = () => createLedger("regtest", settings);
/** A key and commitment of its own for each index, so that no two candidates are alike. */
function strangerAt(globalIndex: number) {
  const { spendPublic, viewPublic } = createKeys(seededRandom(`stranger ${globalIndex}`));
  return { key: spendPublic, commitment: viewPublic };
}

const indicesOf = ({ members }: Ring) => members.map(({ globalIndex }) => globalIndex);

async function ringFor(
  ledger: Ledger,
  output: OwnedOutput = owned,
  source: OutputSource = createChain(1000, 20, [output]),
): Promise<Ring> {
  const [ring] = await createRings({ inputs: [output], source, memory: memoryOf(ledger), random, threads });
  return ring!;
}

test("an output is shown in one ring only, however often it is tried", async () => {
  const ledger = emptyLedger();
  const first = await ringFor(ledger);
  assert.equal(first.members.length, RING_SIZE);
  assert.deepEqual(await ringFor(ledger), first);
  assert.notDeepEqual(indicesOf(await ringFor(emptyLedger())), indicesOf(first));
});

test("the node is asked for the earlier ring among other outputs", async () => {
  const ledger = emptyLedger();
  const chain = createChain(1000, 20, [owned]);
  const asked: number[] = [];
  const outputs: OutputSource["outputs"] = (names) => {
    asked.push(...names.map(({ globalIndex }) => globalIndex));
    return chain.outputs(names);
  };
  const ring = await ringFor(ledger);
  await ringFor(ledger, owned, { ...chain, outputs });
  assert.ok(indicesOf(ring).every((index) => asked.includes(index)));
  assert.ok(asked.length > 2 * RING_SIZE);
});

test("a ring takes what was picked first, and the node is not told the order", async () => {
  const chain = createChain(1000, 20, [owned]);
  const { cumulative } = await chain.hiddenCounts();
  const wanted = { cumulative, real: 4000, earlierRing: [], count: 75 };
  const picked = pickCandidates(wanted, seededRandom("order"));
  const locked = new Set([picked[2], picked[9]]);
  const asked: number[] = [];
  const outputs: OutputSource["outputs"] = async (names) => {
    asked.push(...names.map(({ globalIndex }) => globalIndex));
    const answers = await chain.outputs(names);
    return answers.map((answer, i) => {
      const { globalIndex } = names[i]!;
      if (globalIndex === 4000) return answer;
      return { ...answer, ...strangerAt(globalIndex), unlocked: !locked.has(globalIndex) };
    });
  };
  const source = { ...chain, outputs };
  const memory: RingMemory = { ringOf: () => undefined, remember: async () => undefined };
  const [ring] = await createRings({
    inputs: [owned],
    source,
    memory,
    random: seededRandom("order"),
    threads,
  });
  const first = picked.filter((index) => !locked.has(index)).slice(0, RING_SIZE);
  const ascending = (indices: readonly number[]) => [...indices].sort((a, b) => a - b);
  assert.deepEqual(indicesOf(ring!), ascending(first));
  assert.deepEqual(asked, ascending(picked));
});

test("rings survive closing the wallet", async () => {
  const folder = await mkdtemp(join(tmpdir(), "anulo-rings-"));
  const options = { path: join(folder, "store"), secret: new Uint8Array(32), network: "regtest" } as const;
  try {
    const ledger = emptyLedger();
    let log = await createStore(options, ledger);
    const memory: RingMemory = {
      ...memoryOf(ledger),
      remember: (rings) => log.append({ kind: "rings", rings }),
    };
    const chain = createChain(1000, 20, [owned]);
    const [ring] = await createRings({ inputs: [owned], source: chain, memory, random, threads });
    await log.close();
    let opened = await openStore(options, settings);
    assert.deepEqual(opened.ledger.state.rings.get(toHex(owned.oneTimeKey)), indicesOf(ring!));
    await opened.log.close();
    // And where the picture is written anew.
    log = await createStore(options, opened.ledger);
    await log.close();
    opened = await openStore(options, settings);
    await opened.log.close();
    assert.deepEqual(indicesOf(await ringFor(opened.ledger)), indicesOf(ring!));
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("a ring is forgotten once its output is spent for good", async () => {
  const ledger = emptyLedger();
  ledger.state.outputs.push({ ...owned });
  await ringFor(ledger);
  const txHash = random(32);
  const payment: OutgoingPayment = {
    state: "confirmed",
    txHash,
    blob: new Uint8Array(1),
    amountIn: 5n,
    amountOut: 4n,
    change: 0n,
    destinations: [],
    paymentId: new Uint8Array(32),
    account: 0,
    subaddressIndices: [0],
    keyImages: [owned.keyImage!],
    unlockTime: 0n,
    createdAt: 0,
    timestamp: 0,
    height: 10,
  };
  applyChange(ledger, { kind: "outgoing", payment, txKeys: [] });
  const upTo = (height: number): WalletChange => {
    const { height: fromHeight } = ledger.state;
    const count = height - fromHeight;
    return { kind: "blocks", fromHeight, count, ids: [], lastBlockReward: 0n, transactions: [] };
  };
  applyChange(ledger, upTo(109));
  assert.equal(ledger.state.rings.size, 1);
  applyChange(ledger, upTo(110));
  assert.equal(ledger.state.rings.size, 0);
});

test("an output of a visible amount hides among its likes", async () => {
  const visible = { ...owned, rct: false, mask: Uint8Array.of(1, ...new Uint8Array(31)) };
  const chain = createChain(1000, 20, [visible]);
  const outputs: OutputSource["outputs"] = (names) => {
    assert.ok(names.every(({ amount }) => amount === 5n));
    return chain.outputs(names);
  };
  const ring = await ringFor(emptyLedger(), visible, { ...chain, outputs });
  assert.equal(ring.members[ring.realIndex]!.globalIndex, 4000);
});

test("the node is not asked about the amounts of hidden outputs", async () => {
  const other = receive(keys, { amount: 7n, globalIndex: 4020, height: 201 }, random);
  const visible = { ...other, rct: false, mask: Uint8Array.of(1, ...new Uint8Array(31)) };
  const chain = createChain(1000, 20, [owned, visible]);
  const asked: bigint[] = [];
  const source: OutputSource = {
    ...chain,
    visibleCounts: (amounts) => {
      asked.push(...amounts);
      return chain.visibleCounts(amounts);
    },
  };
  await ringFor(emptyLedger(), owned, source);
  assert.deepEqual(asked, []);
  await createRings({ inputs: [owned, visible], source, memory: memoryOf(emptyLedger()), random, threads });
  assert.deepEqual(asked, [7n]);
});

test("where fewer outputs share a visible amount than a ring needs, there is none", async () => {
  const visible = { ...owned, globalIndex: 3n, rct: false, mask: Uint8Array.of(1, ...new Uint8Array(31)) };
  const chain = createChain(1000, 20, [visible]);
  const few = {
    ...chain,
    visibleCounts: async () => new Map([[5n, { unlocked: RING_SIZE - 1, recent: 0 }]]),
  };
  await assert.rejects(ringFor(emptyLedger(), visible, few), { code: -19 });
  const none = { ...chain, visibleCounts: async () => new Map() };
  await assert.rejects(ringFor(emptyLedger(), visible, none), /no unlocked outputs/);
});

test("rings that a node which looks for unusual ones would refuse are not taken", async () => {
  const PER_BLOCK = 20;
  const from = (first: number) => Array.from({ length: RING_SIZE }, (_, i) => first + i);
  /** Makes rings of outputs that were used before; a node that is not trusted must see the same ones again. */
  const take = async (former: readonly (readonly number[])[], isTrusted = false) => {
    const inputs = former.map((indices, i) => {
      const globalIndex = indices[(i % 2) * (RING_SIZE - 1)]!;
      return receive(keys, { amount: 5n, globalIndex, height: Math.floor(globalIndex / PER_BLOCK) }, random);
    });
    const rings = new Map(inputs.map(({ oneTimeKey }, i) => [toHex(oneTimeKey), former[i]!]));
    const memory: RingMemory = { ringOf: (key) => rings.get(key), remember: async () => undefined };
    const source = { ...createChain(1000, PER_BLOCK, inputs), isTrusted };
    return (await createRings({ inputs, source, memory, random, threads })).map(indicesOf);
  };
  // Four fifths of all members differ, rounded down: 25 of 32.
  const overlapping = [from(15_000), from(15_009)];
  assert.deepEqual(await take(overlapping), overlapping);
  const refused = [from(15_000), from(15_008)];
  await assert.rejects(take(refused), /sanity check failed/);
  const [first] = await take(refused, true);
  assert.notDeepEqual(first, refused[0], "others take the place of those that are too much alike");
  // The median of 20,000 outputs' members is at least the 12,000th; of sixteen it lies between the eighth and the ninth.
  const around = (below: number, above: number) => [
    ...from(below - 7).slice(0, 8),
    ...from(above).slice(0, 8),
  ];
  assert.deepEqual(await take([around(11_980, 12_020)]), [around(11_980, 12_020)]);
  await assert.rejects(take([around(11_979, 12_020)]), /sanity check failed/);
  // It is that of all members in order, whatever the order of the rings.
  const mixed = [from(15_000), from(5000), from(15_100)];
  assert.deepEqual(await take(mixed), mixed);
});

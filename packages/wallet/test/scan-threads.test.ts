import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  derivePublicKey,
  deriveViewTag,
  generateKeyDerivation,
  keyImageOf,
  publicKeyOf,
  scalarMult,
  subaddressSpendPublicKeys,
} from "@anulo/crypto";
import {
  type Block,
  blockId,
  genesisBlock,
  networks,
  type Transaction,
  type TxInput,
  toHex,
  transactionHash,
  writeBlock,
  writeExtra,
  writePrunedTransaction,
} from "@anulo/protocol";
import type { Daemon } from "../src/daemon.ts";
import { encodeChange } from "../src/encode-change.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { BlockWalk } from "../src/scan/block-walk.ts";
import type { ScanContext } from "../src/scan/candidates.ts";
import { createForkCheck } from "../src/scan/check-forks.ts";
import type { Follower, SiftThreads } from "../src/scan/followers.ts";
import type { PackedTransactions } from "../src/scan/raw-transaction.ts";
import { oneTimeSecret } from "../src/scan/scan-transaction.ts";
import type { Sifted } from "../src/scan/sift.ts";
import { SubaddressTable } from "../src/scan/subaddress-table.ts";
import type { SubaddressIndex } from "../src/state.ts";
import { WorkThreads } from "../src/threads/work-threads.ts";
import { recordedChain } from "./recorded-node.ts";
import { PRIMARY, receiverOf, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("scan threads");
const keys = createKeys(random);
const stranger = createKeys(random);
const genesis = genesisBlock(networks.regtest);

const BLOCKS = 700;
const BLOCKS_PER_ANSWER = 250;
/** Each of our payments goes so many addresses beyond the last: none is found but by the look-ahead of the one before. */
const STEP = 4;
const lookahead = { accounts: 1, addresses: STEP + 1 };
/** What the node says of its height while it has more: a scan that long is worth many threads. */
const FAR = 1_000_000;

/** A transaction that pays one output to an address. */
function pay(to: typeof keys, subaddress: SubaddressIndex, input: TxInput) {
  const { spendPublic, isSubaddress } = receiverOf(to, subaddress);
  const secret = random(32);
  secret[31]! &= 0x0f;
  const publicKey = isSubaddress ? scalarMult(secret, spendPublic) : publicKeyOf(secret);
  const derivation = generateKeyDerivation(publicKey, to.viewSecret);
  const target = { key: derivePublicKey(derivation, 0, spendPublic), viewTag: deriveViewTag(derivation, 0) };
  const transaction: Transaction = {
    prefix: {
      version: 2,
      unlockTime: 0n,
      inputs: [input],
      outputs: [{ amount: 7n, target: { type: "taggedKey", ...target } }],
      extra: writeExtra([{ type: "publicKey", key: publicKey }]),
    },
    signatures: [],
    ringct: { type: 0 },
  };
  const image = () => {
    const own = oneTimeSecret(to, { derivation, outputIndex: 0, subaddress });
    return keyImageOf(target.key, own);
  };
  return { transaction, image };
}

type Entry = { readonly block: Block; readonly id: Uint8Array; readonly blobs: readonly Uint8Array[] };

/** Every seventh block pays us at a new address; the block after it spends that. */
function createChain(): Entry[] {
  const chain: Entry[] = [{ block: genesis, id: blockId(genesis), blobs: [] }];
  const [model] = recordedChain.slice(-1);
  let minor = 0;
  let images: Uint8Array[] = [];
  for (let height = 1; height < BLOCKS; height++) {
    const isOurs = height % 7 === 0;
    if (isOurs) minor += STEP;
    const mined = pay(
      isOurs ? keys : stranger,
      { major: 0, minor: isOurs ? minor : 0 },
      { type: "generation", height },
    );
    const spending = images.map((keyImage) => {
      const input = { type: "key" as const, amount: 0n, keyOffsets: [1n], keyImage };
      return pay(stranger, PRIMARY, input).transaction;
    });
    images = isOurs ? [mined.image()] : [];
    const block: Block = {
      header: { ...model!.block.header, previousId: chain.at(-1)!.id },
      minerTransaction: mined.transaction,
      transactionHashes: spending.map((each) => transactionHash(each)),
    };
    chain.push({ block, id: blockId(block), blobs: spending.map(writePrunedTransaction) });
  }
  return chain;
}

const honest = createChain();

/** A node of that chain; from a height on it answers no more. */
function daemonOf(chain: readonly Entry[], silentFrom = chain.length): Daemon {
  const heights = new Map(chain.map(({ id }, height) => [toHex(id), height]));
  const getBlocks = async ({ block_ids }: { block_ids: Uint8Array[] }) => {
    const from = heights.get(toHex(block_ids[0]!))!;
    if (from >= silentFrom) throw new Error("silent");
    const entries = chain.slice(from, from + BLOCKS_PER_ANSWER);
    const isLast = from + entries.length === chain.length;
    return {
      start_height: from,
      current_height: isLast ? chain.length : FAR,
      blocks: entries.map(({ block, blobs }) => ({
        ...{ pruned: true, block: writeBlock(block), txs: blobs.map((blob) => ({ blob })) },
      })),
      output_indices: entries.map(({ blobs }, i) => ({
        indices: [i, ...blobs].map(() => ({ indices: [from + i] })),
      })),
    };
  };
  return { getBlocks, address: { url: "" } } as unknown as Daemon;
}

function createContext(): ScanContext {
  const table = new SubaddressTable(lookahead);
  const cover = (index: SubaddressIndex) => {
    for (const { major, fromMinor, toMinor } of table.missingFor(index)) {
      const count = toMinor - fromMinor;
      table.add({
        major,
        fromMinor,
        keys: subaddressSpendPublicKeys({ keys, major, fromMinor, count }),
      });
    }
  };
  cover(PRIMARY);
  return { keys, table, cover, keyImages: new Map(), knownImages: new Set(), skipsCoinbase: false };
}

type Scanned = {
  readonly changes: string[];
  readonly found: number;
  readonly spent: number;
  readonly error: string;
};

/** Changes in the bytes of the journal, and the error the scan ended with. */
async function scan(daemon: Daemon, threads?: SiftThreads): Promise<Scanned> {
  const changes: string[] = [];
  let [found, spent, error] = [0, 0, ""];
  const follower: Follower = {
    context: createContext(),
    task: { history: [honest[0]!.id], height: 1, startHeight: 0, fromHeight: 0 },
    threads,
    isGone: false,
    whenReady: () => undefined,
    take: ({ change }) => {
      changes.push(toHex(encodeChange(change)));
      found += change.transactions.filter(({ received }) => received.length > 0).length;
      spent += change.transactions.filter(({ received }) => received.length === 0).length;
    },
  };
  try {
    await new Promise<unknown>((end, fail) => {
      const source = { daemon, checkForks: createForkCheck("regtest", daemon) };
      void new BlockWalk(source, { follower, end, fail }).run();
    });
  } catch (thrown) {
    error = String(thrown);
  }
  return { changes, found, spent, error };
}

/** Threads that answer newest first: all that is asked of them at a time, in reverse. */
function threadsInReverse(count: number) {
  const work = new WorkThreads();
  work.most = count;
  let asked: (() => Promise<void>)[] = [];
  let pieces = 0;
  const answerAll = async () => {
    const now = asked.reverse();
    asked = [];
    for (const answer of now) await answer();
  };
  const sift = (transactions: PackedTransactions, viewSecrets: Uint8Array<ArrayBuffer>) =>
    new Promise<readonly Sifted[] | undefined>((resolve) => {
      pieces += 1;
      if (asked.length === 0) setImmediate(() => void answerAll());
      const input = { viewSecrets, transactions };
      asked.push(() =>
        work
          .runLast("sift", input, [transactions.bytes.buffer])
          .catch(() => undefined)
          .then(resolve),
      );
    });
  return { count, sift, pieces: () => pieces };
}

describe("a scan on several threads", () => {
  it("finds byte for byte what one finds, though each address is known by the payment before", async () => {
    const alone = await scan(daemonOf(honest));
    assert.deepEqual([alone.found, alone.spent, alone.error], [99, 99, ""]);
    for (const count of [2, 3]) {
      const threads = threadsInReverse(count);
      assert.deepEqual(await scan(daemonOf(honest), threads), alone);
      assert.equal(threads.pieces(), alone.changes.length);
    }
  });

  it("keeps what came before bytes that can't be read, and tells the same of them", async () => {
    const bad = daemonOf(
      honest.map((entry, height) =>
        height < 400 || entry.blobs.length === 0 ? entry : { ...entry, blobs: [Uint8Array.of(1, 2, 3)] },
      ),
    );
    const alone = await scan(bad);
    assert.match(alone.error, /BadBytes/);
    assert.ok(alone.changes.length > 2);
    assert.deepEqual(await scan(bad, threadsInReverse(2)), alone);
  });

  it("keeps what came before a node fell silent", async () => {
    const silent = daemonOf(honest, BLOCKS_PER_ANSWER - 1);
    const alone = await scan(silent);
    assert.match(alone.error, /silent/);
    assert.equal(alone.changes.length, 3);
    assert.deepEqual(await scan(silent, threadsInReverse(2)), alone);
  });

  it("does itself what no thread can", async () => {
    const threads = { count: 2, sift: async () => undefined };
    assert.deepEqual(await scan(daemonOf(honest), threads), await scan(daemonOf(honest)));
  });

  it("leaves a short one to the thread it has", async () => {
    const threads = threadsInReverse(2);
    await scan(daemonOf(honest.slice(0, BLOCKS_PER_ANSWER)), threads);
    assert.equal(threads.pieces(), 0);
  });
});

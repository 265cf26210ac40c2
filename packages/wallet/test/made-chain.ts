/** A chain that was made for scans, and a node of it. */
import { randomFillSync } from "node:crypto";
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
import { createKeys } from "../src/keys/wallet-keys.ts";
import { KeyHashes, KeySet } from "../src/outputs/key-set.ts";
import type { SubaddressIndex } from "../src/outputs/owned-output.ts";
import type { ScanContext } from "../src/scan/candidates.ts";
import { oneTimeSecret, type ScanKeys } from "../src/scan/scan-transaction.ts";
import { SubaddressTable } from "../src/scan/subaddress-table.ts";
import { recordedChain } from "./recorded-node.ts";
import { PRIMARY, receiverOf, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("scan threads");
export const keys = createKeys(random);
export const stranger = createKeys(random);
const genesis = genesisBlock(networks.regtest);

export const BLOCKS = 700;
export const BLOCKS_PER_ANSWER = 250;
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

export type Entry = { readonly block: Block; readonly id: Uint8Array; readonly blobs: readonly Uint8Array[] };

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

export const honest = createChain();

/** A node of a chain; from a height on it answers no more. `asked`: the newest id (hex) of each question for blocks. */
export function daemonOf(
  chain: readonly Entry[],
  { silentFrom = chain.length, asked = [] }: { silentFrom?: number; asked?: string[] } = {},
): Daemon {
  const heights = new Map(chain.map(({ id }, height) => [toHex(id), height]));
  const getBlocks = async ({ block_ids }: { block_ids: Uint8Array[] }) => {
    asked.push(toHex(block_ids[0]!));
    const known = block_ids.find((id) => heights.has(toHex(id)))!;
    const from = heights.get(toHex(known))!;
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

export function createContext(of: ScanKeys = keys): ScanContext {
  const table = new SubaddressTable(lookahead);
  const cover = (index: SubaddressIndex) => {
    for (const { major, fromMinor, toMinor } of table.missingFor(index)) {
      const count = toMinor - fromMinor;
      table.add({
        major,
        fromMinor,
        keys: subaddressSpendPublicKeys({ keys: of, major, fromMinor, count }),
      });
    }
  };
  cover(PRIMARY);
  return {
    keys: of,
    table,
    cover,
    keyImages: new Map(),
    knownImages: new KeySet(new KeyHashes(randomFillSync)),
    skipsCoinbase: false,
  };
}

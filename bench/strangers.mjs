// A node, as far as a scan asks it, whose chain holds many payments between strangers.
import { randomBytes } from "node:crypto";
import { publicKeyBatch } from "@anulo/crypto";
import {
  blockId,
  genesisBlock,
  networks,
  toHex,
  writeBlock,
  writeExtra,
  writePrunedTransaction,
} from "@anulo/protocol";
import { createRpcServer, daemon, implementFor } from "@anulo/rpc";

/** The chain by default. */
const BLOCKS = 3000;
const PAYMENTS_PER_BLOCK = 25;
const BLOCKS_PER_ANSWER = 1000;
/** Different keys, taken in turn. */
const KEYS = 10_000;
const status = { status: "OK", untrusted: false };

export const PAYMENTS = BLOCKS * PAYMENTS_PER_BLOCK;

function createKeySource() {
  const secrets = new Uint8Array(32 * KEYS).map((_, i) =>
    i % 32 === 0 ? (i / 32) & 255 : i % 32 === 1 ? i >> 13 : 0,
  );
  for (let i = 0; i < KEYS; i++) secrets[32 * i + 2] = 1;
  const keys = publicKeyBatch(secrets);
  let next = 0;
  return () => {
    next = (next + 1) % KEYS;
    return keys.slice(32 * next, 32 * next + 32);
  };
}

/** A payment of two inputs and two outputs, without its proofs. */
function payment(key) {
  const keyOffsets = [50_000_000n, ...Array.from({ length: 15 }, (_, i) => BigInt(1000 + 70_000 * i))];
  const outputs = [0, 1].map(() => ({
    amount: 0n,
    target: { type: "taggedKey", key: key(), viewTag: randomBytes(1)[0] },
  }));
  return {
    prefix: {
      version: 2,
      unlockTime: 0n,
      inputs: [0, 1].map(() => ({ type: "key", amount: 0n, keyOffsets, keyImage: key() })),
      outputs,
      extra: writeExtra([{ type: "publicKey", key: key() }]),
    },
    signatures: [],
    ringct: {
      type: 6,
      fee: 30_000_000n,
      ecdhInfo: outputs.map(() => ({ amount: new Uint8Array(8) })),
      outputCommitments: outputs.map(() => key()),
    },
  };
}

const genesis = genesisBlock(networks.regtest);
const GENESIS = { block: writeBlock(genesis), id: blockId(genesis), txs: [] };

/** Adds so many blocks, each with so many payments. */
function extend(chain, key, { blocks, payments }) {
  for (let left = blocks; left > 0; left--) {
    const height = chain.length;
    const target = { type: "taggedKey", key: key(), viewTag: randomBytes(1)[0] };
    const minerTransaction = {
      prefix: {
        version: 2,
        unlockTime: BigInt(height + 60),
        inputs: [{ type: "generation", height }],
        outputs: [{ amount: 600_000_000_000n, target }],
        extra: writeExtra([{ type: "publicKey", key: key() }]),
      },
      signatures: [],
      ringct: { type: 0 },
    };
    const txs = Array.from({ length: payments }, () => ({
      blob: writePrunedTransaction(payment(key)),
      prunable_hash: new Uint8Array(32),
    }));
    const header = {
      majorVersion: 16,
      minorVersion: 16,
      timestamp: height,
      previousId: chain.at(-1).id,
      nonce: 0,
    };
    const transactionHashes = txs.map(() => new Uint8Array(randomBytes(32)));
    const block = { header, minerTransaction, transactionHashes };
    chain.push({ block: writeBlock(block), id: blockId(block), txs });
  }
}

/** Blocks from the newest of those ids on; every output's index is reported as 0. */
function answerBlocks(chain, heights, ids) {
  const from = heights.get(toHex(ids[0])) ?? 0;
  const entries = chain.slice(from, from + BLOCKS_PER_ANSWER);
  return {
    blocks: entries.map(({ block, txs }) => ({ pruned: true, block, txs })),
    output_indices: entries.map(({ txs }) => ({
      indices: [{ indices: [0] }, ...txs.map(() => ({ indices: [0, 0] }))],
    })),
    start_height: from,
    current_height: chain.length,
    credits: 0,
    top_hash: "",
    ...status,
  };
}

/** `extend` adds blocks to its chain. */
export async function startStrangers({ blocks = BLOCKS, payments = PAYMENTS_PER_BLOCK } = {}) {
  const key = createKeySource();
  const chain = [GENESIS];
  const heights = new Map([[toHex(GENESIS.id), 0]]);
  const grow = (some) => {
    const from = chain.length;
    extend(chain, key, some);
    for (let height = from; height < chain.length; height++) heights.set(toHex(chain[height].id), height);
  };
  grow({ blocks: blocks - 1, payments });
  const { getBlocksBin, getHeight } = daemon.blocks;
  const { getTransactionPoolHashesBin } = daemon.pool;
  const implement = implementFor();
  const server = await createRpcServer({
    listen: [{ host: "127.0.0.1", port: 0 }],
    context: () => undefined,
    calls: [
      ...implement(
        { getBlocksBin, getHeight },
        {
          getBlocksBin: ({ block_ids }) => answerBlocks(chain, heights, block_ids),
          getHeight: () => ({ hash: toHex(chain.at(-1).id), height: chain.length, ...status }),
        },
      ),
      ...implement(
        { getTransactionPoolHashesBin },
        {
          getTransactionPoolHashesBin: () => ({ tx_hashes: [], credits: 0, top_hash: "", ...status }),
        },
      ),
    ],
  });
  const { port } = new URL(server.urls[0]);
  return { port: Number(port), extend: grow, stop: () => server.stop(0) };
}

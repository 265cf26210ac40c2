import type { Checkpoint } from "@anulo/consensus";
import { networks, parseAddress } from "@anulo/protocol";
import { acceptBlock } from "../src/chain/chain.ts";
import { readIncomingBlock } from "../src/chain/incoming-block.ts";
import { type OpenChain, type OpenChainOptions, openChain } from "../src/chain/open-chain.ts";
import type { ChainParts } from "../src/chain/parts.ts";
import { createNode } from "../src/index.ts";
import { generateBlocks } from "../src/mining/generate-blocks.ts";
import { admit } from "../src/pool/admit.ts";
import { createPow } from "../src/pow/pow.ts";
import { createVerifiers } from "../src/verify-workers/verifiers.ts";
import { goldenState, type RecordedBlock } from "./recorded-chains.ts";

/** A moment after the recorded chains were made; Unix seconds. */
export const now = () => 1_795_360_000;

/** Hashes for the tests; at difficulty 1 nothing is hashed and no process started. */
export const pow = createPow({ threads: 1 });

/** A regtest node that mines at once, with a port for its owner and one for strangers. */
export const createPublicNode = () =>
  createNode({
    network: "regtest",
    fixedDifficulty: 1n,
    verifyThreads: 0,
    offline: true,
    now,
    listen: [
      { host: "127.0.0.1", port: 0 },
      { host: "127.0.0.1", port: 0, restricted: true },
    ],
  });

/** An empty regtest chain, in a temporary file unless a path is given. */
export function emptyChain(
  path?: string,
  fixedDifficulty = 1n,
  checkpoints?: readonly Checkpoint[],
): Promise<OpenChain> {
  const { discharge } = createVerifiers({ threads: 0, pow });
  return openChain({ network: networks.regtest, path, fixedDifficulty, checkpoints, discharge, now });
}

/** The same in a file if one is named, with further options of opening it. */
export function chainIn(
  path: string | undefined,
  options: Partial<OpenChainOptions> = {},
): Promise<OpenChain> {
  const { discharge } = createVerifiers({ threads: 0, pow });
  return openChain({ network: networks.regtest, path, fixedDifficulty: 1n, discharge, now, ...options });
}

/** The same with so much room (bytes) for transactions that wait. */
export function emptyChainWithPool(maxPoolWeight: number): Promise<OpenChain> {
  const { discharge } = createVerifiers({ threads: 0, pow });
  return openChain({ network: networks.regtest, fixedDifficulty: 1n, discharge, now, maxPoolWeight });
}

/** The same with another hard fork from this height on. */
export function emptyChainWithFork(version: number, height: number, path?: string): Promise<OpenChain> {
  const { discharge } = createVerifiers({ threads: 0, pow });
  const hardForks = [...networks.regtest.hardForks, { version, height, time: 3 }];
  return openChain({
    network: { ...networks.regtest, hardForks },
    path,
    fixedDifficulty: 1n,
    discharge,
    now,
  });
}

/** Sends each block's transactions and then the block. */
export async function loadBlocks(parts: ChainParts, blocks: readonly RecordedBlock[]): Promise<void> {
  for (const { blob, transactions } of blocks) {
    for (const tx of transactions) await admit(parts, { blob: tx, doNotRelay: false });
    await acceptBlock(parts, readIncomingBlock(blob));
  }
}

/** The miner of the tests: wallet a of the golden recordings. */
export const minerKeys = parseAddress(goldenState().wallets.a.address);

/** Mines blocks on the top or on a given block; their ids. */
export async function mine(
  parts: ChainParts,
  count: number,
  previousId?: Uint8Array,
): Promise<readonly Uint8Array[]> {
  const order = { keys: minerKeys, extraNonce: new Uint8Array(1), count, startingNonce: 0, previousId };
  return (await generateBlocks(parts, order, pow)).ids;
}

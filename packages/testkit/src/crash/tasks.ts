import { setTimeout } from "node:timers/promises";
import { call, post } from "@anulo/devnet";
import { fromHex, readTransaction, toHex, transactionHash } from "@anulo/protocol";
import type { RecordedChain } from "../fixtures.ts";
import type { Acknowledged } from "./acknowledged.ts";
import type { Chance } from "./chance.ts";

/** What a node is doing when it is killed. */
export interface TaskInput {
  readonly url: string;
  readonly chance: Chance;
  readonly chain: RecordedChain;
  /** Filled with what the node answers for. */
  readonly acknowledgements: Acknowledged;
}

/** Works until the node is gone, which ends it with an error, or until there is nothing left to do. */
export type Task = (input: TaskInput) => Promise<void>;

const idsOf = (blocks: unknown): string[] => (Array.isArray(blocks) ? blocks.map(String) : []);

async function heightOf(url: string): Promise<number> {
  return Number((await call(url, "get_info")).height);
}

interface Generation {
  readonly amount: number;
  readonly previous?: string;
}

async function generate(input: TaskInput, { amount, previous }: Generation): Promise<string[]> {
  const answer = await call(input.url, "generateblocks", {
    amount_of_blocks: amount,
    wallet_address: input.chain.wallets.alice.address,
    ...(previous !== undefined && { prev_block: previous }),
  });
  const ids = idsOf(answer.blocks);
  input.acknowledgements.blocks.push(...ids);
  return ids;
}

/** Mines on the top. */
const mine: Task = async (input) => {
  for (;;) await generate(input, { amount: input.chance.between(1, 12) });
};

/** Mines branches from below the top until they are the main chain. */
const reorganise: Task = async (input) => {
  const { url, chance } = input;
  for (;;) {
    const height = await heightOf(url);
    const depth = chance.between(1, Math.max(1, Math.min(8, height - 2)));
    if (height < 4) {
      await generate(input, { amount: 3 });
      continue;
    }
    const { block_header } = await call(url, "get_block_header_by_height", { height: height - 1 - depth });
    let previous = String((block_header as { hash: string }).hash);
    for (let i = 0; i <= depth; i++) {
      const ids = await generate(input, { amount: 1, previous });
      previous = ids.at(-1) ?? previous;
    }
  }
};

/** True where the node answers for the transaction from now on. */
async function send({ url, acknowledgements }: TaskInput, hex: string): Promise<boolean> {
  const { status } = await post(`${url}/send_raw_transaction`, { tx_as_hex: hex, do_sanity_checks: false });
  if (status !== "OK") return false;
  acknowledgements.transactions.push(toHex(transactionHash(readTransaction(fromHex(hex)))));
  return true;
}

/** Hands over the recorded chain, each block after its transactions. */
const feed: Task = async (input) => {
  const { url, chain, acknowledgements } = input;
  const height = await heightOf(url);
  for (const [i, { blob, txs }] of chain.blocks.slice(height - 1).entries()) {
    const hash = chain.hashes[height - 1 + i]!;
    for (const hex of txs)
      if (!(await send(input, hex))) throw new Error(`block ${hash}: transaction refused`);
    const { status } = await call(url, "submit_block", [blob]);
    if (status !== "OK") throw new Error(`block ${hash} refused: ${status}`);
    acknowledgements.blocks.push(hash);
  }
};

/** Sends the recorded transactions that wait for a block; only the whole recorded chain can take them. */
const sendAll: Task = async (input) => {
  for (const { hex } of input.chain.poolTransactions) await send(input, hex);
};

/** The recorded chain first; when all of it is there, the transactions on top of it. */
const sync: Task = async (input) => {
  await feed(input);
  await sendAll(input);
};

/** Looks on while the node fetches the chain from a peer: what it says it has, it must have. */
const fetch: Task = async ({ url, acknowledgements }) => {
  for (;;) {
    const { top_block_hash } = await call(url, "get_info");
    const top = String(top_block_hash);
    if (acknowledgements.blocks.at(-1) !== top) acknowledgements.blocks.push(top);
    await setTimeout(GLANCE_MS);
  }
};

const GLANCE_MS = 5;

export const tasks = { mine, reorganise, sync, fetch } as const satisfies { readonly [name: string]: Task };

import { call, post } from "@anulo/devnet";
import type { Chance } from "./chance.ts";

/** What a node has answered for: it must have it for ever. Ids are hexadecimal. */
export interface Acknowledged {
  readonly blocks: string[];
  readonly transactions: string[];
}

/** Older blocks looked at after a restart, beside those of the last round. */
const SAMPLE = 30;

export interface LossCheck {
  readonly url: string;
  readonly acknowledgements: Acknowledged;
  /** How much was known before the last round. */
  readonly before: { readonly blocks: number; readonly transactions: number };
  readonly chance: Chance;
}

async function checkBlock(url: string, hash: string): Promise<void> {
  await call(url, "get_block_header_by_hash", { hash }).catch((error: unknown) => {
    throw new Error(`the node has lost block ${hash}, which it had acknowledged`, { cause: error });
  });
}

/** Asks for everything of the last round and for a sample of what came before; throws for what is lost. */
export async function checkNothingLost({ url, acknowledgements, before, chance }: LossCheck): Promise<void> {
  for (const hash of acknowledgements.blocks.slice(before.blocks)) await checkBlock(url, hash);
  for (let i = 0; i < Math.min(SAMPLE, before.blocks); i++)
    await checkBlock(url, chance.pick(acknowledgements.blocks));
  const txs_hashes = acknowledgements.transactions.slice(before.transactions);
  if (txs_hashes.length === 0) return;
  const { missed_tx = [] } = await post(`${url}/get_transactions`, { txs_hashes });
  if (Array.isArray(missed_tx) && missed_tx.length > 0) {
    throw new Error(`the node has lost transactions it had acknowledged: ${missed_tx.join(" ")}`);
  }
}

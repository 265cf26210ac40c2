import { fromHex, readBlock, toHex } from "@anulo/protocol";
import { call, type Exact, type ExactObject, post } from "@anulo/testkit";
import { describeBlock } from "./describe.ts";
import type { ErasFixture, ErasTrial } from "./fixture.ts";
import { tryBlock, tryTransaction } from "./judge.ts";
import { forkHeights } from "./plan.ts";
import { strangeBlocks } from "./strange-blocks.ts";
import { strangeTransactions } from "./strange-transactions.ts";

/** What a node said otherwise than the real program did, in words; and how much was compared. */
export type Walk = {
  readonly blocks: string[];
  readonly answers: string[];
  readonly transactions: string[];
  readonly strangeBlocks: string[];
  readonly counts: {
    blocks: number;
    transactions: number;
    answers: number;
    verdicts: number;
    blockVerdicts: number;
  };
};

export type WalkOptions = {
  /** Whether strange transactions and blocks are tried at a height; by default at all that were recorded. */
  readonly isTried?: (height: number) => boolean;
  /** Done after each trial. */
  readonly afterTrial?: () => Promise<void>;
};

/** Leads a new node along the chain of eras, asking on the way all the real program was asked. */
export async function walkEras(url: string, eras: ErasFixture, options: WalkOptions = {}): Promise<Walk> {
  const { isTried = () => true, afterTrial } = options;
  const walk: Walk = {
    ...{ blocks: [], answers: [], transactions: [], strangeBlocks: [] },
    counts: { blocks: 0, transactions: 0, answers: 0, verdicts: 0, blockVerdicts: 0 },
  };
  for (let height = 1; height <= eras.blocks.length + 1; height++) {
    const trial = eras.trials.find((one) => one.height === height);
    if (trial !== undefined && isTried(height)) {
      await tryTransactions(url, { eras, trial, walk });
      await tryStrangeTransactions(url, { eras, trial, walk });
      await tryBlocks(url, { eras, trial, walk });
      await afterTrial?.();
    }
    await compareAnswers(url, { eras, height, walk });
    if (height <= eras.blocks.length) await addBlock(url, { eras, height, walk });
  }
  return walk;
}

/** Two blocks of each era whose proof of work is hashed too. */
const hashedHeights = new Set(forkHeights.flatMap((height) => [height - 1, height]));

type Step = { readonly eras: ErasFixture; readonly walk: Walk };

async function addBlock(url: string, { eras, height, walk }: Step & { height: number }): Promise<void> {
  const { blob, transactions, header, described } = eras.blocks[height - 1]!;
  for (const tx_as_hex of transactions) {
    const answer = await post(`${url}/send_raw_transaction`, { tx_as_hex, do_sanity_checks: false });
    if (answer.status !== "OK") throw new Error(`transaction at ${height}: ${JSON.stringify(answer)}`);
  }
  await call(url, "submit_block", [blob]);
  if ((await describeBlock(url, height)) !== described)
    walk.blocks.push(`block ${height} is described otherwise`);
  const params = { height, fill_pow_hash: hashedHeights.has(height) };
  const { block_header } = await call(url, "get_block_header_by_height", params);
  const fields = params.fill_pow_hash ? [...headerFields, "pow_hash"] : headerFields;
  walk.blocks.push(...differences(`header ${height}`, header, block_header as ExactObject, fields));
  walk.counts.blocks++;
  walk.counts.transactions += transactions.length;
}

async function compareAnswers(url: string, { eras, height, walk }: Step & { height: number }): Promise<void> {
  for (const { method, params, answer } of eras.answers.filter((one) => one.height === height)) {
    const own = await call(url, method, params);
    const fields = method === "get_info" ? infoFields : Object.keys(answer);
    walk.answers.push(...differences(`${method} at ${height}`, answer, own, fields));
    walk.counts.answers++;
  }
}

/** Fields of a header that the chain decides; the rest depends on when one asks. */
const headerFields = [
  ...["block_size", "block_weight", "cumulative_difficulty", "cumulative_difficulty_top64", "difficulty"],
  ...["difficulty_top64", "hash", "height", "long_term_weight", "major_version", "miner_tx_hash"],
  ...["minor_version", "nonce", "num_txes", "prev_hash", "reward", "timestamp", "wide_difficulty"],
  ...["wide_cumulative_difficulty", "orphan_status"],
];

const infoFields = [
  ...["block_size_limit", "block_size_median", "block_weight_limit", "block_weight_median"],
  ...["cumulative_difficulty", "difficulty", "height", "nettype", "stagenet", "target", "top_block_hash"],
  ...["tx_count", "wide_cumulative_difficulty", "mainnet", "testnet", "alt_blocks_count"],
];

function differences(what: string, real: ExactObject, own: ExactObject, fields: readonly string[]): string[] {
  return fields
    .filter((field) => text(real[field]) !== text(own[field]))
    .map((field) => `${what}: ${field} is ${text(own[field])}, not ${text(real[field])}`);
}

function text(value: Exact | undefined): string {
  return JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part)) ?? "missing";
}

type Trial = Step & { readonly trial: ErasTrial };

/** Before a fork, those the fork makes a difference to. */
async function tryTransactions(url: string, { eras, trial, walk }: Trial): Promise<void> {
  const after = eras.trials.find(({ height }) => height === trial.height + 1);
  for (const [i, expected] of trial.transactions.entries()) {
    if (after !== undefined && after.transactions[i] === expected) continue;
    const { name, blob } = eras.specimens[i]!;
    const verdict = await tryTransaction(url, blob);
    walk.counts.verdicts++;
    if (verdict !== expected) {
      walk.transactions.push(`at ${trial.height}, ${name}: "${verdict}", not "${expected}"`);
    }
  }
}

async function tryStrangeTransactions(url: string, { eras, trial, walk }: Trial): Promise<void> {
  const strange = strangeTransactions(eras.specimens);
  for (const [name, expected] of Object.entries(trial.strangeTransactions)) {
    const verdict = await tryTransaction(url, strange[name]!);
    walk.counts.verdicts++;
    if (verdict !== expected)
      walk.transactions.push(`at ${trial.height}, ${name}: "${verdict}", not "${expected}"`);
  }
}

async function tryBlocks(url: string, { eras, trial, walk }: Trial): Promise<void> {
  const below = eras.blocks.slice(0, trial.height - 1).map(({ blob }) => readBlock(fromHex(blob)));
  const bench = {
    good: fromHex(trial.good),
    timestamps: below.slice(-60).map(({ header }) => header.timestamp),
    minedId: fromHex(String(eras.blocks[trial.height - 21]!.header.miner_tx_hash)),
  };
  for (const [name, blob] of Object.entries(strangeBlocks(bench))) {
    const verdict = await tryBlock(url, toHex(blob));
    const expected = trial.blocks[name];
    walk.counts.blockVerdicts++;
    if (verdict !== expected) {
      walk.strangeBlocks.push(`at ${trial.height}, ${name}: "${verdict}", not "${expected}"`);
    }
  }
}

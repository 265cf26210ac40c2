import { fromHex, readBlock, toHex } from "@anulo/protocol";
import { call, type Exact, type ExactObject, sendTransaction } from "@anulo/testkit";
import { describeBlock, describeTemplate } from "./describe.ts";
import type { ErasBlock, ErasFixture, ErasTrial } from "./fixture.ts";
import { createLedger } from "./forge/ledger.ts";
import { tryBlock, tryTransaction } from "./judge.ts";
import { forkHeights } from "./plan.ts";
import { ask } from "./questions.ts";
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

/** A strange transaction or block, in hex. */
export type Attempt = { readonly name: string; readonly blob: string };

export type WalkOptions = {
  /** How a block (hex) is given to the node with its transactions; by default by RPC, those first. */
  readonly give?: (block: ErasBlock) => Promise<void>;
  /** Whether strange transactions and blocks are tried at a height; by default at all that were recorded. */
  readonly isTried?: (height: number) => boolean;
  /** Whether an answer to a transaction or block is the one to give where this was recorded; by default no other is. */
  readonly isDue?: (verdict: string, recorded: string, attempt: Attempt) => boolean;
  /** Done after each trial. */
  readonly afterTrial?: () => Promise<void>;
  /** Height of the first block to add; those below are there. */
  readonly from?: number;
  /** Height of the last block to add. */
  readonly to?: number;
};

/** Leads a new node along the chain of eras, asking on the way all the real program was asked. */
export async function walkEras(url: string, eras: ErasFixture, options: WalkOptions = {}): Promise<Walk> {
  const { isTried = () => true, afterTrial, from = 1, to = eras.blocks.length + 1 } = options;
  const isDue = options.isDue ?? ((verdict, recorded) => verdict === recorded);
  const give = options.give ?? ((block: ErasBlock) => sendBlock(url, block));
  const walk: Walk = {
    blocks: [],
    answers: [],
    transactions: [],
    strangeBlocks: [],
    counts: { blocks: 0, transactions: 0, answers: 0, verdicts: 0, blockVerdicts: 0 },
  };
  for (let height = from; height <= to; height++) {
    const trial = eras.trials.find((one) => one.height === height);
    if (trial !== undefined && isTried(height)) {
      await tryTransactions(url, { eras, trial, walk, isDue });
      await tryStrangeTransactions(url, { eras, trial, walk, isDue });
      await tryTemplate(url, { eras, trial, walk });
      const { height: at, good, blocks } = trial;
      await tryBlocks(url, { eras, walk, isDue, at, good, below: at - 1, expected: blocks, what: "on top" });
      await afterTrial?.();
    }
    const siblings = eras.siblings.find((one) => one.height === height);
    if (siblings !== undefined && isTried(height)) {
      const good = eras.blocks[height - 2]!.blob;
      const { blocks: expected } = siblings;
      await tryBlocks(url, {
        eras,
        walk,
        isDue,
        at: height,
        good,
        below: height - 2,
        expected,
        what: "beside",
      });
    }
    await compareAnswers(url, { eras, height, walk });
    if (height <= eras.blocks.length) {
      await give(eras.blocks[height - 1]!);
      await compareBlock(url, { eras, height, walk });
    }
  }
  return walk;
}

/** Two blocks of each era whose proof of work is hashed too. */
const hashedHeights = new Set(forkHeights.flatMap((height) => [height - 1, height]));

type Step = { readonly eras: ErasFixture; readonly walk: Walk };
type Judging = Step & { readonly isDue: NonNullable<WalkOptions["isDue"]> };

async function sendBlock(url: string, { blob, transactions }: ErasBlock): Promise<void> {
  for (const hex of transactions) await sendTransaction(url, hex);
  await call(url, "submit_block", [blob]);
}

async function compareBlock(url: string, { eras, height, walk }: Step & { height: number }): Promise<void> {
  const { transactions, header, described } = eras.blocks[height - 1]!;
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
    const own = await ask(url, { method, params });
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
  ...["tx_count", "wide_cumulative_difficulty", "mainnet", "testnet"],
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
type TransactionTrial = Trial & Judging;

/** Before a fork, those the fork makes a difference to. */
async function tryTransactions(url: string, { eras, trial, walk, isDue }: TransactionTrial): Promise<void> {
  const after = eras.trials.find(({ height }) => height === trial.height + 1);
  for (const [i, expected] of trial.transactions.entries()) {
    if (after !== undefined && after.transactions[i] === expected) continue;
    const { name, blob } = eras.specimens[i]!;
    const verdict = await tryTransaction(url, blob);
    walk.counts.verdicts++;
    if (!isDue(verdict, expected, { name, blob })) {
      walk.transactions.push(`at ${trial.height}, ${name}: "${verdict}", not "${expected}"`);
    }
  }
}

async function tryStrangeTransactions(
  url: string,
  { eras, trial, walk, isDue }: TransactionTrial,
): Promise<void> {
  const strange = strangeTransactions(eras.specimens);
  for (const [name, expected] of Object.entries(trial.strangeTransactions)) {
    const blob = strange[name]!;
    const verdict = await tryTransaction(url, blob);
    walk.counts.verdicts++;
    if (!isDue(verdict, expected, { name, blob }))
      walk.transactions.push(`at ${trial.height}, ${name}: "${verdict}", not "${expected}"`);
  }
}

/** What a node would mine is what the real one would, and it takes that itself. */
async function tryTemplate(url: string, { trial, walk }: Trial): Promise<void> {
  const { address } = createLedger("eras");
  const template = await call(url, "get_block_template", { wallet_address: address, reserve_size: 0 });
  const described = describeTemplate(template);
  if (described !== trial.template) {
    walk.answers.push(`template at ${trial.height}: ${described}, not ${trial.template}`);
  }
  const verdict = await tryBlock(url, String(template.blocktemplate_blob), trial.height);
  if (verdict !== "OK, on top") walk.answers.push(`own template at ${trial.height}: ${verdict}`);
}

/** The original looks for the transactions of a submitted block in its pool alone. */
const differsOnPurpose = ["names a transaction of the chain"];

type BlockTrial = Judging & {
  readonly at: number;
  /** A good block, and how many blocks are below it (the first one aside). */
  readonly good: string;
  readonly below: number;
  readonly expected: Readonly<Record<string, string>>;
  readonly what: string;
};

async function tryBlocks(url: string, trial: BlockTrial): Promise<void> {
  const { eras, walk, isDue, at, good, below, expected, what } = trial;
  const timestamps = eras.blocks
    .slice(below - 60, below)
    .map(({ blob }) => readBlock(fromHex(blob)).header.timestamp);
  const minedId = fromHex(String(eras.blocks[below - 20]!.header.miner_tx_hash));
  for (const [name, blob] of Object.entries(strangeBlocks({ good: fromHex(good), timestamps, minedId }))) {
    if (what === "beside" && differsOnPurpose.includes(name)) continue;
    const verdict = await tryBlock(url, toHex(blob), at);
    walk.counts.blockVerdicts++;
    if (!isDue(verdict, expected[name]!, { name, blob: toHex(blob) })) {
      walk.strangeBlocks.push(`at ${at}, ${what}, ${name}: "${verdict}", not "${expected[name]}"`);
    }
  }
}

import { fromHex, readBlock, readTransaction, toHex, writeTransaction } from "@anulo/protocol";
import { freePorts, post } from "@anulo/testkit";
import { describeTemplate } from "../describe.ts";
import type { ErasAnswer, ErasBlock, ErasFixture, ErasSiblings, ErasTrial, Specimen } from "../fixture.ts";
import { hiddenSpecimens, visibleSpecimens, youngSpecimens } from "../forge/catalogue.ts";
import { createLedger } from "../forge/ledger.ts";
import { paymentsAt } from "../forge/payments.ts";
import { seededRandom } from "../forge/scalars.ts";
import { tryBlock, tryTransaction } from "../judge.ts";
import { chainHeight, forkHeights, siblingHeights, trialHeights } from "../plan.ts";
import { ask as askNode, questionsAt } from "../questions.ts";
import { strangeBlocks } from "../strange-blocks.ts";
import { strangeTransactions } from "../strange-transactions.ts";
import { openRealChain } from "./real-chain.ts";

/** Heights at which specimens are made: before the first fork, when hidden coins are old enough, before the twelfth. */
const visibleFrom = 98;
const hiddenFrom = 219;
/** Ring members must be ten blocks old from hard fork 12. */
const youngFrom = 338;
/** The chain is made in minutes; its clock starts long ago, so that its times are plausible. */
const secondsBefore = 60_000;

/** Makes the chain of eras on the real program. The same coins and proofs each time, but for the times of day. */
export async function recordEras(dataDir: string): Promise<ErasFixture> {
  const [port] = await freePorts(1);
  const start = Math.floor(Date.now() / 1000) - secondsBefore;
  const timestamp = (height: number) => start + height * 100;
  const open = () => openRealChain({ dataDir, forkHeights, timestamp, port: port! });
  const recorder = await createRecorder(open, timestamp);
  try {
    for (let height = 1; height < chainHeight; height++) await recorder.step(height);
    await recorder.ask(chainHeight);
    return recorder.result();
  } finally {
    await recorder.stop();
  }
}

async function createRecorder(
  open: () => ReturnType<typeof openRealChain>,
  timestamp: (height: number) => number,
) {
  let chain = await open();
  const { url } = chain.daemon;
  const ledger = createLedger("eras");
  const random = seededRandom("eras");
  const blocks: ErasBlock[] = [];
  const specimens: Specimen[] = [];
  const trials: ErasTrial[] = [];
  const siblings: ErasSiblings[] = [];
  const answers: ErasAnswer[] = [];

  const ask = async (height: number) => {
    for (const question of questionsAt(height)) {
      answers.push({ height, ...question, answer: await askNode(url, question) });
    }
  };
  const tryAll = async <T>(attempt: (one: T) => Promise<string>, all: Record<string, T>) => {
    const verdicts: Record<string, string> = {};
    for (const [name, one] of Object.entries(all)) verdicts[name] = await attempt(one);
    return verdicts;
  };
  const tryStrangeBlocks = async (good: string, below: readonly ErasBlock[]) => {
    const timestamps = below.slice(-60).map(({ blob }) => readBlock(fromHex(blob)).header.timestamp);
    const minedId = fromHex(String(below.at(-20)!.header.miner_tx_hash));
    const strange = strangeBlocks({ good: fromHex(good), timestamps, minedId });
    return tryAll((blob) => tryBlock(url, toHex(blob), blocks.length + 1), strange);
  };
  /** A daemon remembers whom it refused, and counts blocks twice that it popped: after a trial it is restarted. */
  const trial = async (height: number) => {
    const transactions: string[] = [];
    for (const { blob } of specimens) transactions.push(await tryTransaction(url, blob));
    const isFirstOfEra = forkHeights.includes(height);
    const strange = isFirstOfEra ? strangeTransactions(specimens) : {};
    const good = await chain.nextBlock(ledger.address);
    const template = await chain.ask("get_block_template", {
      wallet_address: ledger.address,
      reserve_size: 0,
    });
    trials.push({
      height,
      good,
      transactions,
      strangeTransactions: await tryAll((blob) => tryTransaction(url, blob), strange),
      blocks: await tryStrangeBlocks(good, blocks),
      template: describeTemplate(template),
    });
    await chain.stop();
    chain = await open();
    console.log(`trial at ${height}: ${transactions.filter((one) => one === "OK").length} are fine`);
  };
  const pay = async (height: number) => {
    for (const { name, transaction } of paymentsAt({ ledger, height, random, timestamp })) {
      const tx_as_hex = toHex(writeTransaction(transaction));
      const answer = await post(`${url}/send_raw_transaction`, { tx_as_hex, do_sanity_checks: false });
      if (answer.status !== "OK") console.log(`${name}: ${JSON.stringify(answer)}`);
    }
  };
  const mine = async (height: number) => {
    await chain.mine(ledger.address);
    const block = await chain.block(height);
    blocks.push(block);
    const transactions = block.transactions.map((hex) => readTransaction(fromHex(hex)));
    ledger.addBlock(readBlock(fromHex(block.blob)), transactions, height);
  };
  const trySiblings = async (height: number) => {
    const verdicts = await tryStrangeBlocks(blocks.at(-1)!.blob, blocks.slice(0, -1));
    siblings.push({ height, blocks: verdicts });
  };
  const step = async (height: number) => {
    if (height === visibleFrom) specimens.push(...visibleSpecimens(ledger, height, random));
    if (height === hiddenFrom) specimens.push(...hiddenSpecimens(ledger, height, random));
    if (height === youngFrom) specimens.push(...youngSpecimens(ledger, height, random));
    if (trialHeights.includes(height)) await trial(height);
    if (siblingHeights.includes(height)) await trySiblings(height);
    await ask(height);
    await pay(height);
    await mine(height);
  };
  return {
    ask,
    step,
    stop: () => chain.stop(),
    result: () => ({ blocks, specimens, trials, siblings, answers }),
  };
}

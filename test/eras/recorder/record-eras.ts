import { fromHex, readBlock, readTransaction, toHex, writeTransaction } from "@anulo/protocol";
import { freePorts, post } from "@anulo/testkit";
import type { ErasAnswer, ErasBlock, ErasFixture, ErasTrial, Specimen } from "../fixture.ts";
import { hiddenSpecimens, visibleSpecimens } from "../forge/catalogue.ts";
import { createLedger } from "../forge/ledger.ts";
import { paymentsAt } from "../forge/payments.ts";
import { seededRandom } from "../forge/scalars.ts";
import { tryBlock, tryTransaction } from "../judge.ts";
import { chainHeight, forkHeights, trialHeights } from "../plan.ts";
import { questionsAt } from "../questions.ts";
import { strangeBlocks } from "../strange-blocks.ts";
import { strangeTransactions } from "../strange-transactions.ts";
import { openRealChain } from "./real-chain.ts";

/** Heights at which specimens are made: before the first fork, and when hidden coins are old enough. */
const visibleFrom = 98;
const hiddenFrom = 219;
/** The chain is made in minutes; its clock starts long ago, so that its times are plausible. */
const secondsBefore = 60_000;

/** Makes the chain of eras on the real program. The same coins and proofs each time, but for the times of day. */
export async function recordEras(dataDir: string): Promise<ErasFixture> {
  const [port] = await freePorts(1);
  const start = Math.floor(Date.now() / 1000) - secondsBefore;
  const timestamp = (height: number) => start + height * 100;
  const open = () => openRealChain({ dataDir, forkHeights, timestamp, port: port! });
  const recorder = await createRecorder(open);
  try {
    for (let height = 1; height < chainHeight; height++) await recorder.step(height);
    await recorder.ask(chainHeight);
    return recorder.result();
  } finally {
    await recorder.stop();
  }
}

async function createRecorder(open: () => ReturnType<typeof openRealChain>) {
  let chain = await open();
  const { url } = chain.daemon;
  const ledger = createLedger("eras");
  const random = seededRandom("eras");
  const blocks: ErasBlock[] = [];
  const specimens: Specimen[] = [];
  const trials: ErasTrial[] = [];
  const answers: ErasAnswer[] = [];

  const ask = async (height: number) => {
    for (const { method, params } of questionsAt(height)) {
      answers.push({ height, method, params, answer: await chain.ask(method, params) });
    }
  };
  const tryAll = async <T>(attempt: (one: T) => Promise<string>, all: Record<string, T>) => {
    const verdicts: Record<string, string> = {};
    for (const [name, one] of Object.entries(all)) verdicts[name] = await attempt(one);
    return verdicts;
  };
  const strangeBlocksNow = async () => {
    const timestamps = blocks.slice(-60).map(({ blob }) => readBlock(fromHex(blob)).header.timestamp);
    const good = fromHex(await chain.nextBlock(ledger.address));
    const minedId = fromHex(String(blocks.at(-20)!.header.miner_tx_hash));
    return { good: toHex(good), strange: strangeBlocks({ good, timestamps, minedId }) };
  };
  /** A daemon remembers whom it refused, and counts blocks twice that it popped: after a trial it is restarted. */
  const trial = async (height: number) => {
    const transactions: string[] = [];
    for (const { blob } of specimens) transactions.push(await tryTransaction(url, blob));
    const isFirstOfEra = forkHeights.includes(height);
    const strange = isFirstOfEra ? strangeTransactions(specimens) : {};
    const { good, strange: bad } = await strangeBlocksNow();
    trials.push({
      height,
      good,
      transactions,
      strangeTransactions: await tryAll((blob) => tryTransaction(url, blob), strange),
      blocks: await tryAll((blob) => tryBlock(url, toHex(blob)), bad),
    });
    await chain.stop();
    chain = await open();
    console.log(`trial at ${height}: ${transactions.filter((one) => one === "OK").length} are fine`);
  };
  const pay = async (height: number) => {
    for (const { name, transaction } of paymentsAt(ledger, height, random)) {
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
  const step = async (height: number) => {
    if (height === visibleFrom) specimens.push(...visibleSpecimens(ledger, height, random));
    if (height === hiddenFrom) specimens.push(...hiddenSpecimens(ledger, height, random));
    if (trialHeights.includes(height)) await trial(height);
    await ask(height);
    await pay(height);
    await mine(height);
  };
  return { ask, step, stop: () => chain.stop(), result: () => ({ blocks, specimens, trials, answers }) };
}

// Valid inputs to begin with: the recorded chain, and the corpora of Debian's monero-tests where they are installed.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { publicKeyOf } from "../packages/crypto/dist/src/index.js";
import { fromHex } from "../packages/protocol/dist/src/index.js";
import { loadChain, loadGoldenState } from "../packages/testkit/dist/src/fixtures.js";

const DEBIAN = "/usr/share/monero/testdata/fuzz";

/** Files of one of Debian's corpora; where they must be there (`ANULO_REAL_PROGRAMS=required`), throws without. */
export function debianCorpus(name) {
  const folder = join(DEBIAN, name);
  if (existsSync(folder)) return readdirSync(folder).map((file) => readFileSync(join(folder, file)));
  if (process.env.ANULO_REAL_PROGRAMS === "required")
    throw new Error(`missing: ${folder} (Debian: monero-tests)`);
  return [];
}

const chain = loadChain();
const hex = (text) => Buffer.from(text, "hex");

export const recordedBlocks = chain.blocks.filter((_, i) => i % 40 === 0).map(({ blob }) => hex(blob));
export const recordedTransactions = chain.blocks
  .flatMap(({ txs }) => txs)
  .map(hex)
  .sort((a, b) => a.length - b.length)
  .filter((_, i) => i % 30 === 0)
  .slice(0, 12);
export const recordedChain = chain;
export const text = (...texts) => texts.map((it) => Buffer.from(it));

/** The wallets of the recordings, by name, with their keys as hex. */
export const { wallets } = loadGoldenState();

/** Keys (32 bytes each) of a recorded wallet. */
export function keysOf({ spend_key, view_key }) {
  const spendSecret = fromHex(spend_key);
  const viewSecret = fromHex(view_key);
  return {
    spendSecret,
    viewSecret,
    spendPublic: publicKeyOf(spendSecret),
    viewPublic: publicKeyOf(viewSecret),
  };
}

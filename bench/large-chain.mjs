// A regtest chain too long for any cache, the same for both programs: recorded payments, then blocks of a miner.
import { execFile } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { promisify } from "node:util";
import { Writer } from "@anulo/protocol";
import { openReader } from "@anulo/storage";
import { call, loadBlocks, loadChain, loadGoldenState, startDaemon } from "@anulo/testkit";

const run = promisify(execFile);
const BLOCKS_PER_CALL = 1000;

/** Magic number, version and length of the file's head. Source: blockchain_utilities/bootstrap_file.cpp. */
const MAGIC = 0x28721586;
const HEAD_BYTES = 1024;

/** Has our node make the chain: it mines at difficulty 1 many times faster than the original. */
async function mine(dataDir, count) {
  const node = await startDaemon({ kind: "ours" }, { dataDir });
  try {
    await loadBlocks(node.url, loadChain().blocks);
    const { address } = loadGoldenState().wallets.a;
    for (let left = count; left > 0; left -= BLOCKS_PER_CALL) {
      const amount_of_blocks = Math.min(BLOCKS_PER_CALL, left);
      await call(node.url, "generateblocks", { amount_of_blocks, wallet_address: address });
    }
  } finally {
    await node.stop();
  }
}

function sized(bytes) {
  const size = Buffer.alloc(4);
  size.writeUInt32LE(bytes.length);
  return [size, bytes];
}

function varints(...values) {
  const writer = new Writer();
  for (const value of values) writer.writeVarint(value);
  return writer.finish();
}

function fileHead(height) {
  const magic = Buffer.alloc(4);
  magic.writeUInt32LE(MAGIC);
  const version = Buffer.concat([Uint8Array.of(1, 0), varints(HEAD_BYTES)]);
  const head = Buffer.alloc(HEAD_BYTES);
  Buffer.concat([...sized(version), ...sized(varints(0, height - 1, 0))]).copy(head);
  return Buffer.concat([magic, head]);
}

/** A block with its transactions and the totals up to it. Source: blockchain_utilities/bootstrap_serialization.h. */
function blockPackage(read, height) {
  const info = read.blockInfo(height);
  const ids = Array.from({ length: info.transactionCount - 1 }, (_, i) => info.firstTransactionId + 1 + i);
  const transactions = ids.flatMap((id) => [read.prunedTransaction(id), read.prunablePart(id)]);
  const { cumulativeDifficulty: difficulty } = info;
  const high = difficulty >> 64n;
  const low = BigInt.asUintN(64, difficulty);
  return Buffer.concat([
    read.blockBlob(height),
    varints(ids.length),
    ...transactions,
    varints(info.weight, high, low, info.alreadyGenerated),
  ]);
}

async function exportChain(dataDir, file) {
  const reader = openReader(join(dataDir, "regtest", "chain.mdb"));
  const out = createWriteStream(file);
  try {
    const { read } = reader;
    const height = read.height();
    out.write(fileHead(height));
    for (let at = 0; at < height; at++) {
      for (const bytes of sized(blockPackage(read, at))) out.write(bytes);
      if (out.writableNeedDrain) await new Promise((resolve) => out.once("drain", resolve));
    }
    out.end();
    await finished(out);
  } finally {
    await reader.close();
  }
}

/** Without verification: hashes of so many blocks would take a quarter of an hour. */
async function importChain(dataDir, file) {
  const flags = ["--regtest", "--keep-fakechain", "--fixed-difficulty", "1", "--data-dir", dataDir];
  const how = ["--dangerous-unverified-import", "1", "--batch-size", "5000", "--check-updates", "disabled"];
  await run("monero-blockchain-import", [...flags, "--input-file", file, ...how, "--offline"], {
    maxBuffer: 2 ** 28,
  });
}

/** Makes the chain of both programs in a folder. */
async function makeChain(folder, { ours, native }, count) {
  const file = join(folder, "chain.raw");
  try {
    await mine(ours, count);
    await exportChain(ours, file);
    await importChain(native, file);
    rmSync(file);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

const within = (folder) => ({ ours: join(folder, "ours"), native: join(folder, "native") });

/**
 * Folders of both programs that hold the same chain of about `count` blocks; `remove` deletes them. Where `kept` names
 * a folder, the chain is looked for there, or made and left there.
 */
export async function prepareLargeChain(count, kept) {
  if (kept === undefined) {
    const folder = mkdtempSync(join(tmpdir(), "anulo-"));
    await makeChain(folder, within(folder), count);
    return { ...within(folder), remove: () => rmSync(folder, { recursive: true, force: true }) };
  }
  const folder = join(kept, String(count));
  if (!existsSync(folder)) {
    const making = `${folder}.part`;
    mkdirSync(making, { recursive: true });
    await makeChain(making, within(making), count);
    renameSync(making, folder);
  }
  return { ...within(folder), remove: () => {} };
}

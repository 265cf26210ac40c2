/**
 * Asks the real monerod about every case of the laboratory and writes its answers to
 * test/fixtures/laboratory.json.gz. By hand, when the cases change:
 * `node packages/consensus/dist/test/record-laboratory.js` (monerod 0.18.5.3 on the path).
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { genesisBlock, networks, readTransaction, toHex, transactionHash, writeBlock } from "@anulo/protocol";
import { sendTransactionFlags } from "../src/index.ts";
import { createLaboratory } from "./laboratory.ts";
import type { RecordedLaboratory, TransactionAnswer } from "./recorded-laboratory.ts";

type Json = Record<string, unknown>;

async function post(url: string, body: Json): Promise<{ http: number; answer: Json }> {
  const response = await fetch(url, { method: "POST", body: JSON.stringify(body) });
  const text = await response.text();
  return { http: response.status, answer: text.startsWith("{") ? (JSON.parse(text) as Json) : {} };
}

async function startDaemon(folder: string, port: number): Promise<ChildProcess> {
  const ports = ["--rpc-bind-port", port, "--p2p-bind-port", port + 1, "--zmq-rpc-bind-port", port + 2];
  const flags = [
    "--regtest",
    "--offline",
    "--fixed-difficulty",
    1,
    "--data-dir",
    folder,
    "--non-interactive",
  ];
  const daemon = spawn("monerod", [...flags, ...ports].map(String), { stdio: "ignore" });
  for (let attempt = 0; attempt < 100; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, 200));
    const found = await post(`http://127.0.0.1:${port}/get_height`, {}).catch(() => undefined);
    if (found?.answer.status === "OK") return daemon;
  }
  daemon.kill();
  throw new Error("monerod does not answer");
}

function createAsker(url: string) {
  const rpc = async (method: string, params: unknown) =>
    (await post(`${url}/json_rpc`, { jsonrpc: "2.0", id: "0", method, params })).answer as {
      error?: { code: number };
      result?: Json;
    };
  const send = async (blob: Uint8Array): Promise<TransactionAnswer> => {
    const body = { tx_as_hex: toHex(blob), do_not_relay: false };
    const { http, answer } = await post(`${url}/send_raw_transaction`, body);
    const flags = sendTransactionFlags.filter((flag) => answer[flag] === true);
    return { http, accepted: answer.status === "OK", flags };
  };
  const flush = async (blob: Uint8Array) => {
    await rpc("flush_txpool", { txids: [toHex(transactionHash(readTransaction(blob)))] });
  };
  const height = async () => (await post(`${url}/get_height`, {})).answer.height as number;
  const submit = async (blob: Uint8Array): Promise<number> => {
    const answer = await rpc("submit_block", [toHex(blob)]);
    return answer.error?.code ?? 0;
  };
  const pop = () => post(`${url}/pop_blocks`, { nblocks: 1 });
  return { send, flush, height, submit, pop };
}

async function record(ask: ReturnType<typeof createAsker>): Promise<RecordedLaboratory> {
  const laboratory = createLaboratory();
  const hex = (blobs: readonly Uint8Array[]) => blobs.map(toHex);
  for (const { block, transactions } of laboratory.blocks) {
    for (const transaction of transactions) {
      const answer = await ask.send(transaction);
      if (!answer.accepted) throw new Error(`chain transaction refused: ${answer.flags}`);
    }
    const code = await ask.submit(block);
    if (code !== 0) throw new Error(`chain block refused: ${code}`);
  }
  const pooled = await ask.send(laboratory.poolTransaction);
  if (!pooled.accepted) throw new Error(`pool transaction refused: ${pooled.flags}`);
  const transactions: RecordedLaboratory["transactions"] = [];
  for (const { name, blob } of laboratory.transactions) {
    const answer = await ask.send(blob);
    if (answer.accepted && name !== "already on the chain") await ask.flush(blob);
    transactions.push({ name, blob: toHex(blob), answer });
  }
  const before = await ask.height();
  const blockCases: RecordedLaboratory["blockCases"] = [];
  for (const { name, blob } of laboratory.blockCases) {
    const code = await ask.submit(blob);
    const isOnTop = (await ask.height()) > before;
    if (isOnTop) await ask.pop();
    blockCases.push({ name, blob: toHex(blob), answer: { code, isOnTop } });
  }
  return {
    source: "a chain of our own; answers of monerod 0.18.5.3 (/send_raw_transaction, submit_block)",
    genesis: toHex(writeBlock(genesisBlock(networks.regtest))),
    blocks: laboratory.blocks.map(({ block, transactions: ts }) => ({
      block: toHex(block),
      transactions: hex(ts),
    })),
    poolTransaction: toHex(laboratory.poolTransaction),
    transactions,
    blockCases,
  };
}

const folder = mkdtempSync(join(tmpdir(), "laboratory-"));
const port = randomInt(20_000, 60_000);
const daemon = await startDaemon(folder, port);
try {
  const recorded = await record(createAsker(`http://127.0.0.1:${port}`));
  const file = new URL("../../test/fixtures/laboratory.json.gz", import.meta.url);
  writeFileSync(file, gzipSync(JSON.stringify(recorded), { level: 9 }));
  for (const { name, answer } of recorded.transactions) console.log(name, JSON.stringify(answer));
  for (const { name, answer } of recorded.blockCases) console.log(name, JSON.stringify(answer));
} finally {
  daemon.kill();
  await new Promise((resolve) => daemon.once("exit", resolve));
  rmSync(folder, { recursive: true, force: true });
}

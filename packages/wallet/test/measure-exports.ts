/**
 * Measures calls about all outputs of one large wallet in an LMDB store, through a service and its HTTP: `node
 * --expose-gc packages/wallet/dist/test/measure-exports.js [OUTPUTS] [PROVEN] [FOLDER]`: a million outputs, of which as
 * many as PROVEN (100,000) have their key images signed and are proven; and the original's cache of it. The wallet is kept
 * in FOLDER, if one is named.
 */
import { execFile, execFileSync } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { promisify } from "node:util";
import { isPoint } from "@anulo/crypto";
import { createRpcServer } from "@anulo/rpc";
import { CachedFacts } from "../src/cached-facts.ts";
import { cacheOfWallet } from "../src/file/cache-of-wallet.ts";
import { LedgerRows } from "../src/file/ledger-rows.ts";
import { exists } from "../src/file/wallet-files.ts";
import { writeCache } from "../src/file/write-cache.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { coldSigningHandlers } from "../src/rpc/cold-signing.ts";
import { proofHandlers } from "../src/rpc/proofs.ts";
import { createRuntime } from "../src/runtime.ts";
import { SubaddressTable } from "../src/scan/subaddress-table.ts";
import type { WalletContext } from "../src/service.ts";
import { signerOf } from "../src/signer/signer.ts";
import type { WalletState } from "../src/state.ts";
import { network, openLarge, reportMemory, settings, writeLarge } from "./large-wallet.ts";
import { bytes } from "./many-outputs.ts";

const [outputs = 1_000_000, proven = 100_000] = process.argv.slice(2, 4).map(Number);
const [named, isWriter] = [process.argv[4], process.argv[5] === "write"];

function point(): Uint8Array {
  for (;;) {
    const key = bytes(32);
    if (isPoint(key)) return key;
  }
}

/** Sends one call, and drops the response as it comes; prints its bytes. */
const CLIENT = `
  const [url, body] = process.argv.slice(1);
  const asked = require("node:http").request(url, { method: "POST" }, (answer) => {
    let bytes = 0, begin = "";
    answer.on("data", (part) => { bytes += part.length; if (begin.length < 200) begin += part; });
    answer.on("end", () => console.log(bytes + (begin.includes('"error"') ? begin.slice(0, 200) : "")));
  });
  asked.end(body);`;

const peakMiB = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))![1]) / 1024;

/** Prints the time of some work, the longest turn of the event loop meanwhile, and the most memory that it took. */
async function watch(what: string, work: () => Promise<string>): Promise<void> {
  globalThis.gc?.();
  writeFileSync("/proc/self/clear_refs", "5");
  const before = peakMiB();
  const turns = monitorEventLoopDelay({ resolution: 1 });
  turns.enable();
  const [from, startedAt] = [process.cpuUsage(), performance.now()];
  const result = await work();
  turns.disable();
  const { user, system } = process.cpuUsage(from);
  const [wall, cpu] = [performance.now() - startedAt, (user + system) / 1000];
  const figures = [wall, cpu, turns.max / 1e6].map((ms) => ms.toFixed(0));
  const more = (peakMiB() - before).toFixed(0);
  console.log(`${what}: ${result}`);
  console.log(
    `  ${figures[0]} ms, ${figures[1]} of processor, longest turn ${figures[2]} ms; at most ${more} MiB more than ${before.toFixed(0)}`,
  );
}

async function call(url: string, method: string, params: object): Promise<void> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: "0", method, params });
  await watch(`${method} ${JSON.stringify(params)}`, async () => {
    const client = [process.execPath, ["-e", CLIENT, `${url}/json_rpc`, body]] as const;
    return `${(await promisify(execFile)(...client)).stdout.trim()} bytes`;
  });
}

/** Writes the original program's cache. */
async function writeOriginal(state: WalletState, folder: string): Promise<void> {
  const path = join(folder, "cache");
  const { spendPublic, viewPublic } = createKeys(bytes);
  const subaddresses = new SubaddressTable();
  const owner = { state, isViewOnly: false, isMultisig: false, spendPublic, viewPublic, subaddresses };
  await watch("the original's cache is written", async () => {
    const target = { path, temporary: `${path}.next`, key: bytes(32) };
    const make = (id: string) => cacheOfWallet(owner, id);
    await writeCache(target, make, async () => true);
    return `${statSync(path).size} bytes`;
  });
  await rm(path);
}

async function read(folder: string): Promise<void> {
  const store = await openLarge(folder);
  const loaded = await LedgerRows.load(store, { network, settings });
  const { state } = loaded!.ledger;
  const [moment, keys] = [{}, createKeys(bytes)];
  const wallet = {
    ...{ state, network, keys, signer: signerOf(keys, false) },
    ...{ runtime: createRuntime(), facts: new CachedFacts(() => moment) },
  };
  const context = { opened: { wallet } } as unknown as WalletContext;
  const server = await createRpcServer({
    calls: [...coldSigningHandlers, ...proofHandlers],
    listen: [{ host: "127.0.0.1", port: 0 }],
    context: () => context,
  });
  const url = server.urls[0]!;
  reportMemory("with the wallet");
  for (const count of [1000, outputs]) await call(url, "export_outputs", { all: true, count });
  state.requestedFrom = Math.max(0, outputs - proven);
  await call(url, "export_key_images", { all: false });
  const reserve = { account_index: 0, message: "m" };
  await call(url, "get_reserve_proof", { ...reserve, amount: 10 ** 9 });
  await call(url, "get_reserve_proof", { ...reserve, amount: 10 ** 10 * proven });
  await writeOriginal(state, folder);
  reportMemory("at the end");
  await server.stop();
  await wallet.runtime.threads.close();
  await store.close();
}

const folder = named ?? (await mkdtemp(join(tmpdir(), "anulo-exports-")));
if (isWriter) await writeLarge(folder, { outputs, payments: 0, key: point });
else
  try {
    const again = [process.argv[1]!, String(outputs), String(proven), folder, "write"];
    if (!(await exists(join(folder, "store"))))
      execFileSync(process.execPath, ["--max-old-space-size=4096", ...again], { stdio: "inherit" });
    await read(folder);
  } finally {
    if (named === undefined) await rm(folder, { recursive: true });
  }

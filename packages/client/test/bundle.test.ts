import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createContext, Script } from "node:vm";
import { gzipSync } from "node:zlib";
import { startDevnet } from "@anulo/devnet";
import { build } from "esbuild";
import type * as Client from "../src/index.ts";

const MAX_GZIPPED_BYTES = 30_000;
const entry = fileURLToPath(new URL("../src/index.js", import.meta.url));

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: "iife",
    globalName: "anulo",
    platform: "browser",
    target: "es2022",
    write: false,
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}

/** What a browser, Deno and Bun have too; nothing of Node.js. */
const names = [
  "fetch",
  "AbortController",
  "AbortSignal",
  "TextDecoder",
  "TextEncoder",
  "URL",
  "setTimeout",
  "clearTimeout",
  "crypto",
  "structuredClone",
] as const;
const web = Object.fromEntries(names.map((name) => [name, globalThis[name]]));

test("a bundle for browsers is small, and pays where there is nothing but fetch", async (t) => {
  const text = await bundle();
  const size = gzipSync(text, { level: 9 }).length;
  t.diagnostic(`${size} bytes gzipped, ${text.length} before`);
  assert.ok(size <= MAX_GZIPPED_BYTES, `${size} bytes`);
  assert.doesNotMatch(text, /WebAssembly|node:/);
  const context = createContext({ ...web });
  new Script(`${text}; globalThis.anulo = anulo;`).runInContext(context);
  const { createNodeClient, createWalletClient } = context.anulo as typeof Client;
  const net = await startDevnet();
  try {
    const alice = createWalletClient(net.wallets.alice.url);
    const { address } = await alice.getAddress();
    await createNodeClient(net.nodeUrl).generateBlocks({ amount_of_blocks: 80, wallet_address: address });
    await alice.refresh();
    const { bob } = net.wallets;
    const { amount } = await alice.transfer({ destinations: [{ address: bob.address, amount: 2n ** 40n }] });
    assert.equal(amount, 2n ** 40n);
  } finally {
    await net.stop();
  }
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { fromHex } from "@anulo/protocol";
import { emptyChain } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

const program = fileURLToPath(new URL("./run-node.js", import.meta.url));

/** Asks for blocks until the node is gone; each id that it returned is passed to `onAnswer`. */
async function generateUntilKilled(url: string, onAnswer: (ids: number) => void): Promise<string[]> {
  const acknowledged: string[] = [];
  const params = { amount_of_blocks: 7, wallet_address: goldenState().wallets.a.address };
  const body = JSON.stringify({ jsonrpc: "2.0", id: "0", method: "generateblocks", params });
  for (;;) {
    try {
      const answer = await fetch(`${url}/json_rpc`, { method: "POST", body });
      const { result } = (await answer.json()) as { result: { blocks: string[] } };
      acknowledged.push(...result.blocks);
      onAnswer(acknowledged.length);
    } catch {
      return acknowledged;
    }
  }
}

test("a node killed while it generates has every block it answered with", async () => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-crash-"));
  const path = join(folder, "chain.mdb");
  const all: string[] = [];
  for (let round = 1; round <= 2; round++) {
    const child = spawn(process.execPath, [program, path]);
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const exited = once(child, "exit");
    const answered = await generateUntilKilled(line.toString().trim(), (ids) => {
      if (ids >= 21 * round) child.kill("SIGKILL");
    });
    await exited;
    all.push(...answered);
    const chain = await emptyChain(path);
    const { read } = chain.parts.store;
    assert.ok(answered.length > 0);
    assert.ok(all.every((id) => read.heightOf(fromHex(id)) !== undefined));
    await chain.close();
  }
  rmSync(folder, { recursive: true, force: true });
});

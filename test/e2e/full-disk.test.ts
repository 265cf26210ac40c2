import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { checkDatabase } from "@anulo/node";
import { call, freePorts, loadChain } from "@anulo/testkit";

const anulo = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));

test("a node whose disk is full says so, ends, and has what it acknowledged", async (t) => {
  if (process.platform !== "linux") return t.skip("needs a limit on the size of files");
  const folder = mkdtempSync(join(tmpdir(), "anulo-full-"));
  const [port] = await freePorts(1);
  const flags = ["--regtest", "--offline", "--fixed-difficulty", "1", "--rpc-bind-port", `${port}`];
  const limited = `ulimit -f 2000; exec "$0" "$@"`;
  const args = ["-c", limited, process.execPath, anulo, "node", ...flags, "--data-dir", folder];
  const child = spawn("bash", args, { stdio: ["ignore", "pipe", "pipe"] });
  let complaint = "";
  child.stderr.on("data", (bytes: Buffer) => {
    complaint += bytes.toString();
  });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  let acknowledged = 0;
  const { address } = loadChain().wallets.alice;
  try {
    for (;;) {
      const { blocks } = await call(`http://127.0.0.1:${port}`, "generateblocks", {
        amount_of_blocks: 20,
        wallet_address: address,
      });
      acknowledged += (blocks as string[]).length;
    }
  } catch {}
  const [code] = await ended;
  assert.equal(code, 1, complaint);
  assert.match(complaint, /the database could not be (written|flushed)/);
  const path = join(folder, "regtest", "chain.mdb");
  const found = await checkDatabase({ path, network: "regtest" });
  assert.ok(acknowledged > 0 && found.blocks > acknowledged);
  rmSync(folder, { recursive: true, force: true });
});

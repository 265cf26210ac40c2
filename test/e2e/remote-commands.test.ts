import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startDevnet } from "@anulo/devnet";

const anulo = fileURLToPath(new URL("../../../bin/anulo.js", import.meta.url));

/** What `anulo node ..` prints, and how it ends. */
function run(...args: string[]): Promise<{ code: number; out: string; complaint: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, HOME: "/nonexistent" };
    execFile(process.execPath, [anulo, "node", ...args], { env }, (error, out, complaint) => {
      resolve({ code: error === null ? 0 : Number(error.code), out: out.trimEnd(), complaint });
    });
  });
}

test("a node that runs answers the commands of its operator", async (t) => {
  const devnet = await startDevnet();
  t.after(() => devnet.stop());
  await devnet.mine(30);
  const port = new URL(devnet.nodeUrl).port;
  const ask = async (...words: string[]) => {
    const { code, out, complaint } = await run(...words, "--rpc-bind-port", port);
    assert.deepEqual([code, complaint], [0, ""], words.join(" "));
    return out;
  };
  assert.match(await ask("status"), /^height 31 of 31 on \w+, synchronized\ntop block [0-9a-f]{64}\n/);
  assert.equal(await ask("peers"), "no peers");
  assert.match(await ask("sync"), /^height 31 of 31 \(100 %\), 0 peers/);
  assert.match(await ask("pool"), /^0 transactions, 0 bytes/);
  assert.match(await ask("fee"), /^priority 1: 0\.\d+ for each byte\npriority 2/);
  const block = await ask("block", "30");
  assert.match(block, /^height 30, \d{4}-/);
  const [, id = ""] = /^id ([0-9a-f]{64})$/m.exec(block) ?? [];
  assert.equal(await ask("block", id), block);
  assert.equal(await ask("tx", "0".repeat(64)), "neither in the chain nor in the pool");
  assert.equal(await ask("mining"), "not mining");
  assert.equal(await ask("bans"), "no bans");
  assert.equal(await ask("ban", "10.1.2.3", "60"), "10.1.2.3 is banned for 60 s");
  assert.equal(await ask("bans"), "10.1.2.3");
  assert.equal(await ask("unban", "10.1.2.3"), "10.1.2.3 is not banned");
  assert.equal(await ask("bans"), "no bans");
  assert.equal(await ask("log", "1"), "log level 1");
  assert.match(await ask("log", "+net.p2p:DEBUG"), /net\.p2p:DEBUG$/);
  assert.equal(await ask("pop", "2"), "height 29");
  assert.equal(await ask("stop"), "stopping");
  await devnet.node.stopRequested;
});

test("what cannot be asked is refused in a line, with exit code 1", async () => {
  const refused = async (...args: string[]) => {
    const { code, complaint } = await run(...args);
    assert.equal(code, 1);
    return complaint;
  };
  assert.match(await refused("nonsense"), /^anulo: unknown command: node nonsense\n/);
  assert.match(await refused("constructor"), /^anulo: unknown command: node constructor\n/);
  assert.equal(await refused("block"), "anulo: anulo node block HEIGHT|ID\n");
  assert.match(await refused("tx", "abc", "--rpc-bind-port", "1"), /ID must be 64 hexadecimal digits/);
  assert.equal(
    await refused("status", "--rpc-bind-port", "1"),
    "anulo: no node answers at http://127.0.0.1:1\n",
  );
});

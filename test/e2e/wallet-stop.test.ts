import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { call, freePorts, startWallet } from "@anulo/testkit";

/** What a service may take to end, milliseconds. */
const GRACE_MS = 10_000;

test("a wallet service that waits for a silent node saves and ends when it is told to", async (t) => {
  const [port] = await freePorts(1);
  const sockets = new Set<Socket>();
  const asked = new Promise<void>((resolve) => {
    const server = createServer((socket) => {
      sockets.add(socket.on("error", () => {}));
      resolve();
    }).listen(port, "127.0.0.1");
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
  });
  const first = await startWallet({ kind: "ours" });
  t.after(() => first.stop());
  await call(first.url, "create_wallet", { filename: "w", language: "English" });
  await call(first.url, "set_attribute", { key: "kept", value: "yes" });
  await call(first.url, "set_daemon", { address: `127.0.0.1:${port}`, ssl_support: "disabled" });
  const refreshing = call(first.url, "refresh").catch((error: Error) => error);
  await asked;
  const killed = setTimeout(() => process.kill(first.pid, "SIGKILL"), GRACE_MS);
  process.kill(first.pid, "SIGTERM");
  assert.equal(await first.ended, 0, "it had to be killed");
  clearTimeout(killed);
  assert.ok((await refreshing) instanceof Error);
  const { walletDir } = first;
  const second = await startWallet({ kind: "ours" }, { walletDir });
  t.after(() => second.stop());
  await call(second.url, "open_wallet", { filename: "w", password: "" });
  assert.equal((await call(second.url, "get_attribute", { key: "kept" })).value, "yes");
});

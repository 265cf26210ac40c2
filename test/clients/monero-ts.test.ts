import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { loadChain, type Maker, startDaemon, startWallet, type WalletOptions } from "@anulo/testkit";
import type { Order } from "./monero-ts-main.ts";

const { alice, bob } = loadChain().wallets;
const program = fileURLToPath(new URL("./monero-ts-main.js", import.meta.url));
const login = { username: "client", password: "pass word" };

async function startPrograms(t: TestContext, maker: Maker): Promise<Pick<Order, "node" | "services">> {
  const node = await startDaemon(maker);
  t.after(() => node.stop());
  const start = async (more: WalletOptions) => {
    const service = await startWallet(maker, { ...more, login: `${login.username}:${login.password}` });
    t.after(() => service.stop());
    return service.url;
  };
  const online = { daemonPort: node.port };
  const services = await Promise.all([online, online, online, online, online, {}].map(start));
  return { node: node.url, services };
}

for (const dialect of ["upstream", "contract"] as const) {
  test(`monero-ts works with both services, dialect ${dialect}`, async (t) => {
    const order: Order = {
      ...(await startPrograms(t, { kind: "ours", dialect })),
      login,
      seeds: [alice.mnemonic, bob.mnemonic],
      miner: alice.address,
      dialect,
    };
    const child = spawn(process.execPath, [program, JSON.stringify(order)], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    t.after(() => child.kill("SIGKILL"));
    let told = "";
    child.stderr.on("data", (bytes: Buffer) => {
      told = (told + bytes.toString()).slice(-4000);
    });
    const [code] = await once(child, "close");
    assert.equal(code, 0, told);
  });
}

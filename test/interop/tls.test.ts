import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { connect } from "node:tls";
import { createClient, daemonMethods } from "@anulo/rpc";
import { CallFailed, call, loadChain, startDaemon, startWallet } from "@anulo/testkit";
import { makerOf, needsRealPrograms, otherSide, type Side } from "../actors.ts";

const { alice } = loadChain().wallets;
const login = { user: "node", password: "p:a ss" };
const BLOCKS = 5;

/** SHA-256 of the certificate a service shows. */
function fingerprintAt(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false });
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      resolve(createHash("sha256").update(socket.getPeerCertificate().raw).digest("hex"));
      socket.destroy();
    });
  });
}

async function mineWithLogin(url: string): Promise<void> {
  const client = createClient(daemonMethods, url, { login, tls: { mode: "enabled", trust: "anyone" } });
  await client.generateBlocks({ amount_of_blocks: BLOCKS, wallet_address: alice.address });
  client.close();
}

/** Height a new wallet scans to, or undefined where the node cannot be had. */
async function heightBehind(side: Side, daemonPort: number, tls: readonly string[]) {
  const extra = ["--daemon-login", `${login.user}:${login.password}`];
  const wallet = await startWallet(makerOf(side, "upstream"), { daemonPort, daemonTls: tls, extra });
  try {
    const params = { filename: "w", password: "", seed: alice.mnemonic, restore_height: 0 };
    await call(wallet.url, "restore_deterministic_wallet", params);
    await call(wallet.url, "refresh", {});
    return Number((await call(wallet.url, "get_height")).height);
  } catch (error) {
    if (error instanceof CallFailed) return undefined;
    throw error;
  } finally {
    await wallet.stop();
  }
}

for (const nodeSide of ["real", "ours"] as const satisfies Side[]) {
  const walletSide = otherSide[nodeSide];
  test(
    `the wallet service (${walletSide}) reaches a node (${nodeSide}) with TLS and a login`,
    needsRealPrograms,
    async () => {
      const extra = ["--rpc-login", `${login.user}:${login.password}`];
      const daemon = await startDaemon(makerOf(nodeSide), { extra, tls: ["--rpc-ssl", "autodetect"] });
      try {
        await mineWithLogin(daemon.url);
        const known = await fingerprintAt(daemon.port);
        const pinned = ["--daemon-ssl", "enabled", "--daemon-ssl-allowed-fingerprints"];
        const heightWith = (...tls: string[]) => heightBehind(walletSide, daemon.port, tls);
        assert.equal(await heightWith(...pinned, known), BLOCKS + 1);
        assert.equal(await heightWith("--daemon-ssl", "enabled", "--daemon-ssl-allow-any-cert"), BLOCKS + 1);
        assert.equal(await heightWith("--daemon-ssl", "autodetect"), BLOCKS + 1);
        if (walletSide === "ours") assert.equal(await heightWith(...pinned, "ab".repeat(32)), undefined);
      } finally {
        await daemon.stop();
      }
    },
  );
}

test("the wallet service finds a node that speaks TLS alone", needsRealPrograms, async () => {
  const extra = ["--rpc-login", `${login.user}:${login.password}`];
  const daemon = await startDaemon(makerOf("real"), { extra, tls: ["--rpc-ssl", "enabled"] });
  try {
    await mineWithLogin(daemon.url);
    assert.equal(await heightBehind("ours", daemon.port, ["--daemon-ssl", "autodetect"]), BLOCKS + 1);
    assert.equal(await heightBehind("ours", daemon.port, ["--daemon-ssl", "disabled"]), undefined);
  } finally {
    await daemon.stop();
  }
});

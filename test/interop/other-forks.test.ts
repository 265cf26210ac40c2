/** Blocks of other hard forks than the wallet's network has: both refuse them in the same words. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { call, loadChain, type RunningWallet, startWallet } from "@anulo/testkit";
import { makerOf, mine, needsRealPrograms, onStage, type Side } from "../actors.ts";
import { ask } from "../states/states.ts";
import { type Exchange, lyingProxy } from "./lying-proxy.ts";
import { sides } from "./two-services.ts";

const BLOCKS = 5;
const { alice } = loadChain().wallets;

/** Where a node says that its chain is a private one, has it say that it is the main network's. */
const asPublic = ({ truth }: Exchange) =>
  Buffer.from(truth.toString("latin1").replace('"fakechain"', '"mainnet"'), "latin1");

test("blocks of other hard forks are refused unless a flag allows them", needsRealPrograms, (t) =>
  onStage(async (stage) => {
    const daemon = await stage.daemon("ours", "upstream");
    await mine(daemon, BLOCKS, alice.address);
    const proxy = await lyingProxy(daemon.port, asPublic);
    t.after(proxy.stop);

    /** What a new wallet receives that scans the chain. */
    const scanned = async (side: Side, daemonPort: number, extra: readonly string[]) => {
      const options = { daemonPort, extra, checksForks: true };
      const service: RunningWallet = await startWallet(makerOf(side, "upstream"), options);
      try {
        const wallet = { filename: "wallet", password: "", seed: alice.mnemonic, restore_height: 0 };
        await call(service.url, "auto_refresh", { enable: false });
        await call(service.url, "restore_deterministic_wallet", wallet);
        const told = await ask({ ...service, node: "" }, "refresh");
        return { told, again: await ask({ ...service, node: "" }, "refresh") };
      } finally {
        await service.stop();
      }
    };

    const refusal = {
      code: -1,
      message:
        "Unexpected hard fork version v16 at height 1. Make sure the node you are connected to is running the latest version",
    };
    for (const side of sides) {
      const { told, again } = await scanned(side, proxy.port, []);
      assert.deepEqual([told, again], [refusal, refusal], side);
      const allowed = await scanned(side, proxy.port, ["--allow-mismatched-daemon-version"]);
      assert.ok("result" in allowed.told && allowed.told.result.received_money === true, side);
    }
    // The original refuses these too; who has a chain of his own need not say so to ours (DIFFERENCES.md).
    const { told } = await scanned("ours", daemon.port, []);
    assert.ok("result" in told && told.result.received_money === true);
    assert.deepEqual((await scanned("real", daemon.port, [])).told, refusal);
  }),
);

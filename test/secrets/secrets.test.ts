import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, daemonMethods, walletMethods } from "@anulo/rpc";
import { CallFailed, call, formatExact } from "@anulo/testkit";
import type { WalletService } from "@anulo/wallet";
import { type Ask, exercise, type Fault } from "./exercise.ts";
import { login, passwords, raise, type Scene, secretsOf, seedOffset } from "./scene.ts";
import { seenIn } from "./traces.ts";

function asking(url: string): Ask {
  return async (key, params) => {
    try {
      return { text: formatExact(await call(url, walletMethods[key].name, params)), code: 0 };
    } catch (error) {
      if (error instanceof CallFailed) return { text: error.message, code: error.code };
      // The connection ended, or the request was none.
      return { text: String(error), code: -1 };
    }
  };
}

/** From now on whatever looks at the wallet runs into a bug. */
function breakWallet({ opened }: WalletService): void {
  const { wallet } = opened!;
  for (const name of ["state", "height", "commit", "refresh"]) {
    Object.defineProperty(wallet, name, {
      get() {
        throw new TypeError("broken by the test");
      },
    });
  }
}

async function exerciseNode({ node }: Scene): Promise<string> {
  const client = createClient(daemonMethods, node.url, { login });
  const calls = client as unknown as Record<string, (params: unknown) => Promise<unknown>>;
  const stranger = createClient(daemonMethods, node.url, { login: { ...login, user: "x" } });
  let text = String(await stranger.getHeight().catch((error: unknown) => error));
  stranger.close();
  const last = "stopDaemon";
  for (const key of [...Object.keys(daemonMethods).filter((name) => name !== last), last]) {
    try {
      text += JSON.stringify(await calls[key]!({}), (_, value) =>
        typeof value === "bigint" ? String(value) : value,
      );
    } catch (error) {
      text += String(error);
    }
  }
  client.close();
  await node.ended;
  return text;
}

test("no method, log or error tells a secret, except the answers that are there for it", async (t) => {
  const scene = await raise(t);
  const secrets = secretsOf(scene);
  const kinds = new Set(secrets.map(({ kind }) => kind));
  for (const kind of ["transaction key", "multisig key", "multisig nonce", "view key"] as const)
    assert.ok(kinds.has(kind), `no ${kind} to look for`);
  // What is looked for can be found.
  const told = await asking(scene.service.url)("queryKey", { key_type: "mnemonic" });
  assert.deepEqual(seenIn(told.text, secrets), new Set(["seed"]));

  const { service, others } = scene;
  const offset = { filename: "o", password: passwords[2], seed_offset: seedOffset, seed: "no seed at all" };
  assert.equal((await asking(service.url)("restoreDeterministicWallet", offset)).code, -1);
  const [signer, broken] = others;
  const faults: Fault[] = [];
  const play = async (player: WalletService, filename: string) => {
    const reopen = { filename, password: passwords[0] };
    faults.push(...(await exercise({ ask: asking(player.url), reopen, secrets })));
    await player.ended;
  };
  await play(signer!, "signer0");
  await play(service, "hot");
  breakWallet(broken!);
  const before = scene.said().length;
  await play(broken!, "signer1");
  assert.match(scene.said().slice(before), /broken by the test/, "no internal error was provoked");
  assert.deepEqual(faults, []);

  const toldByNode = await exerciseNode(scene);
  for (const [what, text] of [
    ["the wallet services' logs", scene.said()],
    ["the node's log", scene.nodeLog()],
    ["the node's answers", toldByNode],
  ] as const) {
    assert.ok(text.length > 1000, `${what}: nothing was said`);
    assert.deepEqual([...seenIn(text, secrets)], [], what);
  }
});

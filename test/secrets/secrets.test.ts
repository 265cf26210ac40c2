import assert from "node:assert/strict";
import { test } from "node:test";
import { createClient, daemonMethods, walletMethods } from "@anulo/rpc";
import { CallFailed, call, type Exact, type ExactObject, formatExact } from "@anulo/testkit";
import { type MethodKey, requests } from "../states/requests.ts";
import { login, passwords, raise, type Scene, secretsOf, seedOffset } from "./scene.ts";
import { formsOf, type Secret, type SecretKind, seenIn } from "./traces.ts";

/** What the answers of a method are there to tell. Whatever else tells a secret is a fault. */
const tells: { readonly [K in MethodKey]?: readonly SecretKind[] } = {
  queryKey: ["seed", "spend key", "view key", "multisig key"],
  restoreDeterministicWallet: ["seed"],
  getTxKey: ["transaction key"],
  transfer: ["transaction key"],
  transferSplit: ["transaction key"],
  sweepAll: ["transaction key"],
  sweepSingle: ["transaction key"],
  sweepDust: ["transaction key"],
  signTransfer: ["transaction key"],
  // The first round hands the others a share of the view key.
  prepareMultisig: ["view key", "multisig key"],
  makeMultisig: ["view key", "multisig key"],
};

/** Fields in which callers send secrets: tried with every secret there is, whole and damaged. */
const secretFields = new Set([
  ...["password", "old_password", "new_password", "seed", "seed_offset", "spendkey", "viewkey", "tx_key"],
  ...["ssl_private_key_path", "signature", "message", "tx_data_hex", "unsigned_txset", "hex"],
]);

/** Requests that end, lock or leave what the others need. */
const atTheEnd: readonly MethodKey[] = ["closeWallet", "stopWallet"];
/** A level of the log the test has chosen. */
const notAsked: readonly MethodKey[] = ["setLogLevel", "setLogCategories"];

type Said = { readonly method: string; readonly text: string; readonly kinds: ReadonlySet<SecretKind> };

async function ask(
  url: string,
  key: MethodKey,
  params: ExactObject,
): Promise<{ text: string; code: number }> {
  try {
    return { text: formatExact(await call(url, walletMethods[key].name, params)), code: 0 };
  } catch (error) {
    if (error instanceof CallFailed) return { text: error.message, code: error.code };
    // The connection ended, or the request was none.
    return { text: String(error), code: -1 };
  }
}

/** Damaged as by hand: one word changed, one digit less. */
function damaged(text: string): string {
  return text.includes(" ") ? text.replace(/^\S+/, "abbey") : text.slice(0, -1);
}

function textsOf(secrets: readonly Secret[]): string[] {
  return secrets.map((secret) => (typeof secret.value === "string" ? secret.value : formsOf(secret)[0]!));
}

/** Good requests, and bad ones with wrong types and misplaced secrets. */
function* variants(key: MethodKey, secrets: readonly string[]): Generator<ExactObject> {
  const good = requests[key];
  yield good;
  for (const name of Object.keys(good)) yield { ...good, [name]: {} };
  for (const name of Object.keys(good)) if (name.endsWith("s")) yield { ...good, [name]: [1, {}, "x"] };
  const names = Object.keys(walletMethods[key].params.fields ?? {}).filter((name) => secretFields.has(name));
  for (const name of names) {
    for (const secret of secrets) {
      yield { ...good, [name]: secret };
      yield { ...good, [name]: damaged(secret) };
      yield { ...good, [name]: [secret] as Exact };
    }
  }
}

/** Calls every method of the service in every way; answers what was said besides what is told on purpose. */
async function exercise(url: string, secrets: readonly Secret[]): Promise<Said[]> {
  const keys = (Object.keys(requests) as MethodKey[]).filter(
    (key) => !atTheEnd.includes(key) && !notAsked.includes(key),
  );
  const texts = textsOf([...new Map(secrets.map((secret) => [secret.kind, secret])).values()]);
  const faults: Said[] = [];
  for (const key of keys) {
    for (const params of variants(key, texts)) {
      const { text, code } = await ask(url, key, params);
      const meant = code === 0 ? (tells[key] ?? []) : [];
      const kinds = new Set([...seenIn(text, secrets)].filter((kind) => !meant.includes(kind)));
      if (kinds.size > 0) faults.push({ method: key, text: text.slice(0, 300), kinds });
    }
  }
  return faults;
}

/** From now on whatever looks at the wallet runs into a bug, until it is mended. */
function breakWallet({ service }: Scene): () => void {
  const { wallet } = service.opened!;
  const names = ["state", "height", "commit", "refresh"];
  for (const name of names) {
    Object.defineProperty(wallet, name, {
      configurable: true,
      get() {
        throw new TypeError("broken by the test");
      },
    });
  }
  return () => {
    for (const name of names) Reflect.deleteProperty(wallet, name);
  };
}

async function exerciseNode({ node }: Scene): Promise<string> {
  const client = createClient(daemonMethods, node.url, { login });
  const calls = client as unknown as Record<string, (params: unknown) => Promise<unknown>>;
  let text = "";
  for (const key of Object.keys(daemonMethods).filter((name) => name !== "stopDaemon")) {
    try {
      text += JSON.stringify(await calls[key]!({}), (_, value) =>
        typeof value === "bigint" ? String(value) : value,
      );
    } catch (error) {
      text += String(error);
    }
  }
  client.close();
  const stranger = createClient(daemonMethods, node.url, { login: { ...login, user: "x" } });
  text += String(await stranger.getHeight().catch((error: unknown) => error));
  stranger.close();
  return text;
}

test("no method, log or error tells a secret, except the answers that are there for it", async (t) => {
  const scene = await raise(t);
  const secrets = secretsOf(scene);
  const kinds = new Set(secrets.map(({ kind }) => kind));
  for (const kind of ["transaction key", "multisig key", "multisig nonce", "view key"] as const)
    assert.ok(kinds.has(kind), `no ${kind} to look for`);
  // What is looked for can be found.
  const told = await ask(scene.service.url, "queryKey", { key_type: "mnemonic" });
  assert.deepEqual(seenIn(told.text, secrets), new Set(["seed"]));

  const { url } = scene.service;
  const offset = { filename: "o", password: passwords[2], seed_offset: seedOffset, seed: "no seed at all" };
  assert.equal((await ask(url, "restoreDeterministicWallet", offset)).code, -1);
  const faults = await exercise(scene.others[0]!.url, secrets);
  faults.push(...(await exercise(url, secrets)));
  const reopen = { filename: "hot", password: passwords[0] };
  await ask(url, "openWallet", reopen);
  const mend = breakWallet(scene);
  const before = scene.said().length;
  faults.push(...(await exercise(url, secrets)));
  mend();
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

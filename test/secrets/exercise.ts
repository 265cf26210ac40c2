/** Calls of every declared method, good and bad, with secrets where they belong and where they do not. */
import { wallet, walletMethods } from "@anulo/rpc";
import type { Exact, ExactObject } from "@anulo/testkit";
import { type MethodKey, requests } from "../states/requests.ts";
import { formsOf, type Secret, type SecretKind, seenIn } from "./traces.ts";

/** What the responses of a method are there to reveal. Whatever else reveals a secret is a fault. */
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

/** Requests after which the log contains no less than before. */
const asLoud: { readonly [K in MethodKey]?: ExactObject } = {
  setLogLevel: { level: 4 },
  setLogCategories: { categories: "*:TRACE" },
};
/**
 * Every method that is declared, so that none is forgotten: first those that leave the wallet open, then those
 * that may put another in its place, in the end what ends the service.
 */
const leaving = new Set([
  "closeWallet",
  ...Object.keys(wallet.files),
  "stopWallet",
]) as ReadonlySet<MethodKey>;
const allKeys: readonly MethodKey[] = [
  ...(Object.keys(walletMethods) as MethodKey[]).filter((key) => !leaving.has(key)),
  ...leaving,
];

export type Told = { readonly text: string; readonly code: number };
/** Sends a request; answers the text of the answer, and the code of a refusal (0 for none). */
export type Ask = (key: MethodKey, params: ExactObject) => Promise<Told>;
export type Fault = {
  readonly method: string;
  readonly text: string;
  readonly kinds: ReadonlySet<SecretKind>;
};

/** Damaged as by hand: one word changed, one digit less. */
function damaged(text: string): string {
  return text.includes(" ") ? text.replace(/^\S+/, "abbey") : text.slice(0, -1);
}

function textsOf(secrets: readonly Secret[]): string[] {
  const ofEachKind = new Map(secrets.map((secret) => [secret.kind, secret])).values();
  return [...ofEachKind].map((secret) =>
    typeof secret.value === "string" ? secret.value : formsOf(secret)[0]!,
  );
}

/** Good requests, and bad ones with wrong types and misplaced secrets. */
function* variants(key: MethodKey, secrets: readonly string[]): Generator<ExactObject> {
  const good = asLoud[key] ?? requests[key];
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

export type Exercise = {
  readonly ask: Ask;
  /** Opens the wallet again once it has been closed. */
  readonly reopen: ExactObject;
  readonly secrets: readonly Secret[];
};

/**
 * Calls every method of a service in every way, to its end; returns what was printed or returned beside what is revealed on purpose.
 */
export async function exercise({ ask, reopen, secrets }: Exercise): Promise<Fault[]> {
  const texts = textsOf(secrets);
  const faults: Fault[] = [];
  for (const key of allKeys) {
    for (const params of variants(key, texts)) {
      const { text, code } = await ask(key, params);
      const meant = code === 0 ? (tells[key] ?? []) : [];
      const kinds = new Set([...seenIn(text, secrets)].filter((kind) => !meant.includes(kind)));
      if (kinds.size > 0) faults.push({ method: key, text: text.slice(0, 300), kinds });
      if (key === "closeWallet") await ask("openWallet", reopen);
    }
  }
  return faults;
}

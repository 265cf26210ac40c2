/** Asks both programs about a proof, and about everything that has been changed in it. */
import assert from "node:assert/strict";
import { BadBytes, decodeBase58, toHex } from "@anulo/protocol";
import { CallFailed, type ExactObject } from "@anulo/testkit";
import type { WalletActor } from "../actors.ts";

/** As many as the longest header has. */
const HEADER_LETTERS = "ReserveProofV2".length;

/** What a wallet says of a proof; a refusal is a verdict too. */
export async function verdictOf(
  wallet: WalletActor,
  method: string,
  params: ExactObject,
): Promise<ExactObject> {
  try {
    return await wallet.call(method, params);
  } catch (error) {
    if (error instanceof CallFailed) return { good: false, code: error.code };
    throw error;
  }
}

const changeLetter = (text: string, at: number) =>
  text.slice(0, at) + (text[at] === "2" ? "3" : "2") + text.slice(at + 1);

const swappedHeaders: { readonly [header: string]: readonly string[] } = {
  OutProofV2: ["InProofV2", "OutProofV1"],
  InProofV2: ["OutProofV2", "InProofV1"],
  SpendProofV1: ["ReserveProofV2"],
  ReserveProofV2: ["ReserveProofV1", "SpendProofV1"],
  SigV2: ["SigV1", "SigV3"],
};

/** The bytes of a proof's text behind its header as hexadecimal; undefined where they are none. */
function hexOf(text: string): string | undefined {
  try {
    return toHex(decodeBase58(text.slice(HEADER_LETTERS)));
  } catch (error) {
    if (error instanceof BadBytes) return undefined;
    throw error;
  }
}

/** A reserve proof with bytes behind its end: the original reads no further than the proof goes (DIFFERENCES.md). */
function isOnlyLonger(changed: string, proof: string): boolean {
  if (!proof.startsWith("ReserveProofV2") || !changed.startsWith("ReserveProofV2")) return false;
  return hexOf(changed)?.startsWith(hexOf(proof)!) === true;
}

/** Changes of a proof's text by name: letters in every part, lengths, headers. */
export function changedTexts(proof: string): [name: string, changed: string][] {
  const { length } = proof;
  const places = [length - 100, length - 60, length - 30, length - 2, length >> 1];
  const letters = [...new Set(places)]
    .filter((at) => at >= HEADER_LETTERS)
    .map((at): [string, string] => [`letter ${at - length}`, changeLetter(proof, at)]);
  const [header, others] = Object.entries(swappedHeaders).find(([each]) => proof.startsWith(each))!;
  const changes: [name: string, changed: string][] = [
    ...letters,
    ["last letter cut off", proof.slice(0, -1)],
    ["cut in half", proof.slice(0, length >> 1)],
    ["header alone", header],
    ["a letter more", `${proof}1`],
    ["twice", proof + proof.slice(header.length)],
    ...others.map((other): [string, string] => [`header ${other}`, other + proof.slice(header.length)]),
  ];
  return changes.filter(([, changed]) => !isOnlyLonger(changed, proof));
}

export type Proof = {
  readonly method: string;
  readonly params: ExactObject;
  readonly signature: string;
  /** Changes of the question, by name. */
  readonly otherQuestions: { readonly [name: string]: ExactObject };
  /** Some of its letters may be changed without harm; both programs must say the same of them. */
  readonly hasSpareParts?: boolean;
};

/** Both programs take the proof and say the same of it, and both refuse what has been changed; answers how often. */
export async function checkProof(checkers: readonly WalletActor[], proof: Proof): Promise<number> {
  const { method, params, signature } = proof;
  const ask = (changed: ExactObject) =>
    Promise.all(checkers.map((wallet) => verdictOf(wallet, method, { ...params, signature, ...changed })));
  const [first, ...others] = await ask({});
  assert.equal(first!.good, true, `${method}: ${JSON.stringify(params)}`);
  for (const other of others) assert.deepEqual(other, first);
  const texts = changedTexts(signature).map(([name, changed]) => [name, { signature: changed }] as const);
  let refused = 0;
  for (const [name, change] of [...Object.entries(proof.otherQuestions), ...texts]) {
    const verdicts = await ask(change);
    const what = `${method}, ${name}: ${JSON.stringify(verdicts)}`;
    const isSpare = proof.hasSpareParts === true && verdicts[0]!.good === true && name.startsWith("letter");
    if (isSpare) assert.deepEqual(verdicts[1], verdicts[0], what);
    else for (const { good } of verdicts) assert.equal(good, false, what);
    refused += isSpare ? 0 : 1;
  }
  return refused;
}

import { readFileSync } from "node:fs";

/** A recorded transaction, all its parts in hexadecimal. */
export type RecordedTransaction = {
  name: string;
  message: string;
  fee: string;
  commitments: string[];
  inputs: {
    keyImage: string;
    pseudoOut: string;
    ring: { key: string; commitment: string }[];
    s: string[];
    c1: string;
    D: string;
  }[];
  proof: { A: string; A1: string; B: string; r1: string; s1: string; d1: string; L: string[]; R: string[] };
};

/** A recorded wallet and two payments to it. */
export type RecordedWallet = {
  viewSecret: string;
  spendSecret: string;
  spendPublic: string;
  viewPublic: string;
  subaddresses: { major: number; minor: number; spendPublic: string; viewPublic: string }[];
  payments: {
    txHash: string;
    txSecretKey: string;
    txPublicKey: string;
    outputs: { key: string; viewTag: number; amount: string; commitment: string }[];
    paid: { outputIndex: number; major: number; minor: number; amount: string; keyImage: string };
  }[];
  receiverProof: { txHash: string; message: string; sharedSecret: string; signature: string };
};

/** `dist/test` has no data: the files stay beside the sources. */
function readFixture(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../test/fixtures/${name}`, import.meta.url), "utf8"));
}

/** Transactions of a regtest chain the real programs made. */
export const recordedTransactions = readFixture("ringct.json") as RecordedTransaction[];

/** A wallet of the real wallet service on regtest. */
export const recordedWallet = readFixture("wallet.json") as RecordedWallet;

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

export function bytes(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, "hex"));
}

/** A copy with one bit changed. */
export function flipBit(original: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(original);
  changed[bit >> 3]! ^= 1 << (bit & 7);
  return changed;
}

/** The same integer mod ℓ, written as a number above ℓ. */
export function plusOrder(scalar: Uint8Array): Uint8Array {
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const value = BigInt(`0x${Buffer.from(scalar).reverse().toString("hex")}`) + order;
  return Uint8Array.from(Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse());
}

/** A point of order 8. Source: the eight small-order points of https://cr.yp.to/ecdh.html, as Edwards points. */
export const TORSION = bytes("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");

/** No curve point has y = 2. */
export const NO_POINT = bytes(`02${"00".repeat(31)}`);

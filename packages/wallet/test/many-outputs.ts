/** Wallets of very many outputs, made up: what is measured of them does not depend on where the outputs came from. */
import { randomFillSync } from "node:crypto";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import type { ScannedOutput, ScannedTransaction } from "../src/state.ts";

/** Outputs of a block. */
export const OUTPUTS_PER_BLOCK = 20;

/** Random bytes, requested from the system in bulk. */
function createSource(): (size: number) => Uint8Array {
  const pool = new Uint8Array(64 * 1024);
  let used = pool.length;
  return (size) => {
    if (used + size > pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    used += size;
    return pool.slice(used - size, used);
  };
}

export const bytes = createSource();

/** A random scalar, below 2^252. */
function scalar(): Uint8Array {
  const scalarBytes = bytes(32);
  scalarBytes[31]! &= 0x0f;
  return scalarBytes;
}

/** How many outputs, of what amount (atomic units), spread over how many addresses of one account. */
export type ManyOutputs = {
  readonly count: number;
  readonly amount: (i: number) => bigint;
  readonly addresses: number;
  /** Makes a public key or key image; by default random bytes, half of which are no point. */
  readonly key?: () => Uint8Array;
};

/** One output of a transaction of its own; the newest is in block `height`. */
function madeOutput(
  i: number,
  { amount, addresses, key = () => bytes(32) }: ManyOutputs,
  height: number,
): OwnedOutput {
  return {
    txHash: bytes(32),
    outputIndex: 0,
    globalIndex: BigInt(i),
    amount: amount(i),
    mask: scalar(),
    rct: true,
    oneTimeKey: key(),
    txPublicKey: key(),
    keyImage: key(),
    subaddress: { major: 0, minor: i % addresses },
    height,
    timestamp: 1_700_000_000 + 120 * height,
    unlockTime: 0n,
    coinbase: false,
    txSize: 1500,
    frozen: false,
    spentHeight: undefined,
    pendingSpend: undefined,
    replaces: undefined,
  };
}

/** The ledger of a wallet that has found these outputs, 20 a block. */
export function ledgerOf(many: ManyOutputs): Ledger {
  const ledger = createLedger("regtest", { seedLanguage: "English", refreshFromHeight: 0 });
  const { state } = ledger;
  // All of them are unlocked.
  state.height = 11 + Math.ceil(many.count / OUTPUTS_PER_BLOCK);
  state.outputs.pass(state.height);
  for (let i = 0; i < many.count; i++)
    state.outputs.push(madeOutput(i, many, 1 + Math.floor(i / OUTPUTS_PER_BLOCK)));
  const { addresses } = state.accounts[0]!;
  while (addresses.length < many.addresses) addresses.push({ label: "" });
  return ledger;
}

/** A transaction of block `height` that pays one output. */
export function payingTransaction(height: number, amount: bigint): ScannedTransaction {
  const output: ScannedOutput = {
    ...{ outputIndex: 0, globalIndex: 5n, amount, mask: bytes(32), rct: true, oneTimeKey: bytes(32) },
    ...{ txPublicKey: bytes(32), keyImage: bytes(32), subaddress: { major: 0, minor: 0 } },
  };
  return {
    txHash: bytes(32),
    coinbase: false,
    height,
    timestamp: 1_700_000_000 + 120 * height,
    unlockTime: 0n,
    fee: 30_000_000n,
    publicAmountOut: 0n,
    txSize: 1500,
    paymentId: new Uint8Array(32),
    received: [output],
    inputs: [{ keyImage: bytes(32), amount: 0n }],
  };
}

/** Two signers who share a wallet, without any node. */
import { hashToScalar, scAdd } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { keysOfAccount } from "../src/multisig/account-keys.ts";
import {
  continueKeyExchange,
  firstMessage,
  isConfirmed,
  type MultisigAccount,
  nextMessage,
  startKeyExchange,
} from "../src/multisig/key-exchange.ts";
import { createRuntime } from "../src/runtime.ts";
import { signerOf } from "../src/signer/signer.ts";
import type { SpendKeys } from "../src/state.ts";
import type { Wallet } from "../src/wallet.ts";
import { receive, seededRandom } from "./transfer-fixture.ts";

const runtime = createRuntime({ concurrency: 0 });

const random = seededRandom("two signers");

/** Two signers who have agreed on an address. */
function agreed(): [MultisigAccount, MultisigAccount] {
  const secrets = [1, 2].map((signer) => ({
    spendSecret: hashToScalar(Uint8Array.of(signer, 1)),
    viewSecret: hashToScalar(Uint8Array.of(signer, 2)),
  }));
  const texts = secrets.map(firstMessage);
  let accounts = secrets.map((own, i) => startKeyExchange(own, texts.toSpliced(i, 1), 2));
  while (!accounts.every(isConfirmed)) {
    const next = accounts.map(nextMessage);
    accounts = accounts.map((account, i) => continueKeyExchange(account, next.toSpliced(i, 1)));
  }
  return accounts as [MultisigAccount, MultisigAccount];
}

export const accounts: readonly [MultisigAccount, MultisigAccount] = agreed();
/** What both signers' shares come to: nobody has it, but a test needs key images. */
export const whole: SpendKeys & { readonly multisig: undefined } = {
  ...keysOfAccount(accounts[0]),
  spendSecret: accounts.flatMap(({ shares }) => shares).reduce(scAdd),
  multisig: undefined,
};
export const outputs = [1000, 2000].map((globalIndex) =>
  receive(whole, { amount: 500n, globalIndex }, random),
);

/** As much of a wallet as signing needs. */
export function walletOf(account: MultisigAccount): Wallet {
  const ledger = createLedger("mainnet", { seedLanguage: "", refreshFromHeight: 0 });
  for (const output of outputs) ledger.state.outputs.push(output);
  const keys = keysOfAccount(account);
  const part = {
    keys,
    signer: signerOf(keys, false),
    state: ledger.state,
    runtime,
    whenReady: async () => undefined,
    indexOfSpendKey: (key: Uint8Array) =>
      toHex(key) === toHex(whole.spendPublic) ? { major: 0, minor: 0 } : undefined,
    commit: async (change: Parameters<typeof applyChange>[1]) => applyChange(ledger, change),
  };
  return part as unknown as Wallet;
}

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { RpcError } from "@anulo/rpc";
import type { WalletChange } from "../src/changes.ts";
import type { Daemon } from "../src/daemon.ts";
import type { ChangeLog } from "../src/file/store.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { keysOfAccount } from "../src/multisig/account-keys.ts";
import { closeRuntime, createRuntime } from "../src/runtime.ts";
import type { Act, SignerKind } from "../src/signer/refusals.ts";
import { accountOf, type Signer, signerOf } from "../src/signer/signer.ts";
import type { WalletKeys } from "../src/state.ts";
import { Wallet } from "../src/wallet.ts";
import { accounts } from "./multisig-fixture.ts";
import { destinationOf, receive, receiverOf, ringAround, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("signer");
const runtime = createRuntime({ concurrency: 1 });
after(() => closeRuntime(runtime));
const keys = createKeys(random);
const withoutSpend: WalletKeys = { ...keys, spendSecret: undefined };
const shared = keysOfAccount(accounts[0]);

const signers: { readonly [K in SignerKind]: Signer } = {
  hot: signerOf(keys, false),
  viewOnly: signerOf(withoutSpend, false),
  background: signerOf(withoutSpend, true),
  multisig: signerOf(shared, false),
};

const noKey = -52;
/** The code of the error that each kind of signer has for an act that needs the spend secret. */
const codes: { readonly [A in Act]?: Readonly<Record<Exclude<SignerKind, "hot">, number>> } = {
  signSet: { viewOnly: -29, background: noKey, multisig: -42 },
  importOutputs: { viewOnly: -1, background: noKey, multisig: -1 },
  signKeyImage: { viewOnly: -29, background: noKey, multisig: -1 },
  signMessage: { viewOnly: -29, background: noKey, multisig: -1 },
  proveReserve: { viewOnly: -1, background: noKey, multisig: -1 },
  proveInput: { viewOnly: -29, background: -1, multisig: -1 },
  showSeed: { viewOnly: -29, background: noKey, multisig: -1 },
  showSpendKey: { viewOnly: -29, background: noKey, multisig: -1 },
  becomeMultisig: { viewOnly: -29, background: noKey, multisig: -28 },
};

const codeOf = (task: () => unknown): number | undefined => {
  try {
    task();
    return undefined;
  } catch (error) {
    return (error as RpcError).code;
  }
};

describe("the signer of a wallet", () => {
  it("is of the kind of its keys, and stays so", () => {
    for (const [kind, signer] of Object.entries(signers)) assert.equal(signer.kind, kind);
    assert.equal(signerOf(keys, true).kind, "hot", "with the secret nothing is in the background");
    assert.equal(signerOf(shared, true).kind, "multisig");
    assert.equal(signerOf({ ...shared, spendSecret: undefined }, false).kind, "viewOnly");
  });

  it("gives the spend secret only where there is one, and otherwise the error of the act", () => {
    for (const [act, expected] of Object.entries(codes) as [Act, Record<SignerKind, number>][]) {
      assert.equal(signers.hot.spendKeys(act).spendSecret, keys.spendSecret, act);
      for (const kind of ["viewOnly", "background", "multisig"] as const)
        assert.equal(
          codeOf(() => signers[kind].spendKeys(act)),
          expected[kind],
          `${act} of ${kind}`,
        );
    }
  });

  it("scans with the spend secret only where it makes key images", () => {
    assert.equal(signers.hot.scanningKeys.spendSecret, keys.spendSecret);
    for (const kind of ["viewOnly", "background", "multisig"] as const)
      assert.equal(signers[kind].scanningKeys.spendSecret, undefined, kind);
    assert.equal(signers.multisig.scanningKeys.multisig, undefined);
    const asking = Object.values(signers).filter(({ asksForKeyImages }) => asksForKeyImages);
    assert.deepEqual(asking, [signers.viewOnly]);
  });

  it("has an account only if it is one of several", () => {
    assert.deepEqual(accountOf(signers.multisig), accounts[0]);
    for (const kind of ["hot", "viewOnly", "background"] as const)
      assert.equal(
        codeOf(() => accountOf(signers[kind])),
        -31,
      );
  });

  it("signs, previews, or refuses the same transfer", async () => {
    const { state } = createLedger("mainnet", { seedLanguage: "", refreshFromHeight: 0 });
    const output = receive(keys, { amount: 900n, globalIndex: 1000 }, random);
    const ringed = {
      inputs: [output],
      rings: [ringAround(output, random)],
      destinations: [destinationOf(createKeys(random), 600n)],
      change: 200n,
      fee: 100n,
      unlockTime: 0n,
    };
    const parts = { change: receiverOf(keys), state, runtime };
    const images = async (kind: "hot" | "viewOnly") => {
      const { signed, pending } = await signers[kind].sign(ringed, parts);
      assert.equal(pending.constructionData.sources[0]!.outputs.length, 16);
      return signed.transaction.prefix.inputs.map((input) => input.type === "key" && input.keyImage);
    };
    assert.deepEqual(await images("hot"), [output.keyImage]);
    assert.notDeepEqual(await images("viewOnly"), [output.keyImage]);
    await assert.rejects(signers.background.sign(ringed, parts), { code: noKey });
    await assert.rejects(signers.multisig.sign(ringed, parts), /multisig data from other participants/);
  });
});

describe("a wallet", () => {
  const opened: Wallet[] = [];
  after(() => Promise.all(opened.map((wallet) => wallet.close())));

  const kindOf = ({ signer }: Wallet): SignerKind => signer.kind;

  /** One that stores nothing. */
  function open(own: WalletKeys): Wallet {
    const ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
    const log = {
      append: async (_: WalletChange) => undefined,
      refuse: () => undefined,
      close: async () => undefined,
    } as unknown as ChangeLog;
    const wallet = new Wallet({ keys: own, ledger, log, daemon: {} as Daemon, runtime });
    opened.push(wallet);
    return wallet;
  }

  it("chooses another signer before its spend secret is wiped, and again once it is back", async () => {
    const own = structuredClone(keys);
    const wallet = open(own);
    assert.equal(kindOf(wallet), "hot");
    await wallet.commit({ kind: "backgroundBegins", settings: wallet.scanSettings });
    const isScanning = wallet.useKeys({ ...own, spendSecret: undefined });
    assert.equal(kindOf(wallet), "background", "at once, while the thread still has the old keys");
    await isScanning;
    await wallet.commit({ kind: "backgroundEnds" });
    assert.ok(wallet.isBackgroundSyncing, "until what was found is applied and the secret is back");
    assert.equal(kindOf(wallet), "background", "it never looks like a view-only wallet meanwhile");
    await wallet.useKeys(own);
    assert.equal(kindOf(wallet), "hot");
    assert.ok(!wallet.isBackgroundSyncing);
  });

  it("wipes what its signer has when it is closed", async () => {
    const wallet = open(structuredClone(shared));
    const { signer } = wallet;
    const { baseSecret, commonSecret, shares } = accountOf(signer);
    await wallet.close();
    for (const secret of [baseSecret, commonSecret, ...shares]) assert.ok(secret.every((byte) => byte === 0));
  });
});

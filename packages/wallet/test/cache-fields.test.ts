/** What the original's cache says of each output, payment and address of a wallet, field by field. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAddress, toHex, writeTransaction } from "@anulo/protocol";
import { cacheOfWallet } from "../src/file/cache-of-wallet.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { createLedger } from "../src/ledger/ledger.ts";
import { type OwnedOutput, SOMEBODY } from "../src/outputs/owned-output.ts";
import { SubaddressTable } from "../src/scan/subaddress-table.ts";
import type { OutgoingPayment, WalletState } from "../src/state.ts";
import { payment } from "./ledger-items.ts";
import { ledgerOf } from "./many-outputs.ts";
import { recordedChain } from "./recorded-node.ts";

const keys = createKeys();
const { spendPublic, viewPublic } = keys;
const fresh = () => createLedger("mainnet", { seedLanguage: "English", refreshFromHeight: 0 }).state;
const [plain] = [...ledgerOf({ count: 1, amount: () => 7n, addresses: 1 }).state.outputs] as [OwnedOutput];

type Owner = Parameters<typeof cacheOfWallet>[0];

const cacheOf = (state: WalletState, more: Partial<Owner> = {}) =>
  cacheOfWallet(
    {
      ...{ state, isViewOnly: false, isMultisig: false, spendPublic, viewPublic },
      subaddresses: new SubaddressTable(),
      ...more,
    },
    "00",
  );

/** What a cache says of outputs that are in an otherwise empty wallet of height 100. */
async function transfersOf(outputs: readonly Partial<OwnedOutput>[], more: Partial<Owner> = {}) {
  const state = fresh();
  state.height = 100;
  for (const output of outputs)
    state.outputs.push({ ...plain, oneTimeKey: crypto.getRandomValues(new Uint8Array(32)), ...output });
  return [...(await cacheOf(state, more)).transfers];
}

test("an output is spent once a block or a payment of the wallet spends it, from the block on that has been scanned", async () => {
  const outputs: Partial<OwnedOutput>[] = [
    {},
    { spentHeight: 99 },
    { spentHeight: 100 },
    { spentHeight: 0 },
    { pendingSpend: "aa" },
    { pendingSpend: SOMEBODY },
    { frozen: true },
  ];
  const spends = (await transfersOf(outputs)).map(({ spent, spentHeight, frozen }) => {
    return [spent, spentHeight, frozen];
  });
  assert.deepEqual(spends, [
    [0, 0n, 0],
    [1, 99n, 0],
    [1, 0n, 0],
    [1, 0n, 0],
    [1, 0n, 0],
    [0, 0n, 0],
    [0, 0n, 1],
  ]);
});

test("key images are known, asked for, or partial", async () => {
  const outputs: Partial<OwnedOutput>[] = [{}, { keyImage: undefined }];
  const said = async (more: Partial<Owner> = {}) =>
    (await transfersOf(outputs, more)).map((transfer) => {
      const { keyImageKnown, keyImageRequest, keyImagePartial, keyImage } = transfer;
      return [keyImageKnown, keyImageRequest, keyImagePartial, toHex(keyImage)];
    });
  const [image, none] = [toHex(plain.keyImage!), "00".repeat(32)];
  assert.deepEqual(await said(), [
    [1, 0, 0, image],
    [0, 0, 0, none],
  ]);
  assert.deepEqual(await said({ isMultisig: true }), [
    [1, 0, 0, image],
    [0, 0, 1, none],
  ]);
  assert.deepEqual(await said({ isViewOnly: true }), [
    [1, 1, 0, image],
    [0, 1, 0, none],
  ]);
  const state = fresh();
  for (let i = 0; i < 3; i++) state.outputs.push({ ...plain, oneTimeKey: new Uint8Array(32).fill(i) });
  state.requestedFrom = 1;
  const asked = [...(await cacheOf(state, { isViewOnly: true })).transfers];
  assert.deepEqual(
    asked.map(({ keyImageRequest }) => keyImageRequest),
    [0, 1, 1],
  );
});

test("an output is in a transaction with the others before it, its amount public or hidden", async () => {
  const [hidden, visible] = await transfersOf([
    { outputIndex: 2, unlockTime: 5n, rct: true },
    { outputIndex: 0, rct: false },
  ]);
  assert.deepEqual([hidden!.rct, visible!.rct], [1, 0]);
  assert.deepEqual([hidden!.prefix.version, visible!.prefix.version], [2, 1]);
  assert.deepEqual([hidden!.prefix.outputs.length, visible!.prefix.outputs.length], [3, 1]);
  assert.deepEqual(
    hidden!.prefix.outputs.map(({ amount, target }) => [amount, target.type]),
    [
      [0n, "script"],
      [0n, "script"],
      [0n, "key"],
    ],
  );
  assert.deepEqual([visible!.prefix.outputs[0]!.amount, visible!.amount, hidden!.amount], [7n, 7n, 7n]);
  assert.deepEqual([hidden!.prefix.unlockTime, hidden!.outputIndex], [5n, 2n]);
  assert.deepEqual([...hidden!.prefix.extra], [1, ...plain.txPublicKey]);
  const { keyIndex, multisigNonces, multisigInfos, uses } = hidden!;
  assert.deepEqual([keyIndex, multisigNonces, multisigInfos, uses], [0n, [], [], []]);
});

/** What a cache says of the payments of a wallet. */
async function paymentsOf(...payments: readonly Partial<OutgoingPayment>[]) {
  const state = fresh();
  for (const [i, more] of payments.entries()) {
    const made = payment(i + 1, { blob: undefined, ...more });
    state.outgoing.set(toHex(made.txHash), made);
  }
  const cache = await cacheOf(state);
  return { confirmed: [...cache.confirmed], unconfirmed: [...cache.unconfirmed] };
}

test("a payment that may be sent again is there whole, with its rings, another with its inputs alone", async () => {
  const { transactions } = recordedChain.find((block) => block.transactions.length > 0)!;
  const blob = writeTransaction(transactions[0]!);
  const keyImages = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const { unconfirmed } = await paymentsOf(
    { state: "pending", blob, keyImages },
    { state: "pending", blob: undefined, keyImages, unlockTime: 9n },
  );
  const [whole, bare] = unconfirmed.map(({ value }) => value);
  assert.deepEqual(whole!.prefix, transactions[0]!.prefix);
  const { inputs } = transactions[0]!.prefix;
  const rings = inputs.map((input) => input.type === "key" && [input.keyImage, input.keyOffsets]);
  assert.deepEqual(
    whole!.rings.map(({ key, value }) => [key, value]),
    rings,
  );
  assert.deepEqual(bare!.rings, []);
  assert.deepEqual(bare!.prefix, {
    ...{ version: 2, unlockTime: 9n, outputs: [], extra: new Uint8Array(0) },
    inputs: keyImages.map((keyImage) => ({ type: "key", amount: 0n, keyOffsets: [], keyImage })),
  });
});

test("payments are pending, failed or confirmed, with their times", async () => {
  const states = ["signed", "pending", "forgotten", "missing", "failed", "confirmed"] as const;
  const times = { createdAt: 50, timestamp: 60, height: 3, unlockTime: 4n };
  const { confirmed, unconfirmed } = await paymentsOf(...states.map((state) => ({ ...times, state })));
  assert.deepEqual(
    unconfirmed.map(({ value }) => value.state),
    [0, 0, 0, 1, 2],
  );
  assert.ok(unconfirmed.every(({ value }) => value.sentTime === 50n && value.timestamp === 60n));
  assert.equal(confirmed.length, 1);
  const { height, timestamp, unlockTime, version } = confirmed[0]!.value;
  assert.deepEqual([height, timestamp, unlockTime, version], [3n, 60n, 4n, 1]);
});

const addresses = {
  standard: formatAddress({ kind: "standard", spendPublic, viewPublic }, "mainnet"),
  subaddress: formatAddress({ kind: "subaddress", spendPublic, viewPublic }, "mainnet"),
  integrated: formatAddress(
    { kind: "integrated", spendPublic, viewPublic, paymentId: new Uint8Array(8).fill(3) },
    "mainnet",
  ),
  unreadable: "no address",
};

test("a receiver is told with its keys and kind, and one that is no address by its text alone", async () => {
  const texts = Object.values(addresses);
  const { confirmed } = await paymentsOf({
    state: "confirmed",
    destinations: texts.map((address, i) => ({ address, amount: BigInt(i) })),
  });
  const none = "00".repeat(32);
  const known = [toHex(spendPublic), toHex(viewPublic)];
  assert.deepEqual(
    confirmed[0]!.value.destinations.map((to) => [
      ...[Buffer.from(to.original).toString(), to.amount, toHex(to.spendPublic), toHex(to.viewPublic)],
      ...[to.isSubaddress, to.isIntegrated],
    ]),
    [
      [addresses.standard, 0n, ...known, 0, 0],
      [addresses.subaddress, 1n, ...known, 1, 0],
      [addresses.integrated, 2n, ...known, 0, 1],
      [addresses.unreadable, 3n, none, none, 0, 0],
    ],
  );
});

test("entries of the address book keep their payment ids, and those without an address are left out", async () => {
  const state = fresh();
  for (const address of Object.values(addresses))
    state.addressBook.push({ address, description: "düne", paymentId: "" });
  const { addressBook } = await cacheOf(state);
  assert.deepEqual(
    [...addressBook].map((row) => [
      ...[row.version, row.isSubaddress, row.hasPaymentId, toHex(row.paymentId)],
      ...[toHex(row.spendPublic), toHex(row.viewPublic), Buffer.from(row.description).toString()],
    ]),
    [
      [0, 0, 0, "00".repeat(8), toHex(spendPublic), toHex(viewPublic), "düne"],
      [0, 1, 0, "00".repeat(8), toHex(spendPublic), toHex(viewPublic), "düne"],
      [0, 0, 1, "03".repeat(8), toHex(spendPublic), toHex(viewPublic), "düne"],
    ],
  );
});

test("a background wallet's cache says where it begins, and with which addresses", async () => {
  const state = fresh();
  const ordinary = await cacheOf(state);
  assert.deepEqual([ordinary.version, ordinary.background], [0, undefined]);
  const settings = { refreshFromHeight: 5, accounts: 2, addresses: 3 };
  for (const [skipsCoinbase, refreshType] of [
    [true, 2n],
    [false, 1n],
  ] as const) {
    const background = { fromHeight: 7, settings: { ...settings, skipsCoinbase }, transactions: [] };
    const cache = await cacheOf(state, { background: background as unknown as Owner["background"] });
    assert.deepEqual([cache.version, cache.refreshedFromNode], [2, 0]);
    assert.deepEqual(cache.background, { version: 0, isRefreshed: 0, height: 7n });
    assert.deepEqual(cache.backgroundSettings, {
      ...{ refreshFromHeight: 5n, lookaheadMajor: 2n, lookaheadMinor: 3n, refreshType },
    });
  }
  const { ringsSaved, lastDeviceSync, rpcClientKey, seenInPool } = ordinary;
  assert.deepEqual([ringsSaved, lastDeviceSync, toHex(rpcClientKey)], [1, 0n, "00".repeat(32)]);
  assert.deepEqual([...seenInPool], []);
});

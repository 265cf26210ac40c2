/** What a program written with monero-ts does with a node and wallet services, from first to last. */
import assert from "node:assert/strict";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import moneroTs, { type MoneroDaemonRpc, type MoneroTxWallet, type MoneroWalletRpc } from "monero-ts";

const { MoneroTxPriority, MoneroMessageSignatureType } = moneroTs;

/** The parties: a node, a funded wallet, a second one, and what mines. */
export type Scene = {
  readonly daemon: MoneroDaemonRpc;
  readonly hot: MoneroWalletRpc;
  readonly other: MoneroWalletRpc;
  readonly mine: (blocks: number) => Promise<void>;
};

export async function walkAccounts({ hot }: Scene): Promise<void> {
  const account = await hot.createAccount("savings");
  assert.equal(account.getIndex(), 1);
  const subaddress = await hot.createSubaddress(0, "shop");
  await hot.setSubaddressLabel(0, subaddress.getIndex(), "the shop");
  const listed = await hot.getSubaddresses(0);
  assert.equal(listed.at(-1)?.getLabel(), "the shop");
  assert.equal(listed.at(-1)?.getAddress(), await hot.getAddress(0, subaddress.getIndex()));
  const index = await hot.getAddressIndex(subaddress.getAddress());
  assert.deepEqual([index.getAccountIndex(), index.getIndex()], [0, subaddress.getIndex()]);
  const accounts = await hot.getAccounts(true);
  assert.deepEqual(
    accounts.map((one) => one.getIndex()),
    [0, 1],
  );
  const total = accounts.reduce((sum, one) => sum + one.getBalance(), 0n);
  assert.equal(await hot.getBalance(), total);
  assert.ok((await hot.getUnlockedBalance()) > 0n);
  await hot.tagAccounts("t", [0, 1]);
  await hot.setAccountTagLabel("t", "both");
  const [tag] = await hot.getAccountTags();
  assert.deepEqual([tag?.getTag(), tag?.getLabel(), tag?.getAccountIndices()], ["t", "both", [0, 1]]);
  assert.equal((await hot.getAccounts(false, "t")).length, 2);
  await hot.untagAccounts([0, 1]);
  await hot.setAttribute("key", "value ü");
  assert.equal(await hot.getAttribute("key"), "value ü");
}

export async function walkAddresses({ hot, other }: Scene): Promise<void> {
  const integrated = await hot.getIntegratedAddress(undefined, "0123456789abcdef");
  const decoded = await hot.decodeIntegratedAddress(integrated.getIntegratedAddress());
  assert.equal(decoded.getPaymentId(), "0123456789abcdef");
  assert.equal(decoded.getStandardAddress(), await hot.getPrimaryAddress());
  const address = await other.getPrimaryAddress();
  const uri = await hot.getPaymentUri(
    new moneroTs.MoneroTxConfig({ address, amount: coin / 4n, note: "for tea", recipientName: "Bob" }),
  );
  const config = await hot.parsePaymentUri(uri);
  assert.deepEqual(
    [config.getDestinations()[0]?.getAddress(), config.getDestinations()[0]?.getAmount(), config.getNote()],
    [address, coin / 4n, "for tea"],
  );
  const entry = await hot.addAddressBookEntry(address, "bob");
  await hot.editAddressBookEntry(entry, false, undefined, true, "Bob B.");
  assert.equal((await hot.getAddressBookEntries([entry]))[0]?.getDescription(), "Bob B.");
  await hot.deleteAddressBookEntry(entry);
  assert.deepEqual(await hot.getAddressBookEntries(), []);
  const types = [
    MoneroMessageSignatureType.SIGN_WITH_SPEND_KEY,
    MoneroMessageSignatureType.SIGN_WITH_VIEW_KEY,
  ];
  for (const type of types) {
    const signature = await hot.signMessage("a message", type, 0, 0);
    const verdict = await other.verifyMessage("a message", await hot.getPrimaryAddress(), signature);
    assert.ok(verdict.getIsGood());
    assert.equal(verdict.getSignatureType(), type);
    assert.ok(!(await other.verifyMessage("another", await hot.getPrimaryAddress(), signature)).getIsGood());
  }
}

/** A payment of several destinations; answers it once it has been mined. */
export async function walkTransfers({ hot, other, mine }: Scene): Promise<MoneroTxWallet> {
  const address = await other.getPrimaryAddress();
  const shop = (await other.createSubaddress(0, "shop")).getAddress();
  const destinations = [
    { address, amount: coin },
    { address: shop, amount: coin / 2n },
  ];
  const config = { accountIndex: 0, destinations, priority: MoneroTxPriority.ELEVATED, relay: false };
  const tx = await hot.createTx(config as Partial<moneroTs.MoneroTxConfig>);
  assert.ok(tx.getFee() > 0n);
  assert.ok(tx.getKey());
  assert.equal(await hot.relayTx(tx), tx.getHash());
  await hot.setTxNote(tx.getHash(), "two of them");
  assert.equal(await hot.getTxNote(tx.getHash()), "two of them");
  await other.sync();
  const pending = await other.getTx(tx.getHash());
  assert.ok(pending?.getInTxPool());
  await mine(10);
  await Promise.all([hot.sync(), other.sync()]);
  const received = await other.getIncomingTransfers({ txQuery: { hash: tx.getHash() } } as object);
  assert.deepEqual(received.map((one) => one.getAmount()).sort(), [coin, coin / 2n].sort());
  const [sent] = await hot.getOutgoingTransfers({ txQuery: { hash: tx.getHash() } } as object);
  assert.equal(sent?.getAmount(), coin + coin / 2n);
  assert.equal(sent?.getTx().getNumConfirmations(), 10);
  const [split] = await hot.createTxs({ accountIndex: 0, address, amount: coin, relay: true });
  assert.ok(split?.getHash());
  await mine(10);
  await Promise.all([hot.sync(), other.sync()]);
  return tx;
}

export async function walkOutputs({ hot, other, mine }: Scene): Promise<void> {
  const outputs = await hot.getOutputs({ accountIndex: 0, isSpent: false });
  assert.ok(outputs.length > 1);
  const unlocked = outputs.filter((output) => !output.getTx().getIsLocked());
  const keyImage = unlocked[0]!.getKeyImage().getHex();
  await hot.freezeOutput(keyImage);
  assert.ok(await hot.isOutputFrozen(keyImage));
  await hot.thawOutput(keyImage);
  assert.ok(!(await hot.isOutputFrozen(keyImage)));
  const address = await other.getPrimaryAddress();
  const swept = await hot.sweepOutput({ address, keyImage, relay: true });
  assert.ok(swept.getHash());
  await mine(10);
  await Promise.all([hot.sync(), other.sync()]);
  const back = await other.sweepUnlocked({ address: await hot.getPrimaryAddress(), relay: true });
  assert.ok(back.length > 0);
  assert.deepEqual(await hot.sweepDust(false), []);
  await hot.rescanSpent();
  await hot.scanTxs([swept.getHash()]);
  await mine(10);
  await Promise.all([hot.sync(), other.sync()]);
}

export async function walkProofs({ hot, other }: Scene, tx: MoneroTxWallet): Promise<void> {
  const hash = tx.getHash();
  const address = await other.getPrimaryAddress();
  const key = await hot.getTxKey(hash);
  const checked = await other.checkTxKey(hash, key, address);
  assert.deepEqual([checked.getIsGood(), checked.getReceivedAmount()], [true, coin]);
  for (const prover of [hot, other]) {
    const proof = await prover.getTxProof(hash, address, "paid");
    assert.equal((await hot.checkTxProof(hash, address, "paid", proof)).getReceivedAmount(), coin);
    assert.ok(!(await hot.checkTxProof(hash, address, "not paid", proof)).getIsGood());
  }
  const spend = await hot.getSpendProof(hash, "mine");
  assert.ok(await other.checkSpendProof(hash, "mine", spend));
  const reserve = await hot.getReserveProofAccount(0, coin, "rich");
  const funds = await other.checkReserveProof(await hot.getPrimaryAddress(), "rich", reserve);
  assert.ok(funds.getIsGood());
  assert.ok(funds.getTotalAmount() >= coin);
  const whole = await hot.getReserveProofWallet("all");
  const all = await other.checkReserveProof(await hot.getPrimaryAddress(), "all", whole);
  assert.equal(all.getTotalAmount(), await hot.getBalance());
}

export async function walkHistory({ hot, daemon }: Scene, tellsMined: boolean): Promise<void> {
  const txs = await hot.getTxs();
  assert.equal(
    txs.some((tx) => tx.getIsMinerTx()),
    tellsMined,
  );
  assert.ok(txs.some((tx) => tx.getIsOutgoing()));
  const confirmed = await hot.getTxs({ isConfirmed: true, isOutgoing: true });
  for (const tx of confirmed) assert.ok(tx.getHeight() > 0);
  assert.ok((await hot.getIncomingTransfers({})).length > 50);
  assert.equal(typeof (await hot.getVersion()).getNumber(), "number");
  assert.equal((await hot.getSeed()).split(" ").length, 25);
  assert.match(await hot.getPrivateViewKey(), /^[0-9a-f]{64}$/);
  assert.match(await hot.getPrivateSpendKey(), /^[0-9a-f]{64}$/);
  assert.equal(await hot.getHeight(), await daemon.getHeight());
  await hot.changePassword("", "new");
  await hot.changePassword("new", "");
  await hot.save();
}

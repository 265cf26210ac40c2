/** Cold signing and wallets of several signers, by monero-ts. */
import assert from "node:assert/strict";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import type { MoneroWalletRpc } from "monero-ts";
import type { Scene } from "./monero-ts-walk.ts";

/** A copy with the view key alone, and one with all keys that has never seen a node. */
type ColdPair = {
  readonly watching: MoneroWalletRpc;
  readonly cold: MoneroWalletRpc;
  readonly dialect: "upstream" | "contract";
};

/**
 * A view-only copy prepares, a wallet with the keys that has never seen a node signs, the copy sends. Wallets that scan
 * by themselves take no outputs, in 0.18.5.3 neither.
 */
export async function walkColdSigning(
  { hot, other, mine }: Scene,
  { watching, cold, dialect }: ColdPair,
): Promise<void> {
  const seed = await hot.getSeed();
  await cold.createWallet({ path: "cold", password: "", seed, restoreHeight: 0 });
  await watching.createWallet({
    path: "watching",
    password: "",
    primaryAddress: await hot.getPrimaryAddress(),
    privateViewKey: await hot.getPrivateViewKey(),
    restoreHeight: 0,
  });
  await watching.sync();
  const known = await cold.importOutputs(await watching.exportOutputs(true));
  assert.ok(known > 0);
  const images = await cold.exportKeyImages(true);
  const imported = await watching.importKeyImages(images.getKeyImages(), images.getOffset());
  assert.ok(imported.getUnspentAmount() > coin);
  assert.ok((await watching.getUnlockedBalance()) > coin);
  const address = await other.getPrimaryAddress();
  const unsigned = await watching.createTx({ accountIndex: 0, address, amount: coin });
  const set = unsigned.getTxSet().getUnsignedTxHex();
  const described = await cold.describeUnsignedTxSet(set);
  assert.equal(described.getTxs()[0]?.getOutgoingTransfer().getDestinations()[0]?.getAmount(), coin);
  const signed = await cold.signTxs(set);
  const [hash] = await watching.submitTxs(signed.getSignedTxHex());
  await mine(10);
  await Promise.all([hot.sync(), other.sync(), watching.sync()]);
  assert.equal((await other.getTx(hash!))?.getIncomingAmount(), coin);
  assert.match(await cold.getTxKey(hash!), /^[0-9a-f]{64}$/);
  // The copy knows no key; the original answers the scalar 1 for it.
  if (dialect === "upstream") assert.equal(await watching.getTxKey(hash!), `01${"00".repeat(31)}`);
  else await assert.rejects(watching.getTxKey(hash!), { message: /No tx secret key is stored/ });
}

async function exchangeInfo(signers: readonly MoneroWalletRpc[]): Promise<void> {
  const infos = await Promise.all(signers.map((signer) => signer.exportMultisigHex()));
  for (const [i, signer] of signers.entries()) {
    await signer.importMultisigHex(infos.filter((_, j) => j !== i));
  }
}

/** Two signers come to one address by rounds, receive there, and spend together. */
export async function walkMultisig(
  { hot, other, mine, daemon }: Scene,
  signers: readonly [MoneroWalletRpc, MoneroWalletRpc],
): Promise<void> {
  for (const [i, signer] of signers.entries())
    await signer.createWallet({ path: `signer${i}`, password: "p", language: "English" });
  const prepared = await Promise.all(signers.map((signer) => signer.prepareMultisig()));
  let told = await Promise.all(signers.map((signer, i) => signer.makeMultisig([prepared[1 - i]!], 2, "p")));
  // By the documents two of two are ready now (difference S4); else rounds follow.
  const isReady = async () => (await signers[0].getMultisigInfo()).getIsReady();
  for (let round = 0; !(await isReady()) && round < 3; round++) {
    const results = [];
    for (const [i, signer] of signers.entries())
      results.push(await signer.exchangeMultisigKeys([told[1 - i]!], "p"));
    told = results.map((result) => result.getMultisigHex() ?? "");
  }
  const address = await signers[0].getPrimaryAddress();
  const info = await signers[0].getMultisigInfo();
  assert.deepEqual([info.getIsReady(), info.getThreshold(), info.getNumParticipants()], [true, 2, 2]);
  assert.equal(await signers[1].getPrimaryAddress(), address);
  assert.ok(await daemon.isConnected());
  await hot.sync();
  await hot.createTx({ accountIndex: 0, address, amount: coin, relay: true });
  await mine(10);
  await Promise.all(signers.map((signer) => signer.sync()));
  await exchangeInfo(signers);
  assert.ok(!(await signers[0].isMultisigImportNeeded()));
  const back = await other.getPrimaryAddress();
  const tx = await signers[0].createTx({ accountIndex: 0, address: back, amount: coin / 2n });
  const set = tx.getTxSet().getMultisigTxHex();
  assert.equal((await signers[1].describeMultisigTxSet(set)).getTxs()?.length, 1);
  const signed = await signers[1].signMultisigTxHex(set);
  const [hash] = await signers[1].submitMultisigTxHex(signed.getSignedMultisigTxHex());
  await mine(10);
  await other.sync();
  assert.equal((await other.getTx(hash!))?.getIncomingAmount(), coin / 2n);
}

import assert from "node:assert/strict";
import { call, type ExactObject, loadGoldenState, type Maker } from "@anulo/testkit";
import { daemon, interop, ours, real, wallet } from "./programs.ts";
import { balanceOf, mine, pay, restore } from "./steps.ts";

const { a: alice, b: bob } = loadGoldenState().wallets;
const amount = 1_234_567_890_123n;

/** A wallet of one maker, on the node of another, pays a wallet of the other maker. */
async function payAcross(nodeOf: Maker, payerOf: Maker, payeeOf: Maker): Promise<void> {
  const node = await daemon(nodeOf);
  await mine(node.url, 90, alice.address);
  const payer = await wallet(payerOf, { daemonPort: node.port });
  const same = await wallet(payeeOf, { daemonPort: node.port });
  const payee = await wallet(payeeOf, { daemonPort: node.port });
  assert.equal(await restore(payer.url, "alice", alice.mnemonic), alice.address);
  assert.equal(await restore(same.url, "alice", alice.mnemonic), alice.address);
  assert.equal(await restore(payee.url, "bob", bob.mnemonic), bob.address);
  const before = await balanceOf(payer.url);
  assert.ok(before.unlocked > amount);
  assert.deepEqual(before, await balanceOf(same.url), "both makers' wallets show the same balance");

  const id = await pay(payer.url, bob.address, amount);
  await mine(node.url, 10, alice.address);
  assert.deepEqual(await balanceOf(payee.url), { balance: amount, unlocked: amount });
  const received = await call(payee.url, "get_transfer_by_txid", { txid: id });
  assert.equal((received.transfer as ExactObject).amount, Number(amount));
  assert.deepEqual(await balanceOf(payer.url), await balanceOf(same.url), "and after the payment");
}

interop("monero-wallet-rpc uses our node: same balance, pays our wallet, it arrives", async () => {
  await payAcross(ours, real, ours);
});

interop("our wallet uses monerod: same balance, pays monero-wallet-rpc, it arrives", async () => {
  await payAcross(real, ours, real);
});

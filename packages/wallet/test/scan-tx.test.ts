import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex, transactionHash } from "@anulo/protocol";
import { recorded, recordedChain, startRecordedNode } from "./recorded-node.ts";
import { startTestService } from "./service.ts";

const everything = { in: true, out: true, pending: true, failed: true, pool: true } as const;

test("a single transaction is scanned without the blocks around it, and again without effect", async (t) => {
  const node = await startRecordedNode();
  t.after(() => node.stop());
  node.pool = [];
  const { call } = await startTestService({ node: node.url }, t);
  const seed = recorded.wallets.b!.mnemonic;
  const names = { filename: "late", password: "", seed };
  await call.restoreDeterministicWallet({ ...names, restore_height: recordedChain.length });
  await call.refresh({});
  assert.equal((await call.getBalance({ account_index: 0 })).balance, 0n);

  const txid = "5c17d4b7f08ed889ff4992f34a34055982c7f7ae8451cbca798a1f0306b858d5";
  const height = recordedChain.findIndex(({ transactions }) =>
    transactions.some((tx) => toHex(transactionHash(tx)) === txid),
  );
  for (let times = 0; times < 2; times++) {
    await call.scanTx({ txids: [txid, txid] });
    const { in: found = [], out = [] } = await call.getTransfers({ ...everything, account_index: 0 });
    assert.deepEqual(
      found.map((entry) => [entry.txid, entry.amount, entry.height]),
      [[txid, 1200446678074n, height]],
    );
    assert.equal(out.length, 0);
  }
  assert.equal((await call.getBalance({ account_index: 0 })).balance, 1200446678074n);
});

test("of transactions that are not the wallet's nothing is written", async (t) => {
  const node = await startRecordedNode();
  t.after(() => node.stop());
  node.pool = [];
  const { call, service } = await startTestService({ node: node.url }, t);
  await call.createWallet({ filename: "new", language: "English" });
  await call.refresh({});
  const { wallet } = service.opened!;
  const { changes } = wallet;
  const txids = recordedChain.flatMap(({ transactions }) =>
    transactions.map((tx) => toHex(transactionHash(tx))),
  );
  await call.scanTx({ txids });
  assert.equal(wallet.changes, changes);
});

test("blocks up to a single transaction are scanned with it if there are at most a thousand", async (t) => {
  const node = await startRecordedNode();
  t.after(() => node.stop());
  node.pool = [];
  let asked = 0;
  node.lie = (honest) => {
    asked += 1;
    return { ...honest, blocks: [], output_indices: [] };
  };
  const { call, service } = await startTestService({ node: node.url }, t);
  await call.createWallet({ filename: "new", language: "English" });
  const { wallet } = service.opened!;
  const from = Math.max(wallet.height, wallet.state.settings.refreshFromHeight);
  const [paid] = recordedChain.filter(({ transactions }) => transactions.length > 0);
  const txid = toHex(transactionHash(paid!.transactions[0]!));
  const empty = { ...paid!, transactions: [] };
  for (const [height, isScanned] of [
    [from + 1001, false],
    [from + 1000, true],
    [from, true],
    [from - 1, false],
  ] as const) {
    node.chain = [...Array<typeof empty>(height).fill(empty), paid!];
    asked = 0;
    await call.scanTx({ txids: [txid] }).catch(() => undefined);
    assert.equal(asked > 0, isScanned, `${height}`);
  }
});

test("transactions the node doesn't have, and ids that are none, are refused", async (t) => {
  const node = await startRecordedNode();
  t.after(() => node.stop());
  const { call } = await startTestService({ node: node.url }, t);
  const seed = recorded.wallets.b!.mnemonic;
  await call.restoreDeterministicWallet({ filename: "w", password: "", seed, restore_height: 1 });
  await assert.rejects(call.scanTx({ txids: ["00".repeat(32)] }), /Failed to get transaction/);
  await assert.rejects(call.scanTx({ txids: ["zz"] }), /invalid format/);
});

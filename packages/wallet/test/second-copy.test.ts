import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { toHex, transactionHash } from "@anulo/protocol";
import {
  recorded,
  recordedChain,
  recordedPool,
  sentBy,
  startRecordedNode,
  withBlock,
} from "./recorded-node.ts";
import { startTestService, type TestService } from "./service.ts";

/** What a wallet says of its money and of the copy's payment. */
async function told({ call }: TestService) {
  const { balance, unlocked_balance } = await call.getBalance({ account_index: 0 });
  const lists = await call.getTransfers({ pending: true, out: true, failed: true, all_accounts: true });
  const of = (list = lists.pending) => (list ?? []).filter(({ txid }) => txid === sentBy.a);
  const available = await call.incomingTransfers({ transfer_type: "available" });
  return {
    balance,
    unlocked: unlocked_balance,
    pending: of(),
    out: of(lists.out ?? []),
    failed: of(lists.failed ?? []),
    available: (available.transfers ?? []).length,
  };
}

test("what another copy sends is pending at first sight, after a crash, and once its block is undone", async (t) => {
  const node = await startRecordedNode();
  t.after(node.stop);
  const mined = recordedPool.filter((tx) => toHex(transactionHash(tx)) === sentBy.a);
  const others = recordedPool.filter((tx) => !mined.includes(tx));
  node.pool = others;
  const first = await startTestService({ node: node.url }, t);
  const { mnemonic } = recorded.wallets.a!;
  await first.call.restoreDeterministicWallet({ filename: "w", seed: mnemonic, restore_height: 0 });
  await first.call.refresh({});
  const before = await told(first);
  assert.deepEqual(before.pending, []);

  node.pool = recordedPool;
  await first.call.refresh({});
  const seen = await told(first);
  const [entry, ...further] = seen.pending;
  assert.deepEqual(further, []);
  assert.equal(entry!.type, "pending");
  assert.equal(entry!.destinations, undefined);
  assert.equal(seen.balance, before.balance - entry!.amount - entry!.fee);
  assert.ok(seen.unlocked <= seen.balance && seen.available < before.available, "its inputs are held");

  const folder = mkdtempSync(join(tmpdir(), "anulo-copy-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(first.folder, folder, { recursive: true }); // what a killed process would leave
  const again = await startTestService({ node: node.url, folder }, t);
  await again.call.openWallet({ filename: "w" });
  assert.deepEqual(await told(again), seen);
  node.asked.length = 0;
  await again.call.refresh({});
  assert.deepEqual(await told(again), seen);
  const ids = recordedPool.map((tx) => toHex(transactionHash(tx)));
  assert.ok(node.asked.every((id) => ids.includes(id)) && new Set(node.asked).size !== 1, "none stands out");

  node.chain = withBlock(recordedChain, mined);
  node.pool = others;
  await again.call.refresh({});
  const confirmed = await told(again);
  assert.deepEqual([confirmed.pending, confirmed.out.length], [[], 1]);
  assert.equal(confirmed.balance, seen.balance);

  node.chain = withBlock(withBlock(recordedChain, []), []);
  node.pool = recordedPool;
  await again.call.refresh({});
  const undone = await told(again);
  assert.deepEqual([undone.pending.length, undone.out.length], [1, 0]);
  assert.equal(undone.balance, seen.balance);

  node.pool = others;
  await again.call.refresh({});
  await again.call.refresh({});
  const missing = await told(again);
  assert.deepEqual([missing.pending.length, missing.failed.length], [1, 0], "not given up so soon");
});

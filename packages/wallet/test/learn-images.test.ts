import assert from "node:assert/strict";
import { test } from "node:test";
import { learnKeyImagesOf } from "../src/actions/cold-exchange.ts";
import type { WalletChange } from "../src/changes.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createMoveCheck, OutputsMoved } from "../src/outputs/walk.ts";
import type { Wallet } from "../src/wallet.ts";
import { bytes, ledgerOf } from "./many-outputs.ts";

/** A view-only wallet of many outputs, and a node that says they are unspent; `onRequest`: while it answers. */
function createWallet(onRequest: () => void = () => undefined) {
  const ledger = ledgerOf({ count: 1000, amount: () => 5n, addresses: 1 });
  const changes: Extract<WalletChange, { kind: "keyImages" }>[] = [];
  const isKeyImageSpent = async ({ key_images }: { key_images: string[] }) => {
    onRequest();
    return { spent_status: key_images.map(() => 0), status: "OK" };
  };
  const learnKeyImages = async (change: Extract<WalletChange, { kind: "keyImages" }>) => {
    changes.push(change);
    applyChange(ledger, change);
  };
  const wallet = { state: ledger.state, daemon: { client: { isKeyImageSpent } }, learnKeyImages };
  return { ledger, changes, wallet: wallet as unknown as Wallet };
}

test("many key images are learnt in changes of some hundreds, in order", async () => {
  const { ledger, changes, wallet } = createWallet();
  const { outputs } = ledger.state;
  const keyImages = Array.from({ length: 900 }, () => bytes(32));
  const status = await learnKeyImagesOf(wallet, {
    keyImages,
    offset: 50,
    checkMoved: createMoveCheck(outputs),
  });
  assert.equal(status.length, 900);
  assert.ok(changes.length > 2 && changes.every((change) => change.keyImages.length <= 256));
  for (const [i, keyImage] of keyImages.entries()) assert.equal(outputs.placeOfImage(keyImage), 50 + i);
});

test("no key image is learnt of an output that has come in the place of another", async () => {
  let reorganise = (): void => undefined;
  const { ledger, changes, wallet } = createWallet(() => reorganise());
  const { outputs } = ledger.state;
  reorganise = () => outputs.truncate(900);
  const keyImages = Array.from({ length: 950 }, () => bytes(32));
  const checkMoved = createMoveCheck(outputs);
  await assert.rejects(learnKeyImagesOf(wallet, { keyImages, offset: 0, checkMoved }), OutputsMoved);
  assert.deepEqual(changes, []);
});

/** The key images that come with a signed set, which nothing proves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { learnSignedImages } from "../src/actions/signed-images.ts";
import type { WalletChange } from "../src/changes.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import type { Wallet } from "../src/wallet.ts";
import { bytes, ledgerOf } from "./many-outputs.ts";

type Learning = Extract<WalletChange, { kind: "keyImages" }>;

/** A view-only wallet of 1,000 outputs, and what the wallet with the spend key computes of them. */
function start() {
  const ledger = ledgerOf({ count: 0, amount: () => 5n, addresses: 1 });
  const { outputs } = ledger.state;
  for (const output of ledgerOf({ count: 1000, amount: () => 5n, addresses: 1 }).state.outputs)
    outputs.push({ ...output, keyImage: undefined });
  const images = Array.from({ length: outputs.count }, () => bytes(32));
  const changes: Learning[] = [];
  let onChange = (): void => undefined;
  const learnKeyImages = async (change: Learning) => {
    changes.push(change);
    applyChange(ledger, change);
    onChange();
  };
  const wallet = { state: ledger.state, learnKeyImages } as unknown as Wallet;
  const learn = (keyImages: readonly Uint8Array[]) => learnSignedImages(wallet, keyImages);
  const whenChanged = (task: () => void) => {
    onChange = task;
  };
  return { outputs, images, changes, learn, whenChanged };
}

/** Undoes the outputs from a place on but the last, as a reorganisation does, and adds another. */
function replaceLast({ outputs }: ReturnType<typeof start>, from: number): void {
  const last = outputs.at(outputs.count - 1)!;
  outputs.truncate(from);
  outputs.push({ ...last, keyImage: undefined, oneTimeKey: bytes(32) });
}

test("they are learnt some hundreds at a time, and those that are known not again", async () => {
  const { outputs, images, changes, learn } = start();
  await learn(images.slice(0, 700));
  assert.ok(changes.length > 2 && changes.every(({ keyImages }) => keyImages.length <= 256));
  for (const [place, keyImage] of images.slice(0, 700).entries())
    assert.equal(outputs.placeOfImage(keyImage), place);
  changes.length = 0;
  await learn(images);
  assert.ok(changes.every(({ offset }) => offset >= 512));
  assert.equal(outputs.placeOfImage(images.at(-1)!), 999);
  changes.length = 0;
  await learn(images);
  assert.deepEqual(changes, []);
});

test("none is taken for that of an output that came in the place of another since", async () => {
  const wallet = start();
  const { outputs, images, learn } = wallet;
  await learn(images);
  replaceLast(wallet, 950);
  await learn(images);
  assert.equal(outputs.at(950)!.keyImage, undefined);
  assert.equal(outputs.placeOfImage(images[949]!), 949);
});

test("a known one is not replaced, nor any behind it", async () => {
  const { outputs, images, learn } = start();
  await learn(images.slice(0, 500));
  await learn([...images.slice(0, 300), bytes(32), ...images.slice(301)]);
  assert.equal(outputs.placeOfImage(images[300]!), 300);
  assert.equal(outputs.at(600)!.keyImage, undefined);
});

test("none is learnt once outputs have moved meanwhile", async () => {
  const wallet = start();
  const { outputs, images, changes, learn, whenChanged } = wallet;
  whenChanged(() => {
    whenChanged(() => undefined);
    replaceLast(wallet, 400);
  });
  await learn(images);
  assert.equal(changes.length, 1);
  assert.equal(outputs.at(400)!.keyImage, undefined);
});

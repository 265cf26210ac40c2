import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { keyImageOf, publicKeyOf } from "@anulo/crypto";
import { concatBytes, encode, toHex } from "@anulo/protocol";
import { exportInfo, importInfo, signerInfos } from "../src/actions/multisig-info.ts";
import type { WalletChange } from "../src/changes.ts";
import { magicOf, seal } from "../src/cold-signing/sealed.ts";
import { signerKeyOf } from "../src/multisig/account-keys.ts";
import type { SignerInfo } from "../src/state.ts";
import type { Wallet } from "../src/wallet.ts";
import { accounts, outputs, walletOf } from "./multisig-fixture.ts";

const [first, second] = accounts;

/** A signer's wallet that has found `outputs`, and what it does at its node: any question fails. */
function importing() {
  const wallet = walletOf(first);
  const found = outputs.map((output) => ({ ...output, keyImage: undefined }));
  wallet.state.outputs.truncate(0);
  for (const output of found) wallet.state.outputs.push(output);
  const scans: number[] = [];
  const asked = () => assert.fail("the node was asked");
  const parts: Partial<Wallet> = {
    daemon: { isTrusted: false, client: new Proxy({}, { get: asked }) } as unknown as Wallet["daemon"],
    learnKeyImages: (change) => wallet.commit(change),
    scanAgain: async (height) => {
      scans.push(height);
      // What is found again has the key image that was sent.
      for (const [place, { oneTimeKey }] of [...wallet.state.outputs].entries())
        wallet.state.outputs.learnKeyImage(place, wallet.state.coldKeyImages.get(toHex(oneTimeKey))!);
      return { blocksFetched: 0, receivedMoney: false };
    },
  };
  const undone: number[] = [];
  const undoBlocks = async (height: number) => void undone.push(height);
  return { wallet: Object.assign(wallet, parts, { height: 5000, undoBlocks }), scans, undone };
}

test("a node that isn't trusted is told no key image: the blocks since the first output are looked at again", async () => {
  const sealed = [await exportInfo(walletOf(second), second)];
  const { wallet, scans } = importing();
  assert.equal(await importInfo(wallet, first, { sealed, isLookedUp: true }), 2);
  assert.deepEqual(scans, [1000]);
  assert.deepEqual(
    [...wallet.state.outputs].map(({ keyImage }) => keyImage),
    outputs.map(({ keyImage }) => keyImage),
  );
  await importInfo(wallet, first, { sealed, isLookedUp: true });
  assert.deepEqual(scans, [1000], "nothing new, nothing to look for");
});

test("a node that is trusted is asked at once what has been spent", async () => {
  const sealed = [await exportInfo(walletOf(second), second)];
  const { wallet, scans, undone } = importing();
  const asked: string[][] = [];
  const isKeyImageSpent = async ({ key_images }: { key_images: string[] }) => {
    asked.push(key_images);
    await setImmediate();
    return { status: "OK", spent_status: [0, 2] };
  };
  const changes: WalletChange[] = [];
  const learnKeyImages = async (change: WalletChange) => {
    await setImmediate();
    changes.push(change);
  };
  Object.assign(wallet, { daemon: { isTrusted: true, client: { isKeyImageSpent } }, learnKeyImages });
  assert.equal(await importInfo(wallet, first, { sealed, isLookedUp: true }), 2);
  const keyImages = outputs.map(({ keyImage }) => keyImage!);
  assert.deepEqual(asked, [keyImages.map(toHex)]);
  const spent = ["unspent", "pool"];
  assert.deepEqual(changes, [{ kind: "keyImages", offset: 0, keyImages, spent, transactions: [] }]);
  assert.deepEqual({ scans, undone }, { scans: [], undone: [] });
});

test("spends that are not to be looked up now are left to the next refresh, whoever the node is", async () => {
  const sealed = [await exportInfo(walletOf(second), second)];
  for (const isTrusted of [false, true]) {
    const { wallet, scans, undone } = importing();
    Object.assign(wallet, { daemon: { isTrusted } });
    assert.equal(await importInfo(wallet, first, { sealed, isLookedUp: false }), 2);
    assert.deepEqual({ scans, undone }, { scans: [], undone: [1000] });
    assert.equal(wallet.state.coldKeyImages.size, 2);
  }
});

const G = publicKeyOf(Uint8Array.of(1, ...new Uint8Array(31)));

/** What somebody tells of `outputs` in the wallet's own name, with some of it changed, and of `count` more. */
async function sealedInfo(wallet: Wallet, info: Partial<SignerInfo>, count = 0): Promise<Uint8Array> {
  const told = outputs.map(({ oneTimeKey }) => ({
    signer: signerKeyOf(second),
    nonces: [G, G].map((L) => ({ L, R: L })),
    partialKeyImages: second.shares.map((share) => keyImageOf(oneTimeKey, share)),
    ...info,
  }));
  const { spendPublic, viewPublic } = wallet.keys;
  const infos = [
    ...told,
    ...Array<SignerInfo>(count).fill({ ...told[0]!, partialKeyImages: [new Uint8Array(32).fill(2)] }),
  ];
  const plain = concatBytes(spendPublic, viewPublic, told[0]!.signer, encode(signerInfos, infos));
  return seal(magicOf("Monero multisig export", 1), plain, wallet);
}

test("a trusted node tells of each output whether it is spent, under the key image it was sent", async () => {
  const sealed = [await exportInfo(walletOf(second), second)];
  const { wallet, scans, undone } = importing();
  const asked: string[] = [];
  const isKeyImageSpent = async ({ key_images }: { readonly key_images: readonly string[] }) => {
    asked.push(...key_images);
    return { status: "OK", spent_status: key_images.map(() => 0) };
  };
  Object.assign(wallet, { daemon: { isTrusted: true, client: { isKeyImageSpent } } });
  assert.equal(await importInfo(wallet, first, { sealed, isLookedUp: true }), 2);
  const images = outputs.map(({ keyImage }) => toHex(keyImage!));
  assert.deepEqual(asked, images);
  assert.deepEqual(
    [...wallet.state.outputs].map(({ keyImage }) => keyImage && toHex(keyImage)),
    images,
  );
  assert.deepEqual({ scans, undone }, { scans: [], undone: [] });
});

test("what somebody tells who is none of the signers is refused", async () => {
  const { wallet } = importing();
  const stranger = publicKeyOf(Uint8Array.of(7, ...new Uint8Array(31)));
  const sealed = [await sealedInfo(wallet, { signer: stranger })];
  await assert.rejects(importInfo(wallet, first, { sealed, isLookedUp: true }), /not a member/);
  assert.equal(wallet.state.multisigInfos.size, 0);
});

test("a signer who tells more than he has, or of more outputs than there are, makes nobody compute it", async () => {
  const { wallet } = importing();
  const take = async (info: Partial<SignerInfo>, more = 0) =>
    importInfo(wallet, first, { sealed: [await sealedInfo(wallet, info, more)], isLookedUp: true });
  await assert.rejects(take({ nonces: Array(3).fill({ L: G, R: G }) }), /more than a signer has/);
  await assert.rejects(take({ partialKeyImages: [G, G] }), /more than a signer has/);
  // Beyond the outputs there are nothing is looked at, be it no point.
  assert.equal(await take({}, 20), 2);
});

test("what is no point of the main subgroup is refused, wherever a signer sends it, and nothing is stored", async () => {
  const { wallet } = importing();
  const noPoint = new Uint8Array(32).fill(2);
  const ofOrderFour = new Uint8Array(32);
  for (const bad of [noPoint, ofOrderFour]) {
    const infos: readonly Partial<SignerInfo>[] = [
      { partialKeyImages: [bad] },
      { nonces: [{ L: bad, R: G }] },
      {
        nonces: [
          { L: G, R: G },
          { L: G, R: bad },
        ],
      },
    ];
    for (const info of infos) {
      const sealed = [await sealedInfo(wallet, info)];
      const refused = importInfo(wallet, first, { sealed, isLookedUp: true });
      await assert.rejects(refused, /not in the main subgroup/);
    }
  }
  assert.equal(wallet.state.multisigInfos.size, 0);
});

test("what signers exchange about many outputs is kept some at a time, of each output", async () => {
  const many = Array.from({ length: 300 }, (_, i) => ({
    ...outputs[0]!,
    oneTimeKey: publicKeyOf(Uint8Array.of(1 + (i % 256), i >> 8, 1, ...new Uint8Array(29))),
    keyImage: undefined,
  }));
  const sizes: Record<string, number[]> = {};
  const holdsMany = (wallet: Wallet) => {
    wallet.state.outputs.truncate(0);
    for (const output of many) wallet.state.outputs.push(output);
    const { commit } = wallet;
    wallet.commit = async (change) => {
      const items = { multisigNonces: "nonces", multisigInfos: "infos", coldKeyImages: "images" }[
        change.kind as string
      ];
      const list = (change as unknown as Record<string, readonly unknown[]>)[items ?? ""] ?? [];
      sizes[change.kind] = [...(sizes[change.kind] ?? []), list.length];
      await commit.call(wallet, change);
    };
    return wallet;
  };
  const theirs = holdsMany(walletOf(second));
  const sealed = [await exportInfo(theirs, second)];
  const names = many.map(({ oneTimeKey }) => toHex(oneTimeKey));
  assert.deepEqual([...theirs.state.multisigNonces.keys()], names);
  const { wallet } = importing();
  holdsMany(wallet);
  assert.equal(await importInfo(wallet, first, { sealed, isLookedUp: true }), 300);
  assert.deepEqual([...wallet.state.multisigInfos.keys()], names);
  assert.deepEqual([...wallet.state.coldKeyImages.keys()], names);
  const parts = [128, 128, 44];
  assert.deepEqual(sizes, { multisigNonces: parts, multisigInfos: parts, coldKeyImages: parts });
});

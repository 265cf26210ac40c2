/** Compares what a book of outputs keeps for its readers with what a walk over its outputs finds. */
import assert from "node:assert/strict";
import { toHex } from "@anulo/protocol";
import type { AddressSum } from "../src/outputs/address-sums.ts";
import type { OutputBook } from "../src/outputs/output-book.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { isUnspent } from "../src/unlock.ts";

const NONE: AddressSum = {
  outputs: 0,
  unspent: 0,
  freeCount: 0,
  free: 0n,
  reservedCount: 0,
  reserved: 0n,
};

function sumsFound(outputs: readonly OwnedOutput[], account: number) {
  const sums = new Map<number, AddressSum>();
  for (const output of outputs) {
    const { major, minor } = output.subaddress;
    if (major !== account) continue;
    const sum = sums.get(minor) ?? { ...NONE };
    sums.set(minor, sum);
    sum.outputs += 1;
    if (isUnspent(output)) sum.unspent += 1;
    if (output.spentHeight !== undefined || output.frozen) continue;
    if (output.pendingSpend === undefined) {
      sum.freeCount += 1;
      sum.free += output.amount;
    } else {
      sum.reservedCount += 1;
      sum.reserved += output.amount;
    }
  }
  return sums;
}

export function checkBook(book: OutputBook): void {
  const outputs = [...book];
  assert.equal(book.count, outputs.length);
  const accounts = new Set(outputs.map(({ subaddress }) => subaddress.major));
  assert.deepEqual(new Set(book.accounts), accounts);
  const where = (isWanted: (output: OwnedOutput) => boolean) =>
    outputs.flatMap((output, place) => (isWanted(output) ? [place] : []));
  for (const account of accounts) {
    assert.deepEqual(new Map(book.sumsOf(account)), sumsFound(outputs, account));
    assert.deepEqual(
      [...book.placesOf(account)],
      where(({ subaddress }) => subaddress.major === account),
    );
  }
  assert.equal(book.withKeyImage, where(({ keyImage }) => keyImage !== undefined).length);
  assert.equal(book.timed, where(({ unlockTime }) => unlockTime >= 500_000_000n).length);
  for (const { oneTimeKey, keyImage } of outputs) {
    assert.equal(toHex(book.withKey(oneTimeKey)!.oneTimeKey), toHex(oneTimeKey));
    if (keyImage !== undefined) assert.equal(toHex(book.withImage(keyImage)!.keyImage!), toHex(keyImage));
  }
}

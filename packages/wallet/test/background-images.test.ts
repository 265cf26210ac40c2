/** What a background wallet has found: its files may say anything. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { withKeyImages } from "../src/scan/background-images.ts";
import type { ScannedOutput } from "../src/state.ts";
import { transaction } from "./ledger-items.ts";
import { receive, seededRandom } from "./transfer-fixture.ts";

const random = seededRandom("background images");
const [alice, bob] = [createKeys(random), createKeys(random)];

test("only outputs of the wallet are taken over, with key images of its own", () => {
  const own = [
    receive(alice, { amount: 700n, globalIndex: 10 }, random),
    receive(alice, { amount: 900n, globalIndex: 11, subaddress: { major: 0, minor: 3 } }, random),
  ];
  const strange = receive(bob, { amount: 5n, globalIndex: 12 }, random);
  const given: ScannedOutput[] = [
    { ...own[0]!, keyImage: undefined },
    { ...own[1]!, keyImage: random(32) },
    { ...strange, keyImage: random(32) },
    { ...strange, keyImage: undefined, oneTimeKey: bob.spendPublic },
    { ...own[0]!, keyImage: undefined, subaddress: { major: 0, minor: 1 }, amount: 10n ** 12n },
    { ...own[0]!, keyImage: undefined, subaddress: { major: 0, minor: 1 }, oneTimeKey: alice.viewPublic },
  ];
  const [found, empty] = withKeyImages(
    [transaction(1, 5, { received: given }), transaction(2, 6, { spends: [1] })],
    alice,
  );
  assert.deepEqual(
    found!.received.map(({ keyImage, amount }) => [toHex(keyImage!), amount]),
    own.map(({ keyImage, amount }) => [toHex(keyImage!), amount]),
  );
  assert.deepEqual([empty!.received, empty!.inputs.length], [[], 1]);
});

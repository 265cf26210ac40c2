import assert from "node:assert/strict";
import { randomFillSync } from "node:crypto";
import { test } from "node:test";
import { createKeys } from "../src/keys/wallet-keys.ts";
import { KeyHashes } from "../src/outputs/key-set.ts";
import { ScanThreads } from "../src/scan/scan-threads.ts";
import { Scanner } from "../src/scan/scanner.ts";
import { WorkThreads } from "../src/threads/work-threads.ts";
import { seededRandom } from "./transfer-fixture.ts";

const lookahead = { accounts: 2, addresses: 3 };

function open(scanThreads: ScanThreads, seed: string) {
  const keys = createKeys(seededRandom(seed));
  const scanner = new Scanner({
    runtime: { threads: new WorkThreads(), scanThreads },
    keys,
    used: [{ major: 0, minor: 0 }],
    lookahead,
    skipsCoinbase: false,
    images: { factors: new KeyHashes(randomFillSync).factors, hashes: [] },
    watched: undefined,
    keep: async () => undefined,
  });
  return { scanner, keys };
}

for (const [most, where] of [
  [1, "a thread"],
  [0, "the caller's thread"],
] as const) {
  test(`${where} scans for many wallets, each with its own keys and addresses`, async () => {
    const scanThreads = new ScanThreads(most);
    const wallets = ["one", "two", "three"].map((seed) => open(scanThreads, seed));
    await Promise.all(wallets.map(({ scanner }) => scanner.ready));
    for (const { scanner, keys } of wallets) {
      assert.equal(scanner.table.size, lookahead.accounts * lookahead.addresses);
      const owners = wallets.filter((other) => other.scanner.table.indexOf(keys.spendPublic) !== undefined);
      assert.deepEqual(
        owners.map((owner) => owner.scanner),
        [scanner],
      );
    }
    const [first, ...others] = wallets;
    await first!.scanner.stop();
    await assert.rejects(first!.scanner.cover({ major: 0, minor: 9 }), /No wallet file/);
    for (const { scanner } of others) {
      await scanner.cover({ major: 0, minor: 9 });
      assert.ok(scanner.table.size > lookahead.accounts * lookahead.addresses);
      await scanner.stop();
    }
    await scanThreads.close();
  });

  test(`a wallet closed in the middle of a scan keeps no other of ${where} from scanning`, async () => {
    const scanThreads = new ScanThreads(most);
    const [leaving, staying] = ["leaving", "staying"].map((seed) => open(scanThreads, seed).scanner);
    const task = {
      daemon: { url: "http://127.0.0.1:0" },
      network: "regtest",
      history: [new Uint8Array(32)],
      height: 1,
      startHeight: 0,
      fromHeight: 0,
      own: [],
    } as const;
    const left = assert.rejects(leaving!.scan(task), /No wallet file/);
    await leaving!.stop();
    await left;
    await assert.rejects(staying!.scan(task), /no connection to daemon/);
    await staying!.stop();
    await scanThreads.close();
  });

  test(`wallets hear of it when ${where} ends, and later ones get another`, async () => {
    const scanThreads = new ScanThreads(most);
    const wallets = ["one", "two"].map((seed) => open(scanThreads, seed).scanner);
    await Promise.all(wallets.map((scanner) => scanner.ready));
    await scanThreads.close();
    for (const scanner of wallets) {
      await assert.rejects(scanner.cover({ major: 0, minor: 9 }), /the scan thread ended/);
      await scanner.stop();
    }
    const { scanner } = open(scanThreads, "later");
    await scanner.ready;
    await scanner.stop();
    await scanThreads.close();
  });
}

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  cnSlowHash,
  derivationToScalar,
  generateKeyDerivation,
  scAdd,
  subaddressSecretKey,
} from "@anulo/crypto";
import { fromHex, toHex } from "@anulo/protocol";
import { cacheKeyOf } from "../src/file/original-cache.ts";
import type { OwnedOutput } from "../src/outputs/owned-output.ts";
import { oneTimeSecret } from "../src/scan/scan-transaction.ts";
import { recorded, startRecordedNode } from "./recorded-node.ts";
import { startTestService, type TestService, type TestServiceOptions } from "./service.ts";
import { watchBytes } from "./watched-bytes.ts";

const { mnemonic } = recorded.wallets.a!;
const own = { filename: "w", password: "own" };
const wallet = ({ service }: TestService) => service.opened!.wallet;

type SecretsInHex = { readonly spendSecret: string; readonly viewSecret: string };
type Received = Pick<OwnedOutput, "txPublicKey" | "outputIndex" | "subaddress">;

/** A service whose jobs run in this thread. */
async function start(t: TestContext, options: TestServiceOptions = {}): Promise<TestService> {
  const node = await startRecordedNode();
  node.pool = [];
  t.after(() => node.stop());
  return await startTestService({ node: node.url, concurrency: 0, ...options }, t);
}

function keysOf(service: TestService): SecretsInHex {
  const { spendSecret, viewSecret } = wallet(service).signer.keys;
  return { spendSecret: toHex(spendSecret!), viewSecret: toHex(viewSecret) };
}

function receivedBy(service: TestService): Received[] {
  return [...wallet(service).state.outputs].map(({ txPublicKey, outputIndex, subaddress }) => ({
    txPublicKey,
    outputIndex,
    subaddress,
  }));
}

/** All secrets that a wallet computes for an output it has received. */
function secretsOf(keys: SecretsInHex, outputs: readonly Received[]): string[] {
  const [spendSecret, viewSecret] = [fromHex(keys.spendSecret), fromHex(keys.viewSecret)];
  const secrets = outputs.flatMap(({ txPublicKey, outputIndex, subaddress }) => {
    const derivation = generateKeyDerivation(txPublicKey, viewSecret);
    const part = subaddressSecretKey(viewSecret, subaddress.major, subaddress.minor);
    return [
      derivation,
      derivationToScalar(derivation, outputIndex),
      oneTimeSecret({ spendSecret, viewSecret }, { derivation, outputIndex, subaddress }),
      part,
      scAdd(spendSecret, part),
    ];
  });
  return [spendSecret, viewSecret, ...secrets].map(toHex);
}

/** Where the store of a service's wallets is, besides in the folder. */
const stores: Record<string, (folder: string) => TestServiceOptions["store"]> = {
  "in the folder's journals": () => undefined,
  "in a store that passwords open": (folder) => ({ location: join(folder, "s.mdb"), folder }),
  "in a store that the service opens": (folder) => ({
    location: join(folder, "s.mdb"),
    folder,
    serviceKeyFile: join(folder, "service.key"),
  }),
};

for (const [where, storeIn] of Object.entries(stores))
  test(`no key stays in memory once a service with a wallet ${where} has stopped`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "anulo-wiped-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const store = storeIn(folder);
    const watched = watchBytes(t);
    const service = await start(t, store === undefined ? {} : { store });
    const { call } = service;
    await call.restoreDeterministicWallet({ ...own, seed: mnemonic, restore_height: 0 });
    const keys = keysOf(service);
    await call.refresh({});
    const outputs = receivedBy(service);
    assert.ok(outputs.some(({ subaddress }) => subaddress.minor > 0));
    await call.closeWallet({});
    await assert.rejects(call.openWallet({ ...own, password: "wrong" }));
    await call.openWallet(own);
    await call.changeWalletPassword({ old_password: "own", new_password: "other" });
    await call.setSubaddressLookahead({ password: "other", major_idx: 3, minor_idx: 4 });
    await call.openWallet({ ...own, password: "other" });
    await service.stop();
    watched.stop();
    assert.ok(watched.keys.size > 5);
    assert.deepEqual(watched.remaining([...watched.keys, ...secretsOf(keys, outputs)]), {});
  });

test("no key stays in memory of what a wallet proved, signed and exported", async (t) => {
  const service = await start(t);
  const { call } = service;
  await call.restoreDeterministicWallet({ ...own, seed: mnemonic, restore_height: 0 });
  await call.refresh({});
  const [keys, outputs] = [keysOf(service), receivedBy(service)];
  const watched = watchBytes(t);
  await call.exportOutputs({ all: true });
  await call.exportKeyImages({ all: true });
  await call.getReserveProof({ all: true });
  for (const signature_type of ["spend", "view"] as const)
    for (const address_index of [0, 1]) await call.sign({ data: "x", signature_type, address_index });
  await service.stop();
  watched.stop();
  assert.deepEqual(watched.remaining([...watched.keys, ...secretsOf(keys, outputs)]), {});
});

for (const filename of ["w", ""])
  for (const background_sync_type of ["reuse-wallet-password", "custom-background-password"])
    test(`no key stays in memory of a wallet ${filename && "with files "}and scanning without it: ${background_sync_type}`, async (t) => {
      const service = await start(t);
      const { call } = service;
      const watched = watchBytes(t);
      await call.restoreDeterministicWallet({ ...own, filename, seed: mnemonic, restore_height: 0 });
      const keys = keysOf(service);
      const setup = { background_sync_type, wallet_password: "own", background_cache_password: "b" };
      await call.setupBackgroundSync(setup);
      await call.startBackgroundSync({});
      await call.refresh({});
      const outputs = receivedBy(service);
      const end = { wallet_password: "own", ...(filename === "" && { seed: mnemonic }) };
      await call.stopBackgroundSync(end);
      await call.setupBackgroundSync({ ...setup, background_sync_type: "off" });
      await service.stop();
      watched.stop();
      assert.ok(outputs.length > 0);
      const cacheKey = toHex(cacheKeyOf(cnSlowHash(new TextEncoder().encode("own"))));
      assert.deepEqual(watched.remaining([...watched.keys, cacheKey, ...secretsOf(keys, outputs)]), {});
    });

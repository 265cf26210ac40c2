import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { chacha8 } from "@anulo/crypto";
import { formatAddress, parseAddress, toHex } from "@anulo/protocol";
import { magicOf, seal, unseal } from "../src/cold-signing/sealed.ts";
import { readKeysFile, WrongPassword, writeKeysFile } from "../src/file/keys-file.ts";
import { readOriginalCache } from "../src/file/original-cache.ts";
import { createRuntime } from "../src/runtime.ts";
import { seededRandom } from "./transfer-fixture.ts";

const runtime = createRuntime();

const folder = "/usr/share/monero/testdata";
const skip = !existsSync(folder) && !process.env.CI && "the Debian package monero-tests is not installed";
const read = (name: string) => new Uint8Array(readFileSync(`${folder}/${name}`));
const random = seededRandom("debian");
/** Source: tests/unit_tests/serialization.cpp `portability_wallet`. */
const password = "test";
const ADDRESS =
  "9svHk1wHPo3ULf2AZykghzcye6sitaRE4MaDjPC6uanTHCynHjJHZaiAb922PojE1GexhhRt1LVf5DC43feyrRZMLXQr3mk";
const keysFile = () => readKeysFile(read("wallet_9svHk1.keys"), { ...runtime, password });

test("the keys file of an old wallet opens, and says the same once written anew", { skip }, async () => {
  const { keys, createdAt, settings } = await keysFile();
  const { spendPublic, viewPublic } = keys;
  assert.equal(formatAddress({ kind: "standard", spendPublic, viewPublic }, "testnet"), ADDRESS);
  assert.equal(createdAt, 1_483_262_038n);
  assert.equal(settings.get("refresh_height"), 818_413);
  assert.equal(settings.get("nettype"), 1);
  const image = await writeKeysFile({ keys, createdAt, settings }, { ...runtime, password: "new", random });
  const again = await readKeysFile(image, { ...runtime, password: "new" });
  assert.deepEqual({ keys: again.keys, createdAt: again.createdAt }, { keys, createdAt });
  assert.deepEqual([...again.settings], [...settings]);
  await assert.rejects(
    readKeysFile(read("wallet_9svHk1.keys"), { ...runtime, password: "tests" }),
    WrongPassword,
  );
});

test("the cache of an old wallet is known not to be of version 0.18", { skip }, async () => {
  const { cacheKey } = await keysFile();
  await assert.rejects(readOriginalCache(read("wallet_9svHk1"), cacheKey), /not a cache of version 0.18/);
});

test("outputs an old wallet sealed are known by its key; they are of rounds nobody uses now", {
  skip,
}, async () => {
  const { keys } = await keysFile();
  const magic = magicOf("Monero output export", 3);
  const sealer = { keys, runtime: { ...runtime, random } };
  const file = read("outputs");
  assert.ok((await unseal(magic, file, sealer)) !== undefined, "the signature does not hold");
  const key = await runtime.threads.run("slowHash", { bytes: keys.viewSecret, rounds: 1 });
  const [ivAt, from] = [magic.length, magic.length + 8];
  const plain = chacha8(file.slice(from, -64), key, file.slice(ivAt, from));
  const { spendPublic, viewPublic } = parseAddress(ADDRESS, "testnet");
  assert.equal(toHex(plain.subarray(0, 64)), toHex(spendPublic) + toHex(viewPublic));
  assert.match(Buffer.from(plain).toString("latin1", 64), /^..serialization::archive/);
  const sealed = await seal(magic, plain, sealer);
  assert.deepEqual(await unseal(magic, sealed, sealer), plain);
  file[100]! ^= 1;
  assert.equal(await unseal(magic, file, sealer), undefined);
});

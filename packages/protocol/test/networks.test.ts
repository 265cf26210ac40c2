import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { networks, toHex } from "../src/index.ts";

// A wrong height would leave the chain at that fork, a wrong time would call a program of today too old.
test("hard forks are those of the original, to the last digit", () => {
  // SHA-256 of "version height time" lines, from hardforks.cpp (0.18.5).
  const digests = {
    mainnet: "1a9e82f3272f635c48859e07eaed30219dd065fad46715a195c157b642cda9b1",
    testnet: "2bce0febb62dd2ae72a63c687b3597e4e422db7b9c2047a44b26d99e84ab41be",
    stagenet: "68071e9a6be3df4ab767ca03d5ddd1c03aa5b9d31d1d4a3c7fc63f9f681c66e3",
  };
  for (const name of ["mainnet", "testnet", "stagenet"] as const) {
    const digest = createHash("sha256");
    for (const { version, height, time } of networks[name].hardForks)
      digest.update(`${version} ${height} ${time}\n`);
    assert.equal(digest.digest("hex"), digests[name], name);
  }
  assert.deepEqual(networks.regtest.hardForks, [
    { version: 1, height: 0, time: 1 },
    { version: 16, height: 1, time: 2 },
  ]);
});

test("each network has its ports, its id among peers and its address prefixes", () => {
  const facts = Object.values(networks).map(({ rpcName, ports, peerNetworkId, addressPrefixes }) => [
    rpcName,
    ...Object.values(ports),
    toHex(peerNetworkId),
    ...Object.values(addressPrefixes),
  ]);
  const id = (last: string) => `1230f171610441611731008216a1a1${last}`;
  assert.deepEqual(facts, [
    ["mainnet", 18080, 18081, 18082, id("10"), 18, 19, 42],
    ["testnet", 28080, 28081, 28082, id("11"), 53, 54, 63],
    ["stagenet", 38080, 38081, 38082, id("12"), 24, 25, 36],
    ["fakechain", 18080, 18081, 18082, id("10"), 18, 19, 42],
  ]);
});

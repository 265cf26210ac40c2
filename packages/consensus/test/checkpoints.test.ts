import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, test } from "node:test";
import { blockId, genesisBlock, networks, toHex } from "@anulo/protocol";
import {
  BadCheckpoints,
  brokenCheckpoint,
  type Checkpoint,
  chainContext,
  checkpointsOf,
  enforcedCheckpoints,
  isInCheckpointZone,
  parseCheckpoints,
  verifyAlternativeBlock,
  verifyBlock,
  withCheckpoints,
} from "../src/index.ts";
import { createForge } from "./forge.ts";
import { assertRefused } from "./refusals.ts";

const id = (fill: number) => new Uint8Array(32).fill(fill);

describe("checkpoints", () => {
  test("are written down for each public network, the oldest first, work growing", () => {
    const counts = { mainnet: 63, testnet: 4, stagenet: 3, regtest: 0 };
    for (const name of ["mainnet", "testnet", "stagenet", "regtest"] as const) {
      const checkpoints = checkpointsOf(name);
      assert.equal(checkpoints.length, counts[name]);
      for (const [i, { height, cumulativeDifficulty }] of checkpoints.entries()) {
        const below = checkpoints[i - 1];
        assert.ok(below === undefined || height > below.height);
        assert.ok(below === undefined || cumulativeDifficulty! > below.cumulativeDifficulty!);
      }
    }
    assert.equal(checkpointsOf("mainnet").at(-1)?.height, 3_707_000);
    for (const name of ["testnet", "stagenet"] as const) {
      assert.deepEqual(checkpointsOf(name)[0]!.id, blockId(genesisBlock(networks[name])));
    }
  });

  // A wrong height, id or sum of work would hold an honest chain up for ever.
  test("are those of the original, to the last digit", () => {
    // SHA-256 of "height id work" lines, from ADD_CHECKPOINT2 of checkpoints.cpp (0.18.5.1).
    const digests = {
      mainnet: "083ea280b19398ad93fcd0e8692ce546d6c13835039037cf89bf2151b12e27c3",
      testnet: "62dfd316a2c3afd2e8eea17ea010eac1e7429c434adcefca9e6e7af58d41114b",
      stagenet: "aa079d0f9ee2801c4d8c6f441f2f5839d7432ee8359009c504e84ac22ecb6a77",
    };
    for (const name of ["mainnet", "testnet", "stagenet"] as const) {
      const digest = createHash("sha256");
      for (const { height, id: hash, cumulativeDifficulty } of checkpointsOf(name))
        digest.update(`${height} ${toHex(hash)} ${cumulativeDifficulty!.toString(16)}\n`);
      assert.equal(digest.digest("hex"), digests[name], name);
    }
  });

  test("hold a node's chain on mainnet alone", () => {
    assert.equal(enforcedCheckpoints("mainnet").length, 63);
    for (const name of ["testnet", "stagenet", "regtest"] as const) {
      assert.deepEqual(enforcedCheckpoints(name), []);
    }
  });

  test("reach up to the newest of them", () => {
    const checkpoints = [{ height: 5, id: id(1) }];
    assert.ok(isInCheckpointZone(checkpoints, 5));
    assert.ok(!isInCheckpointZone(checkpoints, 6));
    assert.ok(!isInCheckpointZone([], 0));
  });

  test("come from a file too, but only above those known", () => {
    const line = (height: number, fill: string) => ({ height, hash: fill.repeat(32) });
    const more = parseCheckpoints(
      JSON.stringify({ hashlines: [line(9, "09"), line(7, "07"), line(5, "ff")] }),
    );
    const all = withCheckpoints([{ height: 5, id: id(5) }], more);
    assert.deepEqual(
      all.map(({ height, id: [first] }) => [height, first]),
      [
        [5, 5],
        [7, 7],
        [9, 9],
      ],
    );
    assert.deepEqual(parseCheckpoints("{}"), []);
    const lowest = parseCheckpoints(JSON.stringify({ hashlines: [line(0, "00"), line(1, "01")] }));
    assert.deepEqual(
      lowest.map(({ height }) => height),
      [0, 1],
    );
    // Without any known, the genesis block is not for a file to name.
    assert.deepEqual(withCheckpoints([], lowest), lowest.slice(1));
  });

  test("of a file that is none are refused", () => {
    const bad = [
      "",
      "7",
      "null",
      '{"hashlines":5}',
      '{"hashlines":[null]}',
      '{"hashlines":[{"height":"1","hash":"00"}]}',
      `{"hashlines":[{"height":1.5,"hash":"${"00".repeat(32)}"}]}`,
      `{"hashlines":[{"height":-1,"hash":"${"00".repeat(32)}"}]}`,
      `{"hashlines":[{"height":1,"hash":"${"0g".repeat(32)}"}]}`,
      '{"hashlines":[{"height":1,"hash":"00"}]}',
      '{"hashlines":[{"height":1}]}',
    ];
    for (const text of bad) assert.throws(() => parseCheckpoints(text), BadCheckpoints, text);
    assert.throws(() => parseCheckpoints("{"), /not JSON/);
    assert.throws(() => parseCheckpoints("7"), /not an object/);
  });

  test("find the oldest block of a chain that is another", () => {
    const chain = { height: 8, blockId: (height: number) => id(height) };
    const at = (height: number, fill = height): Checkpoint => ({ height, id: id(fill) });
    assert.equal(brokenCheckpoint(chain, [at(3), at(7), at(8, 1)]), undefined);
    assert.equal(brokenCheckpoint(chain, [at(3), at(6, 1), at(7, 1)])?.height, 6);
  });
});

describe("a block at a checkpoint", () => {
  const forge = createForge("checkpoints");
  const block = forge.block();
  const { chain, now } = forge.context();
  const judge = (...checkpoints: Checkpoint[]) =>
    verifyBlock({ block, transactions: [] }, chainContext({ ...chain, checkpoints }, now));
  const work = chain.cumulativeDifficulty + 1n;

  test("is the one named", () => {
    judge({ height: 1, id: blockId(block) });
    assertRefused(() => judge({ height: 1, id: id(1) }), "CHECKPOINT");
    judge({ height: 2, id: id(1) });
  });

  test("shows damage where its work was counted otherwise, never a violation", () => {
    judge({ height: 1, id: blockId(block), cumulativeDifficulty: work });
    assert.throws(() => judge({ height: 1, id: blockId(block), cumulativeDifficulty: work + 1n }), {
      name: "Error",
      message: /drifted/,
    });
  });
});

describe("a branch", () => {
  const forge = createForge("branch and checkpoints");
  const block = forge.block();
  const { chain, now } = forge.context();
  const judge = (mainHeight: number, ...checkpoints: Checkpoint[]) =>
    verifyAlternativeBlock(block, { view: { ...chain, checkpoints }, length: 0, mainHeight, now });

  test("leaves the main chain above the newest checkpoint reached", () => {
    judge(9, { height: 0, id: id(1) }, { height: 10, id: id(2) });
    assertRefused(() => judge(10, { height: 10, id: id(2) }), "BELOW_CHECKPOINT");
    assertRefused(() => judge(9, { height: 1, id: blockId(block) }), "BELOW_CHECKPOINT");
  });

  test("that reaches a checkpoint is told so, if its block is the one named", () => {
    assert.equal(judge(0, { height: 1, id: blockId(block) }).isCheckpoint, true);
    assert.equal(judge(0, { height: 2, id: blockId(block) }).isCheckpoint, false);
    assertRefused(() => judge(0, { height: 1, id: id(1) }), "CHECKPOINT");
  });
});

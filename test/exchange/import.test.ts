import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { writeKnownBlocks } from "@anulo/consensus";
import { exportChain, parseKnownBlocks } from "@anulo/node";
import { pruningSeed, toHex } from "@anulo/protocol";
import { BadSource } from "@anulo/storage";
import { importInto, monerodBlocks, recordedBlocks, recordedIds, withChain, writeRaw } from "./chains.ts";
import { monerodFile } from "./monerod-file.ts";

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "anulo-test-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The first block with payments, and some after it. */
const FIRST_PAID = recordedBlocks.findIndex(({ transactions }) => transactions.length > 0);
const SHORT = FIRST_PAID + 12;

const refusal = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof BadSource, String(error));
  assert.match(error.message, pattern);
  return true;
};

test("an import that is stopped again and again ends with the same chain as one that is not", async (t) => {
  const folder = folderOf(t);
  const from = join(folder, "blockchain.raw");
  writeRaw(from, recordedBlocks.slice(0, SHORT));
  const path = join(folder, "chain.mdb");
  let runs = 0;
  for (let isComplete = false; !isComplete; runs++) {
    const stop = new AbortController();
    if (runs === 0) stop.abort();
    const options = runs > 1 ? {} : { signal: stop.signal, last: 40, onProgress: () => stop.abort() };
    const found = await importInto(path, { from, ...options });
    isComplete = runs > 1 && found.isComplete;
    assert.equal(toHex(found.topId), recordedIds[found.height - 1]);
  }
  const again = await importInto(path, { from });
  assert.deepEqual([again.before, again.height, runs], [SHORT, SHORT, 3]);
  const exported = join(folder, "exported.raw");
  const stopped = new AbortController();
  const options = { network: "regtest", databasePath: path, to: exported } as const;
  await exportChain({ ...options, signal: stopped.signal, onProgress: () => stopped.abort() });
  const part = readFileSync(exported).length;
  assert.equal((await exportChain(options)).end, SHORT);
  assert.ok(part < readFileSync(exported).length);
  const twice = await importInto(join(folder, "twice.mdb"), { from: exported });
  assert.equal(toHex(twice.topId), recordedIds[SHORT - 1]);
});

test("what is wrong in a file is named with height and offset, and what was before it is kept", async (t) => {
  const folder = folderOf(t);
  const from = join(folder, "blockchain.raw");
  const blocks = recordedBlocks.slice(0, SHORT);
  const { blob, transactions } = blocks[FIRST_PAID]!;
  const forged = Uint8Array.from(transactions[0]!);
  forged[forged.length - 200]! ^= 1;
  const cases = [
    {
      block: { blob, transactions: [forged, ...transactions.slice(1)] },
      reason: /that the block does not hold/,
    },
    { block: { blob, transactions: [] }, reason: /it breaks a rule: .*transaction/i },
    { block: { blob: blocks[FIRST_PAID - 1]!.blob, transactions: [] }, reason: /it breaks a rule: / },
  ];
  for (const [i, { block, reason }] of cases.entries()) {
    const offsets = writeRaw(from, blocks.with(FIRST_PAID, block));
    const path = join(folder, `${i}.mdb`);
    await assert.rejects(
      importInto(path, { from }),
      refusal(
        new RegExp(
          `block \\d+, offset (${offsets.slice(FIRST_PAID, FIRST_PAID + 2).join("|")}): .*${reason.source}`,
          "i",
        ),
      ),
    );
    await withChain(path, (reader) => assert.equal(reader.height(), FIRST_PAID));
    writeRaw(from, blocks);
    const found = await importInto(path, { from });
    assert.deepEqual([found.before, toHex(found.topId)], [FIRST_PAID, recordedIds[SHORT - 1]]);
  }
});

test("of a file that was cut off, all whole blocks are taken", async (t) => {
  const folder = folderOf(t);
  const from = join(folder, "blockchain.raw");
  const path = join(folder, "chain.mdb");
  const offsets = writeRaw(from, recordedBlocks.slice(0, 40));
  truncateSync(from, offsets[30]! + 10);
  await assert.rejects(importInto(path, { from }), refusal(/./));
  await withChain(path, (reader) => assert.equal(reader.height(), 30));
});

test("another network's chain is refused, a branch is left for the heavier one", async (t) => {
  const folder = folderOf(t);
  const from = join(folder, "blockchain.raw");
  writeRaw(from, recordedBlocks.slice(0, 40));
  const path = join(folder, "chain.mdb");
  await importInto(path, { from, last: 20 });
  await withChain(path, (reader) => assert.equal(reader.height(), 24), 3);
  const found = await importInto(path, { from });
  assert.deepEqual([found.height, toHex(found.topId)], [40, recordedIds[39]]);
  await assert.rejects(
    importInto(join(folder, "stagenet.mdb"), { from, network: "stagenet", fixedDifficulty: undefined }),
    refusal(/its block 0 is not ours: it is of another network/),
  );
});

test("a pruned source is taken below blocks known beforehand alone, into a pruned database", async (t) => {
  const folder = folderOf(t);
  const raw = join(folder, "blockchain.raw");
  writeRaw(raw, recordedBlocks);
  const whole = join(folder, "whole.mdb");
  await importInto(whole, { from: raw, verifyThreads: undefined });
  const about = await withChain(
    whole,
    (reader) => {
      const infos = reader.blockInfos(0, reader.height());
      const known = writeKnownBlocks(
        infos.map(({ hash }) => hash),
        infos.map(({ weight }) => weight),
      );
      return {
        infos,
        known: parseKnownBlocks(known),
        blocks: monerodBlocks(reader, (height) => height < 512),
      };
    },
    30,
  );
  const seed = pruningSeed(3);
  const from = join(folder, "data.mdb");
  writeFileSync(from, monerodFile(about.blocks, { width: 12, pruningSeed: seed }));
  const path = join(folder, "pruned.mdb");
  const found = await importInto(path, { from, knownBlocks: about.known });
  assert.equal(found.height, about.infos.length);
  await withChain(path, (reader) => {
    assert.deepEqual(reader.blockInfos(0, reader.height()), about.infos);
    assert.equal(reader.pruningSeed(), seed);
    const { firstTransactionId } = reader.blockInfo(FIRST_PAID)!;
    assert.equal(reader.prunablePart(firstTransactionId + 1), undefined);
  });
  await assert.rejects(
    importInto(join(folder, "none.mdb"), { from }),
    refusal(new RegExp(`block ${FIRST_PAID}, .*its signatures were pruned, so that it cannot be verified`)),
  );
  await assert.rejects(
    importInto(whole, { from: raw, knownBlocks: about.known, last: 3 }).then(() => {
      rmSync(whole);
      return importInto(whole, { from: raw, last: 5 }).then(() =>
        importInto(whole, { from, knownBlocks: about.known }),
      );
    }),
    refusal(/it was pruned, and our database is not/),
  );
  writeFileSync(
    from,
    monerodFile(
      about.blocks.map((block, i) => (i === 9 ? { ...block, weight: 7 } : block)),
      { pruningSeed: seed },
    ),
  );
  await assert.rejects(
    importInto(join(folder, "weights.mdb"), { from, knownBlocks: about.known }),
    refusal(/blocks 1 to 511 are not those that are known of this network/),
  );
});

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import Module from "node:module";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { cnSlowHash, createRandomXCache, keccak256, loadNativeRandomX, randomxHash } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";
import { createPow } from "../src/pow/pow.ts";
import { type PowSearch, withNonce } from "../src/pow/work.ts";

const blob = Uint8Array.from({ length: 76 }, (_, i) => i * 7);
const seedId = Uint8Array.from({ length: 32 }, (_, i) => i);

/** What an old version takes to hash is least. */
const work = { blob, height: 1, majorVersion: 1, seedId: undefined };

/** Processes that this one started, save the one that looks. */
function children(parent = process.pid): number[] {
  const pids = execFileSync("ps", ["-o", "pid=,comm=", "--ppid", String(parent)], { encoding: "utf8" });
  const lines = pids.split("\n").filter((line) => line !== "" && !line.endsWith(" ps"));
  return lines.map((line) => Number.parseInt(line, 10));
}

/** Bytes of memory of this process, with huge pages, which its resident set leaves out. */
function memoryBytes(): number {
  const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
  const hugeKiB = Number(/^HugetlbPages:\s+(\d+)/m.exec(status)?.[1] ?? 0);
  return process.memoryUsage.rss() + 1024 * hugeKiB;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test("every version is hashed its own way", async () => {
  const pow = createPow({ threads: 1 });
  const hash = async (majorVersion: number) =>
    toHex(await pow.hash({ ...work, majorVersion, height: 1_800_000 }));
  const expected = { 1: 0, 6: 0, 7: 1, 8: 2, 9: 2, 10: 4, 11: 4 } as const;
  for (const [version, variant] of Object.entries(expected)) {
    const height = variant === 4 ? { height: 1_800_000 } : {};
    assert.equal(
      await hash(Number(version)),
      toHex(cnSlowHash(blob, { variant, ...height })),
      `version ${version}`,
    );
  }
  const randomx = toHex(randomxHash(createRandomXCache(seedId), blob));
  const hashed = await pow.hash({ blob, height: 5, majorVersion: 12, seedId });
  assert.equal(toHex(hashed), randomx);
  assert.equal(toHex(await pow.hash({ blob, height: 5, majorVersion: 16, seedId })), randomx);
  await assert.rejects(pow.hash({ ...work, majorVersion: 16 }), /needs a seed/);
  await assert.rejects(pow.hash({ ...work, majorVersion: 7, blob: blob.subarray(0, 42) }), /43 bytes/);
  await pow.stop();
});

test("where the system has the library RandomX takes no process, and its memory is free again in the end", async () => {
  const isMissing = "missing" in (await loadNativeRandomX());
  const engines: string[] = [];
  const pow = createPow({ threads: 3, onEngine: (engine) => engines.push(engine) });
  const before = memoryBytes();
  const blobs = Array.from({ length: 6 }, (_, i) => blob.map((byte) => byte ^ i));
  const hashes = await Promise.all(
    blobs.map((each) => pow.hash({ blob: each, height: 5, majorVersion: 16, seedId })),
  );
  assert.equal(children().length, isMissing ? 1 : 0);
  assert.deepEqual(engines, [isMissing ? "portable" : "native"]);
  const held = memoryBytes();
  await pow.stop();
  const after = memoryBytes();
  const cache = createRandomXCache(seedId);
  assert.deepEqual(
    hashes,
    blobs.map((each) => randomxHash(cache, each)),
  );
  const cacheBytes = 2 ** 28;
  assert.equal(held - before > cacheBytes / 2, !isMissing);
  assert.ok(after - before < cacheBytes / 2, `${(after - before) >> 20} MiB are left`);
});

test("without the library those who find that out get their hashes from the process", async () => {
  const loader = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown };
  const { _load: load } = loader;
  loader._load = (name, ...rest) => {
    if (name === "koffi") throw new Error("no koffi");
    return load(name, ...rest);
  };
  const reasons: (string | undefined)[] = [];
  const pow = createPow({ threads: 2, onEngine: (_, reason) => reasons.push(reason) });
  try {
    const work = { blob, height: 5, majorVersion: 16, seedId };
    const hashes = await Promise.all([1, 2, 3].map(() => pow.hash(work)));
    const expected = randomxHash(createRandomXCache(seedId), blob);
    assert.deepEqual(hashes, [expected, expected, expected]);
    assert.deepEqual(reasons, ["no koffi"]);
    assert.equal(children().length, 1);
  } finally {
    loader._load = load;
    await pow.stop();
  }
});

test("the hash of block 202612 is agreed, and takes no process", async () => {
  const pow = createPow({ threads: 1 });
  const agreed = "84f64766475d51837ac9efbef1926486e58563c95a19fef4aec3254f03000000";
  assert.equal(toHex(await pow.hash({ ...work, height: 202_612 })), agreed);
  assert.deepEqual(children(), []);
  await pow.stop();
});

test("the first nonce that will do is found, with one thread or three", async () => {
  const pow = createPow({ threads: 1 });
  const search: PowSearch = { ...work, difficulty: 6n, nonceOffset: 39, firstNonce: 2 ** 32 - 3 };
  const nonces: number[] = [];
  for (const threads of [1, 3]) {
    let hashes = 0;
    const found = await pow.search({ ...search, threads }, (more) => {
      hashes += more;
    }).result;
    assert.ok(found !== undefined && hashes > 0);
    const hashed = cnSlowHash(withNonce(blob, 39, found.nonce));
    assert.deepEqual(found.hash, hashed);
    assert.ok(hashed[31]! < 256 / 6);
    nonces.push(found.nonce);
  }
  assert.equal(nonces[0], nonces[1]);
  const before = (nonces[0]! - search.firstNonce + 2 ** 32) % 2 ** 32;
  for (let i = 0; i < before; i++) {
    assert.ok(
      cnSlowHash(withNonce(blob, 39, search.firstNonce + i))[31]! >= 42,
      `nonce ${i} would have done`,
    );
  }
  await pow.stop();
});

test("a search that is stopped finds nothing, and the next one is not disturbed", async () => {
  const pow = createPow({ threads: 1 });
  const endless: PowSearch = { ...work, difficulty: 2n ** 100n, nonceOffset: 39, firstNonce: 0 };
  const search = pow.search(endless);
  await pow.hash(work);
  search.stop();
  assert.equal(await search.result, undefined);
  assert.deepEqual(await pow.hash(work), cnSlowHash(blob));
  await pow.stop();
});

test("when the process dies, what was open is asked again; what kills twice is given up", async () => {
  const pow = createPow({ threads: 1 });
  await pow.hash(work);
  const [first] = children();
  const pending = pow.hash(work);
  process.kill(first!, "SIGKILL");
  assert.deepEqual(await pending, cnSlowHash(blob));
  const doomed = pow.search({ ...work, difficulty: 2n ** 100n, nonceOffset: 39, firstNonce: 0 });
  const givenUp = assert.rejects(doomed.result, /process ended/);
  for (let i = 0; i < 2; i++) {
    await pow.hash(work);
    const [pid] = children();
    process.kill(pid!, "SIGKILL");
    while (isAlive(pid!)) await setTimeout(5);
  }
  await givenUp;
  await pow.stop();
});

test("the process ends when nobody has asked for a while, and starts again", async () => {
  const pow = createPow({ threads: 1, idleMs: 20 });
  await pow.hash(work);
  while (children().length > 0) await setTimeout(5);
  const search = pow.search({ ...work, difficulty: 1n, nonceOffset: 39, firstNonce: 0 });
  assert.equal((await search.result)?.nonce, 0);
  search.stop();
  assert.deepEqual(await pow.hash(work), cnSlowHash(blob));
  await pow.stop();
  assert.deepEqual(children(), []);
});

test("stopping rejects what is open, and what comes after", async () => {
  const pow = createPow({ threads: 1 });
  const open = assert.rejects(pow.hash(work), /stopped/);
  await pow.stop();
  await open;
  await assert.rejects(pow.hash(work), /stopped/);
});

test("the process ends with the one that started it, however that ends", async () => {
  const module = new URL("../src/pow/pow.js", import.meta.url);
  const script = `
    const { createPow } = await import(${JSON.stringify(module)});
    const work = { blob: new Uint8Array(76), height: 1, majorVersion: 1, seedId: undefined };
    await createPow({ threads: 1 }).hash(work);
    console.log("hashed");
    setInterval(() => {}, 1000);`;
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(parent.stdout, "data");
  const [child] = children(parent.pid);
  assert.ok(child !== undefined && isAlive(child));
  parent.kill("SIGKILL");
  while (isAlive(child)) await setTimeout(5);
});

test("what no process should be given is refused at once", async () => {
  const pow = createPow({ threads: 1 });
  await assert.rejects(pow.hash({ ...work, blob: new Uint8Array(2 ** 21 + 1) }), RangeError);
  await assert.rejects(pow.hash({ ...work, height: -1 }), RangeError);
  await assert.rejects(pow.hash({ ...work, seedId: new Uint8Array(31) }), RangeError);
  assert.deepEqual(children(), []);
});

test("the hash of work that a caller claims is not remembered as a block's", async () => {
  const pow = createPow({ threads: 1 });
  const id = keccak256(Uint8Array.of(blob.length), blob);
  await pow.hashClaimed({ ...work, height: 202_612 });
  assert.equal(pow.hashOf(id), undefined);
  const hash = await pow.hash({ ...work, height: 202_612 });
  assert.deepEqual(pow.hashOf(id), hash);
  await pow.stop();
});

test("hashing has stalled since the first of those that wait arrived, or since the last one was done", async (t) => {
  const pow = createPow({ threads: 1 });
  let nowMs = 1000;
  t.mock.method(performance, "now", () => nowMs);
  assert.deepEqual([pow.openHashes, pow.stalledMs()], [0, 0]);
  const first = pow.hash(work);
  nowMs = 3000;
  const second = pow.hash(work);
  nowMs = 3500;
  assert.deepEqual([pow.openHashes, pow.stalledMs()], [2, 2500]);
  await first;
  nowMs = 4000;
  if (pow.openHashes > 0) assert.equal(pow.stalledMs(), 500);
  await second;
  assert.deepEqual([pow.openHashes, pow.stalledMs()], [0, 0]);
  await pow.stop();
});

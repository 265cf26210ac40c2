/** Who hashes what, in this process or in the other one, and what is remembered of it: neither hashes anything here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { agreedPowHash } from "@anulo/consensus";
import { keccak256 } from "@anulo/crypto";
import type { PowAnswer, PowQuestion } from "../src/pow/messages.ts";
import { createPow, type PowOptions } from "../src/pow/pow.ts";
import type { PowChildOptions } from "../src/pow/pow-child.ts";
import { withNonce } from "../src/pow/work.ts";

const seedId = new Uint8Array(32).fill(9);
const blob = Uint8Array.from({ length: 76 }, (_, i) => i);
const work = { blob, height: 5, majorVersion: 16, seedId };
/** No seed is needed for it. */
const oldWork = { blob, height: 5, majorVersion: 1, seedId: undefined };
const search = { ...oldWork, difficulty: 2n, nonceOffset: 39, firstNonce: 0 };
const hash = new Uint8Array(32).fill(1);
const idOfBlob = (bytes: Uint8Array) => keccak256(Uint8Array.of(bytes.length), bytes);

/** What was sent to those who hash, in order, and a way to answer the last question of each. */
function scene(options: Partial<PowOptions> = {}) {
  const sent: [where: string, what: PowQuestion][] = [];
  const settings: PowChildOptions["settings"][] = [];
  const answers = new Map<string, PowChildOptions["onAnswer"]>();
  const ended: string[] = [];
  const startAs = (where: string) => (started: PowChildOptions) => {
    answers.set(where, started.onAnswer);
    settings.push(started.settings);
    return {
      send: (question: PowQuestion) => void sent.push([where, question]),
      holdNode() {},
      disconnect: () => void ended.push(`${where} by itself`),
      kill: async () => void ended.push(where),
    };
  };
  const starts = { here: startAs("here"), process: startAs("process") };
  const pow = createPow({ threads: 3, ...options }, starts);
  const answer = (where: string, more: object) => {
    const { id } = sent.findLast(([at, what]) => at === where && "id" in what)![1] as { id: number };
    answers.get(where)!({ id, ...more } as PowAnswer);
  };
  const places = () => sent.map(([where, { type }]) => `${where}: ${type}`);
  return { pow, sent, answer, places, settings, ended, tell: (where: string) => answers.get(where)! };
}

test("RandomX is hashed in this process, what needs no seed in the other one", async () => {
  const { pow, answer, places, settings } = scene({ disabledFlags: 4 });
  const hashes = [pow.hash(work), pow.hash(oldWork), pow.hash({ ...oldWork, seedId })];
  assert.deepEqual(places(), ["here: hash", "process: hash", "process: hash"]);
  answer("here", { type: "hashed", hash });
  assert.deepEqual(await hashes[0], hash);
  assert.deepEqual(settings, Array(2).fill({ threads: 3, engine: undefined, disabledFlags: 4 }));
  for (const open of hashes.slice(1)) void open.catch(() => {});
  await pow.stop();
});

test("where the library may not be used, all is hashed in the other process", async () => {
  const { pow, answer, places, settings } = scene({ isPortable: true });
  const hashed = pow.hash(work);
  answer("process", { type: "hashed", hash });
  assert.deepEqual(await hashed, hash);
  assert.deepEqual(places(), ["process: hash"]);
  assert.deepEqual(settings, [{ threads: 3, engine: "portable", disabledFlags: 0 }]);
});

test("where there turns out to be no library, the question goes to the other process, and so do later ones", async () => {
  const engines: unknown[] = [];
  const { pow, answer, places, tell } = scene({ onEngine: (...news) => void engines.push(news) });
  const hashed = pow.hash(work);
  tell("here")({ type: "engine", engine: "portable", reason: "none" });
  assert.deepEqual(engines, [["portable", "none"]]);
  answer("here", { type: "failed", reason: "no library" });
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
  answer("process", { type: "hashed", hash });
  assert.deepEqual(await hashed, hash);
  tell("process")({ type: "engine", engine: "portable", reason: "none" });
  assert.deepEqual(engines, [["portable", "none"]], "it is reported once");
  const later = pow.hash(work);
  answer("process", { type: "hashed", hash });
  await later;
  assert.deepEqual(places(), ["here: hash", "process: hash", "process: hash"]);
});

test("what fails with the library fails, and is the fault until a hash succeeds", async () => {
  const { pow, answer, places, tell } = scene();
  const failing = pow.hash(work);
  tell("here")({ type: "engine", engine: "native", reason: undefined });
  assert.equal(pow.openHashes, 1);
  answer("here", { type: "failed", reason: "no memory" });
  await assert.rejects(failing, /no memory/);
  assert.match(pow.fault!, /no memory/);
  assert.equal(pow.openHashes, 0);
  assert.deepEqual(places(), ["here: hash"]);
  assert.equal(pow.hashOf(idOfBlob(blob)), undefined);
  const next = pow.hash(work);
  answer("here", { type: "hashed", hash });
  await next;
  assert.equal(pow.fault, undefined);
  assert.deepEqual(pow.hashOf(idOfBlob(blob)), hash);
});

test("an answer that is no hash is an error", async () => {
  const { pow, answer } = scene();
  const hashed = pow.hash(oldWork);
  answer("process", { type: "searched", nonce: undefined });
  await assert.rejects(hashed, /an odd answer: searched/);
});

test("a hash is open from its question to its answer, and stalled since the last answer", async (t) => {
  let nowMs = 1000;
  t.mock.method(performance, "now", () => nowMs);
  const { pow, answer } = scene();
  const first = pow.hash(work);
  nowMs = 3000;
  const second = pow.hashClaimed(work);
  nowMs = 3500;
  assert.deepEqual([pow.openHashes, pow.stalledMs()], [2, 2500]);
  answer("here", { type: "hashed", hash });
  await second;
  nowMs = 4000;
  assert.deepEqual([pow.openHashes, pow.stalledMs()], [1, 500]);
  assert.equal(pow.hashOf(idOfBlob(blob)), undefined, "what is only claimed is not remembered");
  await pow.stop();
  await assert.rejects(first, /stopped/);
  nowMs = 9000;
  assert.deepEqual([pow.openHashes, pow.stalledMs()], [0, 0]);
});

test("where the hash is agreed nobody is asked for it", async () => {
  const { pow, places } = scene();
  assert.deepEqual(await pow.hash({ ...oldWork, height: 202_612 }), agreedPowHash(202_612));
  assert.deepEqual(places(), []);
});

test("a nonce is four bytes, little-endian, and after the greatest comes zero", () => {
  const bytesOf = (nonce: number) => [...withNonce(blob, 39, nonce).subarray(38, 44)];
  assert.deepEqual(bytesOf(0x01020304), [38, 4, 3, 2, 1, 43]);
  assert.deepEqual(bytesOf(2 ** 32 - 1), [38, 255, 255, 255, 255, 43]);
  assert.deepEqual(bytesOf(2 ** 32), [38, 0, 0, 0, 0, 43]);
  assert.deepEqual([...blob.subarray(38, 44)], [38, 39, 40, 41, 42, 43], "the blob is not changed");
});

test("seeds in use go to both, and to those that start later", async () => {
  const { pow, sent, places } = scene();
  const [next, other] = [new Uint8Array(32).fill(2), new Uint8Array(32).fill(3)];
  pow.useSeeds(seedId, next);
  assert.deepEqual(sent, [], "nobody hashes yet");
  void pow.hash(work).catch(() => {});
  void pow.hash(oldWork).catch(() => {});
  assert.deepEqual(places(), ["here: seeds", "here: hash", "process: seeds", "process: hash"]);
  assert.deepEqual(sent[0]![1], { type: "seeds", current: seedId, next });
  pow.useSeeds(next, other);
  assert.deepEqual(
    sent.slice(4),
    ["here", "process"].map((where) => [where, { type: "seeds", current: next, next: other }]),
  );
  await pow.stop();
});

test("a search is the other process's; its hash is remembered, and it can be ended", async () => {
  const { pow, sent, answer, places } = scene();
  const heard: number[][] = [];
  const { result } = pow.search(search, (...progress) => void heard.push(progress));
  answer("process", { type: "progress", hashes: 7, cpuMs: 8 });
  assert.deepEqual(heard, [[7, 8]]);
  answer("process", { type: "searched", nonce: { nonce: 258, hash } });
  assert.deepEqual(await result, { nonce: 258, hash });
  assert.deepEqual(pow.hashOf(idOfBlob(withNonce(blob, 39, 258))), hash);
  assert.equal(pow.hashOf(idOfBlob(blob)), undefined);
  const empty = pow.search(search);
  answer("process", { type: "searched", nonce: undefined });
  assert.equal(await empty.result, undefined);
  const ended = pow.search(search);
  ended.stop();
  assert.equal(await ended.result, undefined);
  assert.deepEqual(places(), [...Array(3).fill("process: search"), "process: abandon"]);
  const ids = sent.map(([, question]) => ("id" in question ? question.id : 0));
  assert.equal(new Set(ids.slice(0, 3)).size, 3);
  assert.equal(ids[3], ids[2]);
});

test("who has hashed nothing for ten minutes is let go", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { pow, answer, ended } = scene();
  const hashed = pow.hash(oldWork);
  answer("process", { type: "hashed", hash });
  await hashed;
  t.mock.timers.tick(599_999);
  assert.deepEqual(ended, []);
  t.mock.timers.tick(1);
  assert.deepEqual(ended, ["process by itself"]);
});

test("stopping ends both", async () => {
  const { pow, ended } = scene();
  for (const each of [work, oldWork]) void pow.hash(each).catch(() => {});
  await pow.stop();
  assert.deepEqual(ended, ["here", "process"]);
});

test("what exceeds two mebibytes, or has no height or seed that there can be, is refused", async () => {
  const { pow, places } = scene();
  const odd = [
    { blob: new Uint8Array(2 ** 21 + 1) },
    { height: -1 },
    { height: 2 ** 53 },
    { height: 1.5 },
    { seedId: new Uint8Array(31) },
    { seedId: new Uint8Array(33) },
  ];
  for (const change of odd) {
    await assert.rejects(pow.hash({ ...work, ...change }), RangeError);
    assert.throws(() => pow.search({ ...search, ...change }), RangeError);
  }
  assert.deepEqual(places(), []);
  void pow.hash({ ...work, blob: new Uint8Array(2 ** 21), height: 0 }).catch(() => {});
  assert.deepEqual(places(), ["here: hash"]);
  await pow.stop();
});

test("of 4096 blocks the hash is remembered, of more the oldest is forgotten", async () => {
  const { pow, answer } = scene();
  const blobOf = (number: number) => withNonce(blob, 39, number);
  for (let number = 0; number < 4097; number++) {
    const hashed = pow.hash({ ...oldWork, blob: blobOf(number) });
    answer("process", { type: "hashed", hash });
    await hashed;
    if (number === 4095) assert.deepEqual(pow.hashOf(idOfBlob(blobOf(0))), hash);
  }
  const known = [0, 1, 4096].map((number) => pow.hashOf(idOfBlob(blobOf(number))) !== undefined);
  assert.deepEqual(known, [false, true, true]);
});

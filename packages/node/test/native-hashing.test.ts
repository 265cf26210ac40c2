/** RandomX by the system's library in the node's own process, with a made-up library: what is freed, when, and once. */
import assert from "node:assert/strict";
import Module from "node:module";
import { after, beforeEach, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { createHasher } from "../src/pow/hasher.ts";
import type { PowAnswer, SeedSource } from "../src/pow/messages.ts";
import { startPowHere } from "../src/pow/pow-here.ts";

const FLAG_JIT = 8;
const TURNS = 20;

/** Calls of the library and of the system, in their order; addresses count from 1. */
let calls: string[] = [];
let addresses = 0n;
/** What a hash waits for. */
let gate: Promise<void> = Promise.resolve();
let isThere = true;

const results: Readonly<Record<string, (...values: never[]) => unknown>> = {
  randomx_get_flags: () => FLAG_JIT,
  randomx_alloc_cache: () => ++addresses,
  randomx_create_vm: () => ++addresses,
};
const noted = ["randomx_release_cache", "randomx_destroy_vm", "madvise"];

/** Function of a signature, such as "void randomx_destroy_vm(void*)". */
function functionOf(signature: string) {
  const name = /(\w+)\(/.exec(signature)![1]!;
  const call = (...values: unknown[]) => {
    if (noted.includes(name)) calls.push(`${name} ${values.join(" ")}`);
    return results[name]?.();
  };
  const async = (...values: unknown[]) => {
    const done = values.pop() as (error: null, result: unknown) => void;
    void gate.then(() => done(null, call(...values)));
  };
  return Object.assign(call, { async });
}

const koffi = { load: () => ({ func: functionOf }), address: () => 4096n, decode: () => 4096n };

const loader = Module as unknown as { _load: (name: string, ...rest: unknown[]) => unknown };
const { _load: load } = loader;
const machine = process.arch;
loader._load = (name, ...rest) => {
  if (name !== "koffi") return load(name, ...rest);
  if (isThere) return koffi;
  throw new Error("no koffi");
};
// The library is trusted on this architecture alone.
Object.defineProperty(process, "arch", { value: "x64" });

after(() => {
  loader._load = load;
  Object.defineProperty(process, "arch", { value: machine });
});

beforeEach(() => {
  calls = [];
  addresses = 0n;
  gate = Promise.resolve();
  isThere = true;
});

const released = () => calls.filter((call) => call.startsWith("randomx_"));
const seeds = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
const workOf = (seedId: Uint8Array) => ({ blob: new Uint8Array(76), height: 5, majorVersion: 16, seedId });

/** Hashing here by the library; `hashed` resolves after so many answers. */
function startHere(threads: number) {
  const answers: PowAnswer[] = [];
  let [wanted, resolveHashed] = [0, () => {}];
  const pow = startPowHere({
    settings: { threads, engine: "native", disabledFlags: 0 },
    onAnswer(answer) {
      answers.push(answer);
      if (answers.length === wanted) resolveHashed();
    },
  });
  const hashed = (count: number) =>
    new Promise<void>((resolve) => {
      [wanted, resolveHashed] = [count, resolve];
    });
  return { pow, answers, hashed };
}

test("at the end each machine is destroyed, and then its cache freed, but not before its hash is there", async () => {
  const { pow, answers, hashed } = startHere(2);
  const both = hashed(2);
  for (const id of [0, 1]) pow.send({ type: "hash", id, work: workOf(seeds[0]!) });
  await both;
  assert.deepEqual(
    answers.map(({ type }) => type),
    ["hashed", "hashed"],
  );
  let open = () => {};
  gate = new Promise((resolve) => {
    open = resolve;
  });
  for (const id of [2, 3]) pow.send({ type: "hash", id, work: workOf(seeds[0]!) });
  await setImmediate();
  const ended = pow.kill();
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
  assert.deepEqual(released(), []);
  open();
  await ended;
  assert.deepEqual(released(), ["randomx_destroy_vm 2", "randomx_destroy_vm 3", "randomx_release_cache 1"]);
  assert.equal(answers.length, 2, "nobody hears of hashes after the end");
  await pow.kill();
  assert.equal(released().length, 3, "nothing is freed twice");
});

test("the caches of two seeds are both freed at the end", async () => {
  const { pow, hashed } = startHere(1);
  for (const [id, seedId] of seeds.entries()) {
    const done = hashed(id + 1);
    pow.send({ type: "hash", id, work: workOf(seedId) });
    await done;
  }
  await pow.kill();
  assert.deepEqual(
    released().filter((call) => call.includes("cache")),
    ["randomx_release_cache 1", "randomx_release_cache 3"],
  );
});

test("a cache that nobody has used for a minute is freed at once, after its machine, and not again", async ({
  mock,
}) => {
  const { pow, hashed } = startHere(1);
  const hash = async (id: number, seedId: Uint8Array) => {
    const done = hashed(id + 1);
    pow.send({ type: "hash", id, work: workOf(seedId) });
    await done;
  };
  await hash(0, seeds[0]!);
  await hash(1, seeds[1]!);
  pow.send({ type: "seeds", current: seeds[1]!, next: undefined });
  const minuteLater = performance.now() + 60_001;
  mock.method(performance, "now", () => minuteLater);
  await hash(2, seeds[1]!);
  for (let turn = 0; turn < TURNS; turn++) await setImmediate();
  const stale = ["randomx_destroy_vm 2", "randomx_release_cache 1"];
  assert.deepEqual(released(), stale);
  await pow.kill();
  assert.deepEqual(released(), [...stale, "randomx_destroy_vm 4", "randomx_release_cache 3"]);
});

test("a task that fails beside the event loop is answered with its reason, and the next one is done", async () => {
  const { pow, answers, hashed } = startHere(1);
  const both = hashed(2);
  pow.send({
    type: "hash",
    id: 0,
    work: { ...workOf(seeds[0]!), majorVersion: 7, seedId: undefined } as never,
  });
  pow.send({ type: "hash", id: 1, work: workOf(seeds[0]!) });
  await both;
  assert.deepEqual(answers.map((answer) => ("reason" in answer ? answer.reason : answer.type)).sort(), [
    "RandomX needs a seed",
    "hashed",
  ]);
  await pow.kill();
});

test("a machine that was dropped is destroyed once, and nothing is hashed with it any more", async () => {
  const hasher = createHasher({ disabledFlags: 0 });
  const source = { kind: "cache", flags: 0, address: 7n } as const;
  const take = () => hasher.execute({ type: "take", name: "a", source });
  const hash = () => hasher.execute({ type: "hash", work: workOf(seeds[0]!), source: "a" });
  for (let i = 0; i < 2; i++) {
    await take();
    assert.equal((await hash())?.type, "hashed");
  }
  assert.equal(addresses, 1n, "taken twice it has one machine");
  await hasher.execute({ type: "drop", name: "a" });
  await assert.rejects(hash(), /needs a seed/);
  hasher.close();
  assert.deepEqual(released(), ["randomx_destroy_vm 1"]);
});

test("a source that is freed goes back to the library, or its pages to the system", async () => {
  const hasher = createHasher({ disabledFlags: 0 });
  const free = (source: SeedSource) => hasher.execute({ type: "free", source });
  const native = { kind: "cache", flags: 0, address: 7n } as const;
  assert.deepEqual(await free(native), { type: "freed" });
  assert.deepEqual(calls, ["randomx_release_cache 7"]);
  const ours = { memory: { buffer: new ArrayBuffer(8192) } } as unknown as SeedSource;
  assert.deepEqual(await free(ours), { type: "freed" });
  assert.equal(calls.length, process.platform === "linux" ? 2 : 1);
  hasher.close();
});

test("where the library is gone a source of it can't be freed, and it is said", async () => {
  isThere = false;
  const hasher = createHasher({ disabledFlags: 0 });
  const source = { kind: "cache", flags: 0, address: 7n } as const;
  await assert.rejects(hasher.execute({ type: "free", source }), /no koffi/);
  hasher.close();
});

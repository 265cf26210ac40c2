/** Calls about all outputs of a wallet read them some at a time, and begin anew when a reorganisation moves them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { concatBytes, decode } from "@anulo/protocol";
import { exportedOutputs, piecesOfExport } from "../src/cold-signing/exported-outputs.ts";
import { SignedKeyImages } from "../src/cold-signing/key-images.ts";
import { magicOf, seal, unseal } from "../src/cold-signing/sealed.ts";
import { createKeys } from "../src/keys/wallet-keys.ts";
import {
  OutputsMoved,
  outputsAt,
  outputsFrom,
  retryWhenMoved,
  spendablePlaces,
} from "../src/outputs/walk.ts";
import { reserveOf } from "../src/proofs/reserve-outputs.ts";
import { createRuntime } from "../src/runtime.ts";
import { WorkThreads } from "../src/threads/work-threads.ts";
import { ledgerOf } from "./many-outputs.ts";
import { receive, seededRandom } from "./transfer-fixture.ts";

const bookOf = (count: number) =>
  ledgerOf({ count, amount: (i) => BigInt(i + 1), addresses: 3 }).state.outputs;

const everything = { offset: 0, count: Number.POSITIVE_INFINITY, requestedFrom: 0 };

test("an export has all outputs of a wallet, in the order in which they were found", () => {
  const book = bookOf(1000);
  const { outputs, ...span } = decode(exportedOutputs, concatBytes(...piecesOfExport(book, everything)));
  assert.deepEqual(span, { offset: 0, total: 1000 });
  assert.deepEqual(
    outputs.map(({ oneTimeKey, address, amount }) => ({ oneTimeKey, address, amount })),
    [...book].map(({ oneTimeKey, subaddress, amount }) => ({
      oneTimeKey,
      address: subaddress.minor,
      amount,
    })),
  );
});

test("an export and a list of outputs read few outputs before something is taken of them", (t) => {
  const book = bookOf(1000);
  const at = t.mock.method(book, "at");
  const pieces = piecesOfExport(book, everything);
  pieces.next();
  assert.equal(at.mock.callCount(), 0, "the head alone");
  pieces.next();
  assert.ok(at.mock.callCount() <= 256, `${at.mock.callCount()} outputs for the first piece`);
  at.mock.resetCalls();
  outputsFrom(book, 0, book.count).next();
  assert.ok(at.mock.callCount() <= 64, `${at.mock.callCount()} outputs for the first list`);
});

test("outputs are listed each once, whether by place or from one place to before another", () => {
  const book = bookOf(300);
  const amounts = (lists: Iterable<readonly { amount: bigint }[]>) =>
    [...lists].flatMap((list) => list.map(({ amount }) => Number(amount)));
  assert.deepEqual(
    amounts(outputsFrom(book, 10, 290)),
    Array.from({ length: 280 }, (_, i) => 11 + i),
  );
  const places = Array.from({ length: 200 }, (_, i) => 299 - i);
  assert.deepEqual(
    amounts(outputsAt(book, places)),
    places.map((place) => place + 1),
  );
  assert.deepEqual(amounts(outputsFrom(book, 300, 300)), []);
});

test("a walk in which outputs have moved begins anew", async () => {
  const book = bookOf(1000);
  let attempts = 0;
  const bytes = await retryWhenMoved(async () => {
    attempts += 1;
    const pieces: Uint8Array[] = [];
    for (const piece of piecesOfExport(book, everything)) {
      pieces.push(piece);
      if (attempts === 1 && pieces.length === 3) book.truncate(400);
    }
    return concatBytes(...pieces);
  });
  assert.equal(attempts, 2);
  assert.equal(decode(exportedOutputs, bytes).outputs.length, 400);
  await assert.rejects(
    retryWhenMoved(() => Promise.reject(new RangeError("another"))),
    /another/,
  );
});

test("outputs that have moved are noticed at the next step, by place or from one place on", () => {
  const walks = [
    (book: ReturnType<typeof bookOf>) =>
      outputsAt(
        book,
        Uint32Array.from({ length: 300 }, (_, i) => i),
      ),
    (book: ReturnType<typeof bookOf>) => outputsFrom(book, 0, 300),
  ];
  for (const walk of walks) {
    const book = bookOf(1000);
    const steps = walk(book);
    steps.next();
    steps.next();
    book.truncate(900);
    assert.throws(() => steps.next(), OutputsMoved);
  }
});

test("outputs that are found during a walk do not disturb it", () => {
  const book = bookOf(600);
  const lists = outputsFrom(book, 0, book.count);
  lists.next();
  book.push(book.at(0)!);
  assert.equal([...lists].flat().length, 600 - 64);
});

test("what can be proven is found in pauses: outputs that move meanwhile are noticed", async () => {
  const book = bookOf(100_000);
  const found = reserveOf(book, undefined);
  book.truncate(5);
  await assert.rejects(found, OutputsMoved);
  book.freeze(1, true);
  book.spend(2, 7);
  const { provable, total, hasFunds } = await reserveOf(book, undefined);
  assert.deepEqual([[...provable], total, hasFunds], [[0, 3, 4], 1n + 4n + 5n, true]);
  assert.deepEqual(await reserveOf(book, 1), { provable: new Uint32Array(), total: 0n, hasFunds: true });
});

test("threads take a list when few others wait, and results come in order", async () => {
  const threads = new WorkThreads();
  threads.most = 2;
  const keys = createKeys(seededRandom("lists"));
  const output = receive(keys, { amount: 1n, globalIndex: 0 }, seededRandom("output"));
  let [taken, done] = [0, 0];
  function* lists() {
    for (; taken < 40; taken++) yield Array.from({ length: taken % 3 }, () => output);
  }
  for await (const signed of threads.mapLists("signKeyImages", lists(), { keys })) {
    assert.equal(signed.length, done % 3);
    assert.ok(taken - done <= 4, `${taken - done} lists at once`);
    done += 1;
  }
  assert.equal(done, 40);
  await threads.close();
});

test("threads tell the error of a list once its turn comes", async () => {
  const threads = new WorkThreads();
  threads.most = 2;
  const keys = createKeys(seededRandom("lists"));
  const output = receive(keys, { amount: 1n, globalIndex: 0 }, seededRandom("output"));
  const bad = { ...output, txPublicKey: new Uint8Array(32).fill(2) };
  const results = threads.mapLists("signKeyImages", [[output], [bad], [bad], [output]], { keys });
  assert.equal((await results.next()).value!.length, 1);
  await assert.rejects(results.next());
  await threads.close();
});

test("key images are kept with their signatures", () => {
  const images = new SignedKeyImages(3);
  const signed = { keyImage: new Uint8Array(32).fill(7), signature: new Uint8Array(64).fill(9) };
  images.put(1, signed);
  assert.deepEqual(images.at(1), signed);
  assert.deepEqual(images.at(2).keyImage, new Uint8Array(32));
});

test("more than 64 MiB are sealed and opened", async () => {
  const sealer = { keys: createKeys(seededRandom("sealer")), runtime: createRuntime() };
  const magic = magicOf("Test", 1);
  const piece = new Uint8Array(2 ** 20).fill(5);
  const sealed = await seal(
    magic,
    Array.from({ length: 65 }, () => piece),
    sealer,
  );
  const plain = await unseal(magic, sealed, sealer);
  assert.equal(plain!.length, 65 * piece.length);
  assert.deepEqual(plain!.subarray(-piece.length), piece);
});

test("what can be spent is found in pauses: outputs that move meanwhile are noticed", () => {
  const book = bookOf(100_000);
  const question = { height: 1_000_000, seconds: 0, needsKeyImage: false, isUnlocked: () => true };
  const find = () => spendablePlaces(book, 0, question);
  const steps = find();
  assert.equal(steps.next().done, false);
  book.truncate(5);
  assert.throws(() => [...steps], OutputsMoved);
  const rest = find();
  let step = rest.next();
  while (step.done !== true) step = rest.next();
  assert.deepEqual([...step.value], [0, 1, 2, 3, 4]);
});

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessagePort } from "node:worker_threads";
import { cnSlowHash, isInMainSubgroup, publicKeyOf, randomScalar } from "@anulo/crypto";
import { SigningRefused } from "../src/multisig/attempts.ts";
import { WalletRefusal } from "../src/refusal.ts";
import { errorOf, failureOf } from "../src/threads/failures.ts";
import { type JobOutput, jobs } from "../src/threads/jobs.ts";
import { serveJobs, type WorkOrder } from "../src/threads/serve-jobs.ts";
import { WorkThreads } from "../src/threads/work-threads.ts";

const text = (value: string) => new TextEncoder().encode(value);

describe("jobs off the event loop", () => {
  it("give what they would give here, and leave their input as it is", async () => {
    const threads = new WorkThreads();
    const bytes = text("password");
    const hash = await threads.run("slowHash", { bytes, rounds: 2 });
    assert.deepEqual(hash, new Uint8Array(cnSlowHash(cnSlowHash(bytes))));
    assert.deepEqual(bytes, text("password"));
  });

  it("let the event loop go on meanwhile", async () => {
    const threads = new WorkThreads();
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await threads.run("slowHash", { bytes: text("x"), rounds: 3 });
    clearInterval(timer);
    assert.ok(turns > 3, `${turns} turns`);
  });

  it("run in the caller's thread where there is to be no other", async () => {
    const threads = new WorkThreads();
    threads.most = 0;
    const bytes = text("password");
    const order: string[] = [];
    const hashes = await Promise.all([
      threads.run("slowHash", { bytes, rounds: 1 }).finally(() => order.push("first")),
      threads.runLast("slowHash", { bytes, rounds: 1 }, []).finally(() => order.push("last")),
      threads.run("slowHash", { bytes, rounds: 1 }).finally(() => order.push("second")),
    ]);
    for (const hash of hashes) assert.deepEqual(hash, new Uint8Array(cnSlowHash(text("password"))));
    assert.deepEqual(bytes, text("password"));
    assert.deepEqual(order, ["first", "second", "last"]);
    await assert.rejects(threads.run("sign", { ringed: undefined as never, signing: undefined as never }));
    assert.deepEqual(await threads.map("arePoints", [publicKeyOf(randomScalar())], {}), [true]);
    assert.equal(threads.count, 1);
    await threads.close();
    assert.equal(threads.count, 0);
  });

  it("keep the order of a list shared out to several threads", async () => {
    const threads = new WorkThreads();
    threads.most = 3;
    const points = Array.from({ length: 200 }, (_, i) =>
      i % 7 === 0 ? new Uint8Array(32).fill(2) : publicKeyOf(randomScalar()),
    );
    const verdicts = await threads.map("arePoints", points, {});
    assert.deepEqual(verdicts, points.map(isInMainSubgroup));
    assert.deepEqual(await threads.map("arePoints", [], {}), []);
  });

  it("fail alone, with the error they threw", async () => {
    const threads = new WorkThreads();
    threads.most = 1;
    const output = { oneTimeKey: publicKeyOf(randomScalar()), keyImage: undefined };
    const image = { keyImage: publicKeyOf(randomScalar()), signature: new Uint8Array(64) };
    const item = { image, output: output as never, place: "0/1" };
    const failing = threads.map("checkKeyImages", [item], {});
    const following = threads.run("slowHash", { bytes: text("x"), rounds: 1 });
    await assert.rejects(failing, (error) => {
      assert.ok(error instanceof WalletRefusal);
      assert.equal(error.kind, "WRONG_SIGNATURE");
      assert.match(error.message, /^Signature check failed 0\/1, .*, signature (00){64}, pubkey /);
      return true;
    });
    assert.deepEqual(await following, new Uint8Array(cnSlowHash(text("x"))));
  });

  it("leave no secret key of a transaction behind in their thread", () => {
    const [main, additional, entropy] = [1, 2, 3].map((value) => new Uint8Array(32).fill(value));
    const signed = { txKeys: [main!, additional!] } as unknown as JobOutput<"sign">;
    assert.deepEqual(jobs.sign.secretsOfOutput(signed), [main, additional]);
    const proposed = { signed, entropy: entropy!, outputs: [], attempts: [] };
    assert.deepEqual(jobs.propose.secretsOfOutput(proposed), [main, additional, entropy]);
  });

  it("leave neither their secrets nor those they made, whether they succeed or fail", (t) => {
    const secret = () => new Uint8Array(32).fill(7);
    const made = secret();
    const run = t.mock.method(jobs.sign, "run", () => ({ txKeys: [made] }) as unknown as JobOutput<"sign">);
    let take: (order: WorkOrder) => void = () => {};
    const answers: unknown[] = [];
    serveJobs({
      on: (_: string, listener: typeof take) => {
        take = listener;
      },
      postMessage: (answer: unknown) => answers.push(structuredClone(answer)),
    } as unknown as MessagePort);
    const order = () => {
      const keys = { viewSecret: secret(), spendSecret: secret() };
      take({ id: 1, name: "sign", input: { signing: { keys } } });
      return keys;
    };
    const wiped = { viewSecret: new Uint8Array(32), spendSecret: new Uint8Array(32) };
    assert.deepEqual(order(), wiped);
    assert.deepEqual(made, new Uint8Array(32));
    run.mock.mockImplementation(() => {
      throw new WalletRefusal("NOT_ENOUGH_MONEY", "none");
    });
    assert.deepEqual(order(), wiped);
    // The caller got the secrets that were made.
    assert.deepEqual(answers[0], { id: 1, output: { txKeys: [secret()] } });
    assert.equal(answers.length, 2);
  });

  it("reject what cannot be a job and take the next", async () => {
    const threads = new WorkThreads();
    threads.most = 1;
    const bad = threads.run("sign", { ringed: undefined as never, signing: undefined as never });
    await assert.rejects(bad);
    assert.equal((await threads.run("slowHash", { bytes: text("x"), rounds: 1 })).length, 32);
  });

  it("wait, where nobody waits for them, until the others have a thread", async () => {
    const threads = new WorkThreads();
    threads.most = 1;
    const order: string[] = [];
    const hash = (name: string) => ({ bytes: text(name), rounds: 1 });
    await Promise.all([
      threads.run("slowHash", hash("a")).then(() => order.push("first")),
      threads.runLast("slowHash", hash("b"), []).then(() => order.push("last")),
      threads.run("slowHash", hash("c")).then(() => order.push("second")),
    ]);
    assert.deepEqual(order, ["first", "second", "last"]);
  });

  it("leave one thread of many once all have rested", async () => {
    const threads = new WorkThreads(1);
    threads.most = 3;
    const hash = (name: string) => threads.run("slowHash", { bytes: text(name), rounds: 1 });
    await Promise.all(["a", "b", "c"].map(hash));
    assert.equal(threads.count, 3);
    while (threads.count > 1) await nextTurn();
    await Promise.all(["a", "b"].map(hash));
    assert.equal(threads.count, 2);
  });

  it("tell refusals of every kind apart from bugs", () => {
    const refusal = errorOf(failureOf(new WalletRefusal("NOT_ENOUGH_MONEY", "none")));
    assert.ok(refusal instanceof WalletRefusal && refusal.kind === "NOT_ENOUGH_MONEY");
    assert.ok(errorOf(failureOf(new SigningRefused("stale"))) instanceof SigningRefused);
    const bug = new TypeError("x");
    assert.equal(errorOf(failureOf(bug)), bug);
  });
});

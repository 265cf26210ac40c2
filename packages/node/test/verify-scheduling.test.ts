/** Which thread checks which proofs, and when a further thread is started: with threads that check nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Failure, Obligation } from "@anulo/consensus";
import { proofsCost } from "../src/chain/proof-costs.ts";
import { FailedProof } from "../src/chain/proofs.ts";
import { createVerifiers } from "../src/verify-workers/verifiers.ts";
import type { VerifyThreadOptions } from "../src/verify-workers/verify-thread.ts";

/** Obligations for range proofs, each of some milliseconds. */
const proofs = (count: number) =>
  Array.from({ length: count }, () => ({
    kind: "rangeProof",
    transactionId: new Uint8Array(32),
    commitments: [new Uint8Array(32), new Uint8Array(32)],
    outputs: 2,
  })) as unknown as Obligation[];

const COST = proofsCost(proofs(1));

interface Run {
  readonly count: number;
  readonly cost: number;
  end(failure?: Failure): void;
}

function scene(threads: number) {
  const started: {
    readonly options: VerifyThreadOptions;
    readonly runs: Run[];
    isReady: boolean;
    pendingCost: number;
    isStopped: boolean;
  }[] = [];
  const start = (options: VerifyThreadOptions) => {
    const runs: Run[] = [];
    const thread = { options, runs, isReady: true, pendingCost: 0, isStopped: false };
    started.push(thread);
    return Object.assign(thread, {
      run(obligations: readonly Obligation[], cost: number) {
        thread.pendingCost += cost;
        return new Promise<Failure | undefined>((resolve) => {
          runs.push({
            count: obligations.length,
            cost,
            end(failure) {
              thread.pendingCost -= cost;
              resolve(failure);
            },
          });
        });
      },
      async stop() {
        thread.isStopped = true;
      },
    });
  };
  const { discharge, stop } = createVerifiers({ threads, idleMs: 77 }, start);
  const counts = () => started.map(({ runs }) => runs.map(({ count }) => count));
  return { discharge, stop, started, counts };
}

test("nothing is started for no proofs, one thread for a few, and what they cost is told to it", async () => {
  const { discharge, started, counts } = scene(4);
  await discharge([]);
  assert.deepEqual(counts(), []);
  const done = discharge(proofs(1));
  await Promise.resolve();
  assert.deepEqual(counts(), [[1]]);
  assert.equal(started[0]!.runs[0]!.cost, COST);
  assert.deepEqual([started[0]!.options.idleMs, started[0]!.options.firstProofs], [77, undefined]);
  started[0]!.runs[0]!.end();
  await done;
});

test("proofs are cut into shares of about the same cost, none of less than 2.75 milliseconds", async () => {
  const sharesOf = async (count: number, threads: number) => {
    const { discharge, counts } = scene(threads);
    void discharge(proofs(count));
    await Promise.resolve();
    return counts().flat();
  };
  assert.equal(COST, 1.2);
  assert.deepEqual(await sharesOf(4, 3), [4]);
  assert.deepEqual(await sharesOf(5, 3), [3, 2]);
  assert.deepEqual(await sharesOf(10, 3), [4, 3, 3]);
  assert.deepEqual(await sharesOf(100, 3), [34, 33, 33]);
  assert.deepEqual(await sharesOf(100, 1), [100]);
});

test("further threads are started where many proofs wait, up to the limit", async () => {
  for (const limit of [1, 2, 3]) {
    const { discharge, started } = scene(limit);
    for (let i = 0; i < 240; i++) void discharge(proofs(1));
    await Promise.resolve();
    assert.equal(started.length, limit);
    for (const { options } of started.slice(1)) assert.deepEqual(options.firstProofs, proofs(1));
  }
});

test("as long as proofs have waited for sixty milliseconds or less, all together, one thread has them all", async () => {
  const { discharge, started } = scene(3);
  void discharge(proofs(1));
  await Promise.resolve();
  const [first] = started;
  first!.pendingCost = 20;
  for (let i = 0; i < 3; i++) {
    void discharge(proofs(1));
    await Promise.resolve();
    first!.pendingCost = 20;
  }
  assert.equal(started.length, 1);
  void discharge(proofs(1));
  await Promise.resolve();
  assert.equal(started.length, 2);
  void discharge(proofs(1));
  await Promise.resolve();
  assert.equal(started.length, 2, "and what has waited before counts no more");
});

test("proofs go to the thread that can begin first, and one that still starts counts for sixty milliseconds", async () => {
  const { discharge, started, counts } = scene(2);
  void discharge(proofs(1));
  await Promise.resolve();
  started[0]!.pendingCost = 61;
  void discharge(proofs(1));
  await Promise.resolve();
  assert.deepEqual(counts(), [[1], [1]]);
  Object.assign(started[0]!, { pendingCost: 59.5 });
  Object.assign(started[1]!, { pendingCost: 0, isReady: false });
  void discharge(proofs(1));
  await Promise.resolve();
  assert.deepEqual(counts(), [[1, 1], [1]]);
  Object.assign(started[0]!, { pendingCost: 61 });
  void discharge(proofs(1));
  await Promise.resolve();
  assert.deepEqual(counts(), [
    [1, 1],
    [1, 1],
  ]);
  Object.assign(started[0]!, { pendingCost: 0 });
  Object.assign(started[1]!, { pendingCost: 0, isReady: true });
  void discharge(proofs(1));
  await Promise.resolve();
  assert.deepEqual(counts()[0], [1, 1, 1], "of equals the first");
});

test("a thread ends after thirty seconds unless another time is set", async () => {
  const idleTimes: number[] = [];
  const { discharge } = createVerifiers({ threads: 1 }, ({ idleMs }) => {
    idleTimes.push(idleMs);
    return { isReady: true, pendingCost: 0, run: async () => undefined, stop: async () => {} };
  });
  await discharge(proofs(1));
  assert.deepEqual(idleTimes, [30_000]);
});

test("a thread that is gone is sent nothing more", async () => {
  const { discharge, started, counts } = scene(1);
  void discharge(proofs(1));
  await Promise.resolve();
  started[0]!.options.onGone(started[0] as never);
  void discharge(proofs(1));
  await Promise.resolve();
  assert.deepEqual(counts(), [[1], [1]]);
});

test("without threads proofs are checked here", async () => {
  const { discharge, stop, counts } = scene(0);
  await assert.rejects(discharge(proofs(1)), "it is none that could hold");
  await stop();
  assert.deepEqual(counts(), []);
});

test("the first failure among all shares is the one that is told", async () => {
  const { discharge, started } = scene(1);
  const rejected = assert.rejects(discharge(proofs(1)), (error) => {
    assert.ok(error instanceof FailedProof);
    assert.deepEqual(error.transactionId, new Uint8Array(32).fill(4));
    return error.violation.code === "RANGE_PROOF";
  });
  await Promise.resolve();
  const failure = { violation: { code: "RANGE_PROOF" }, transactionId: new Uint8Array(32).fill(4) };
  started[0]!.runs[0]!.end(failure as never);
  await rejected;
});

test("stopping ends all threads, and proofs are refused from then on", async () => {
  const { discharge, stop, started } = scene(1);
  void discharge(proofs(1));
  await Promise.resolve();
  await stop();
  assert.deepEqual(
    started.map(({ isStopped }) => isStopped),
    [true],
  );
  await assert.rejects(discharge(proofs(1)), /has been stopped/);
});

test("without anything that hashes, work is an error; it is checked before all proofs", async () => {
  const { discharge, counts } = scene(1);
  const work = [{ kind: "powHash", difficulty: 2n }] as unknown as Obligation[];
  await assert.rejects(discharge([...proofs(1), ...work]), /nothing here to hash with/);
  assert.deepEqual(counts(), []);
  const hashes = [new Uint8Array(32), new Uint8Array(32).fill(255)];
  const pow = { hash: async () => hashes.shift()! };
  const verifiers = createVerifiers({ threads: 0, pow });
  await verifiers.discharge(work);
  await assert.rejects(
    verifiers.discharge(work),
    (error) => error instanceof FailedProof && error.violation.code === "PROOF_OF_WORK",
  );
});

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { admitTransaction, chainContext, type Obligation } from "@anulo/consensus";
import { readTransaction, transactionHash, transactionWeight } from "@anulo/protocol";
import { proofsCost } from "../src/chain/proof-costs.ts";
import { createProofs, FailedProof } from "../src/chain/proofs.ts";
import { createVerifiers } from "../src/verify-workers/verifiers.ts";
import { startVerifyThread } from "../src/verify-workers/verify-thread.ts";
import { emptyChain, loadBlocks, now } from "./chain-fixture.ts";
import { goldenState } from "./recorded-chains.ts";

/** What the two pool transactions of the golden chain leave to prove. */
async function realObligations(): Promise<Obligation[]> {
  const chain = await emptyChain();
  const { parts } = chain;
  const { blocks, pool } = goldenState();
  await loadBlocks(parts, blocks);
  const context = chainContext(parts.state.view(), now());
  const obligations = pool.flatMap((blob) => {
    const transaction = readTransaction(blob);
    const weight = transactionWeight(transaction, blob.length);
    const candidate = { transaction, id: transactionHash(transaction), weight };
    return admitTransaction(candidate, parts.pool, context).obligations;
  });
  await chain.close();
  return obligations;
}

const obligations = await realObligations();

/** The same with the signature of one input made wrong. */
function spoilt(kind: "clsag" | "balance"): Obligation[] {
  const at = obligations.findIndex((obligation) => obligation.kind === kind);
  const copy = structuredClone(obligations);
  const victim = copy[at]!;
  if (victim.kind === "clsag") victim.c1[0]! ^= 1;
  if (victim.kind === "balance") victim.fee += 1n;
  return copy;
}

for (const threads of [0, 1, 2]) {
  test(`true proofs are discharged with ${threads} threads, and again`, async () => {
    const verifiers = createVerifiers({ threads });
    await verifiers.discharge(obligations);
    await Promise.all([verifiers.discharge(obligations), verifiers.discharge(obligations.slice(0, 3))]);
    await verifiers.stop();
  });

  test(`with ${threads} threads the first false proof is named with its transaction`, async () => {
    const verifiers = createVerifiers({ threads });
    const both = [...spoilt("balance"), ...spoilt("clsag")];
    await assert.rejects(verifiers.discharge(both), (error: unknown) => {
      assert.ok(error instanceof FailedProof);
      assert.equal(error.violation.code, "BALANCE");
      const guilty = both.find(({ kind }) => kind === "balance")!;
      assert.ok(guilty.kind !== "powHash");
      assert.deepEqual(error.transactionId, guilty.transactionId);
      return true;
    });
    await assert.rejects(verifiers.discharge(spoilt("clsag")), /CLSAG/);
    await verifiers.discharge(obligations);
    await verifiers.stop();
  });
}

test("a thread that checks proofs before it is ready checks later ones as any other, whatever the first were", async () => {
  const garbage = [{ kind: "clsag" }] as unknown as Obligation[];
  for (const firstProofs of [obligations, spoilt("clsag"), garbage]) {
    const thread = startVerifyThread({ onGone: () => {}, idleMs: 30_000, firstProofs });
    const [first, failed] = await Promise.all([thread.run(obligations, 1), thread.run(spoilt("clsag"), 1)]);
    assert.equal(first, undefined);
    assert.equal(failed?.violation.code, "CLSAG");
    assert.equal(thread.isReady, true);
    assert.equal(thread.pendingCost, 0);
    await thread.stop();
  }
});

/** The golden chain's two waiting payments, each on its own. */
const payments = [...new Set(obligations.map(idOf))].map((id) =>
  obligations.filter((obligation) => idOf(obligation) === id),
);

function idOf(obligation: Obligation): string {
  return obligation.kind === "powHash" ? "" : Buffer.from(obligation.transactionId).toString("hex");
}

/** A payment, with what a change does to its obligation of a kind. */
function changed<K extends Obligation["kind"]>(
  kind: K,
  change: (obligation: Extract<Obligation, { kind: K }>) => void,
): Obligation[] {
  const copy = structuredClone(payments[0]!);
  for (const obligation of copy) if (obligation.kind === kind) change(obligation as never);
  return copy;
}

// Payments of strangers are checked together: none may be refused, or held up, for what another one is.
test("of many payments that wait, exactly those that are false or broken are refused, each for its reason", async () => {
  const [one, two] = payments;
  const badRange = changed("rangeProof", ({ proof }) => proof.r1.fill(0));
  const badRing = changed("clsag", ({ c1 }) => c1.fill(0));
  const broken = changed("clsag", (clsag) => {
    clsag.keys = clsag.keys.subarray(1);
  });
  const waiting = [
    one,
    two,
    badRange,
    one,
    badRing,
    two,
    broken,
    one,
    two,
    badRange,
    one,
    two,
  ] as Obligation[][];
  for (const threads of [1, 2]) {
    const verifiers = createVerifiers({ threads });
    const outcomes = await Promise.all(
      waiting.map((payment) =>
        verifiers.discharge(payment).then(
          () => "true",
          (error) => (error instanceof FailedProof ? error.violation.code : "fault"),
        ),
      ),
    );
    const expected = waiting.map(
      (payment) =>
        new Map([
          [badRange, "RANGE_PROOF"],
          [badRing, "CLSAG"],
          [broken, "fault"],
        ]).get(payment) ?? "true",
    );
    assert.deepEqual(outcomes, expected);
    await verifiers.stop();
  }
});

test("stopped workers refuse further work", async () => {
  const verifiers = createVerifiers({ threads: 1 });
  await verifiers.stop();
  await assert.rejects(verifiers.discharge(obligations), /stopped/);
});

test("what is proven once is not proven again, unless a ring changes", async () => {
  let asked = 0;
  const proofs = createProofs(async (open) => {
    asked += open.length;
  });
  await proofs.runProven(() => proofs.requireProven(obligations));
  assert.equal(asked, obligations.length);
  await proofs.runProven(() => proofs.requireProven(obligations));
  assert.equal(asked, obligations.length);
  const changed = structuredClone(obligations);
  const clsag = changed.find((obligation) => obligation.kind === "clsag")!;
  assert.ok(clsag.kind === "clsag");
  clsag.keys[96]! ^= 1;
  await proofs.runProven(() => proofs.requireProven(changed));
  assert.equal(asked, obligations.length + 1);
});

test("who asks for proofs is charged for them once, and for the attempts", async () => {
  const charged: number[] = [];
  const proofs = createProofs(async () => {});
  const sendersProofs = proofs.chargedTo((milliseconds) => void charged.push(milliseconds));
  const attempt = () => proofs.requireProven(obligations);
  await sendersProofs.runProven(attempt);
  const cost = proofsCost(obligations);
  assert.ok(cost > 1);
  // An attempt that requires proofs, the proofs, and the attempt that has them.
  assert.equal(charged.length, 3);
  assert.equal(charged[1], cost);
  await sendersProofs.runProven(attempt);
  assert.equal(charged.length, 4);
  await proofs.runProven(attempt);
  assert.equal(charged.length, 4);
});

test("the oldest proofs are forgotten when there are too many", async () => {
  const proofs = createProofs(async () => {}, { capacity: 2 });
  await proofs.runProven(() => proofs.requireProven(obligations.slice(0, 2)));
  await proofs.runProven(() => proofs.requireProven(obligations.slice(2, 3)));
  assert.equal(proofs.unproven(obligations.slice(0, 3)).length, 1);
});

/** Threads of this process. */
const threadCount = () => readdirSync("/proc/self/task").length;

test("threads that have nothing to do end, and others come when there is something again", async () => {
  const before = threadCount();
  const verifiers = createVerifiers({ threads: 2, idleMs: 20 });
  for (let i = 0; i < 2; i++) {
    await verifiers.discharge([...obligations, ...obligations]);
    assert.ok(threadCount() > before);
    while (threadCount() > before) await setTimeout(5);
  }
  await verifiers.stop();
});

test("payments that come one by one have one thread, those that wait for one another get a second", async () => {
  const before = threadCount();
  const verifiers = createVerifiers({ threads: 2 });
  for (let i = 0; i < 30; i++) await verifiers.discharge(payments[i % 2]!);
  const withOne = threadCount();
  assert.ok(withOne > before);
  for (let i = 0; i < 20; i++) {
    await Promise.all([0, 1, 0, 1].map((which) => verifiers.discharge(payments[which]!)));
  }
  assert.ok(threadCount() > withOne);
  await verifiers.stop();
});

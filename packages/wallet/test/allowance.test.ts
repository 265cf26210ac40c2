/** When a payment takes of its caller's allowance, and when it gives it back. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Allowance } from "../src/intents/allowance.ts";
import { type OpenIntent, payOnce } from "../src/intents/once.ts";
import type { Wallet } from "../src/wallet.ts";

/** What was done, in order: by the wallet and by the allowance. */
function start() {
  const done: string[] = [];
  const disk = { isFull: false };
  const wallet = {
    intents: { of: () => undefined },
    exclusively: (task: () => Promise<unknown>) => task(),
    checkWritten: () => undefined,
    now: () => ({ seconds: 5 }),
    runtime: { random: (count: number) => new Uint8Array(count) },
    commit: async ({ kind, outcome }: { kind: string; outcome?: { kind: string } }) => {
      done.push(`${kind} ${outcome?.kind ?? "planned"}`);
    },
  } as unknown as Wallet;
  const allowance: Allowance = {
    reserve: async ({ key, amount }) => {
      if (amount > 100n) throw new Error("too much");
      done.push(`reserve ${key} ${amount}`);
      return {
        settle: async (txHashes) => {
          if (disk.isFull) throw new Error("no space");
          done.push(`settle ${txHashes.join()}`);
        },
        release: async () => void done.push("release"),
      };
    },
    passOn: async (txHashes) => void done.push(`pass on ${txHashes.join()}`),
  };
  const asked = { key: "k", method: "transfer", digest: new Uint8Array(32) };
  const run = (perform: (intent: OpenIntent) => Promise<object>) =>
    payOnce({ wallet, allowance }, asked, { perform: (_, intent) => perform(intent) });
  return { done, disk, run };
}

test("a payment is counted before it is planned, and for good before it is kept to be sent", async () => {
  const { done, run } = start();
  await run(async (intent) => {
    await intent.plan(60n);
    done.push("sign");
    await intent.submission({}, ["x", "y"]);
    done.push("send");
    return {};
  });
  assert.deepEqual(done, ["reserve k 60", "intent planned", "sign", "settle x,y", "send"]);
});

test("what fails before it leaves is counted no more; what fails after it is", async () => {
  const early = start();
  await assert.rejects(
    early.run(async (intent) => {
      await intent.plan(60n);
      throw new Error("signing failed");
    }),
    /signing failed/,
  );
  assert.deepEqual(early.done, ["reserve k 60", "intent planned", "release"]);
  const late = start();
  await assert.rejects(
    late.run(async (intent) => {
      await intent.plan(60n);
      await intent.submission({}, ["x"]);
      throw new Error("the node refused it");
    }),
    /the node refused it/,
  );
  assert.deepEqual(late.done, ["reserve k 60", "intent planned", "settle x"]);
});

test("what can't be counted for good does not leave", async () => {
  const { done, disk, run } = start();
  disk.isFull = true;
  await assert.rejects(
    run(async (intent) => {
      await intent.plan(60n);
      await intent.submission({}, ["x"]);
      done.push("send");
      return {};
    }),
    /no space/,
  );
  assert.deepEqual(done, ["reserve k 60", "intent planned"], "nor is it given back");
});

test("what is signed in parts is counted together, and given back as a whole", async () => {
  const { done, run } = start();
  await assert.rejects(
    run(async (intent) => {
      await intent.plan(60n);
      await intent.plan(30n);
      await intent.plan(30n);
      return {};
    }),
    /too much/,
  );
  assert.deepEqual(done, ["reserve k 60", "intent planned", "reserve k 90", "release"]);
});

test("what was handed out to be sent by others stays counted; what was signed elsewhere is passed on", async () => {
  const { done, run } = start();
  await run(async (intent) => {
    await intent.plan(60n);
    await intent.handOut({}, [Uint8Array.of(255)]);
    return {};
  });
  assert.deepEqual(done, ["reserve k 60", "intent planned", "settle ff", "intent handedOut"]);
  const other = start();
  await other.run(async (intent) => await intent.submission({}, ["x"]));
  assert.deepEqual(other.done, ["pass on x"]);
});

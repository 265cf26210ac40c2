import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { baseReward, type KeyInput, minimumFullRewardWeight, type TxOutput } from "@anulo/protocol";
import {
  admitTransaction,
  baseFee,
  type ChainView,
  difficultyOfNextBlock,
  readmitTransaction,
  type TransactionCandidate,
  type ViolationCode,
  verifyTransaction,
} from "../src/index.ts";
import { bytes, input, type RingCtType, untagged, versionOne, versionTwo } from "./candidates.ts";
import { fakeContext, fakeOutput, fakeView } from "./fake-view.ts";
import { tagged } from "./forge.ts";

const forks = Array.from({ length: 16 }, (_, i) => i + 1);
const from = (first: number, last = 16) => forks.filter((fork) => fork >= first && fork <= last);

const ringSizeAt = (fork: number) => (fork >= 15 ? 16 : fork >= 8 ? 11 : fork === 7 ? 7 : fork === 6 ? 5 : 3);
const newestType = (fork: number): RingCtType => {
  if (fork >= 15) return 6;
  if (fork >= 13) return 5;
  if (fork >= 10) return 4;
  return fork >= 8 ? 3 : 2;
};
const plainOutput = (fork: number, amount = 0n) => (fork >= 15 ? tagged(bytes(1), amount) : untagged(amount));

interface Edit {
  inputs?: KeyInput[];
  outputs?: TxOutput[];
}

/** A transaction of version 1 that fits a fork in all but, from 6 on, its version. */
function visibleAt(fork: number, edit: Edit = {}): TransactionCandidate {
  const inputs = edit.inputs ?? [input(9, ringSizeAt(fork), 100n), input(7, ringSizeAt(fork), 100n)];
  return versionOne(inputs, edit.outputs ?? [plainOutput(fork, 50n), plainOutput(fork, 40n)]);
}

/** A transaction with hidden amounts that fits a fork, from 4 on. */
function hiddenAt(fork: number, edit: Edit & { type?: RingCtType } = {}): TransactionCandidate {
  const inputs = edit.inputs ?? [input(9, ringSizeAt(fork)), input(7, ringSizeAt(fork))];
  const outputs = edit.outputs ?? [plainOutput(fork), plainOutput(fork)];
  return versionTwo({ inputs, outputs, type: edit.type ?? newestType(fork) });
}

/** A transaction of its time. */
const goodAt = (fork: number, edit: Edit = {}) => (fork < 4 ? visibleAt(fork, edit) : hiddenAt(fork, edit));

/** The code of the violation in each fork, or "fine". */
function verdicts(make: (fork: number) => TransactionCandidate, view: Partial<ChainView> = {}): string[] {
  return forks.map((fork) => {
    try {
      verifyTransaction(make(fork), fakeContext({ hardForkVersion: fork, ...view }));
      return "fine";
    } catch (error) {
      const { violation } = error as { violation?: { code: string } };
      if (violation === undefined) throw error;
      return violation.code;
    }
  });
}

const forksWith = (all: readonly string[], code: ViolationCode) =>
  forks.filter((fork) => all[fork - 1] === code);

describe("from fork to fork", () => {
  test("a transaction of its time is fine in every one", () => {
    assert.deepEqual(new Set(verdicts(goodAt)), new Set(["fine"]));
  });

  test("version 1 is alone in 1, allowed to 5, and later only for amounts that hide nowhere", () => {
    const all = verdicts(visibleAt);
    assert.deepEqual(forksWith(all, "RINGCT_REQUIRED"), from(6));
    assert.deepEqual(all.slice(0, 5), Array(5).fill("fine"));
    const rare = verdicts(visibleAt, { outputCount: () => 2n });
    assert.deepEqual(new Set(rare), new Set(["fine"]));
  });

  test("version 2 is unknown in 1, too new in 2 and 3", () => {
    const all = verdicts(hiddenAt);
    assert.deepEqual(forksWith(all, "TRANSACTION_VERSION"), [1]);
    assert.deepEqual(forksWith(all, "TRANSACTION_VERSION_TOO_NEW"), [2, 3]);
    assert.deepEqual(all.slice(3), Array(13).fill("fine"));
  });

  test("an amount may hide among as many as its ring, and no fewer", () => {
    const alone = (fork: number) =>
      visibleAt(fork, { inputs: [input(7, Math.max(1, ringSizeAt(fork) - 1), 100n)] });
    const with_ = (spare: number) =>
      forks.map((fork) => {
        const outputCount = () => BigInt(ringSizeAt(fork) + spare);
        return verdicts(alone, { outputCount })[fork - 1];
      });
    assert.deepEqual(new Set(with_(-1)), new Set(["fine"]));
    assert.deepEqual(with_(0), ["fine", ...Array(15).fill("RING_SIZE")]);
  });

  test("hidden amounts count as many even where there are few", () => {
    const small = (fork: number) => hiddenAt(fork, { inputs: [input(7, ringSizeAt(fork) - 1)] });
    const all = verdicts(small, { outputCount: () => 0n });
    assert.deepEqual(forksWith(all, "RING_SIZE"), from(2));
  });

  test("visible amounts are one digit and zeros from 2", () => {
    const all = verdicts((fork) => visibleAt(fork, { outputs: [plainOutput(fork, 55n)] }));
    assert.deepEqual(forksWith(all, "OUTPUT_NOT_DECOMPOSED"), from(2));
  });

  test("a hidden amount is not shown as well, from 3", () => {
    const all = verdicts((fork) => hiddenAt(fork, { outputs: [plainOutput(fork, 5n), plainOutput(fork)] }));
    assert.deepEqual(forksWith(all, "OUTPUT_AMOUNT_VISIBLE"), from(3));
  });

  test("a ring repeats no member from 6", () => {
    const twice = (keyImage: number, fork: number): KeyInput => {
      const ring = input(keyImage, ringSizeAt(fork), fork < 4 ? 100n : 0n);
      return { ...ring, keyOffsets: [...ring.keyOffsets.slice(0, -1), 0n] };
    };
    const all = verdicts((fork) => goodAt(fork, { inputs: [twice(7, fork)] }));
    assert.deepEqual(forksWith(all, "RING_MEMBER_REPEATED"), from(6));
  });

  test("key images descend from 7", () => {
    const amount = (fork: number) => (fork < 4 ? 100n : 0n);
    const all = verdicts((fork) =>
      goodAt(fork, {
        inputs: [7, 9].map((keyImage) => input(keyImage, ringSizeAt(fork), amount(fork))),
      }),
    );
    assert.deepEqual(forksWith(all, "INPUTS_NOT_SORTED"), from(7));
    assert.deepEqual(all.slice(0, 6), Array(6).fill("fine"));
  });

  test("there are two outputs or more from 12, of visible amounts one is enough", () => {
    const all = verdicts((fork) => goodAt(fork, { outputs: [plainOutput(fork, fork < 4 ? 5n : 0n)] }));
    assert.deepEqual(forksWith(all, "TOO_FEW_OUTPUTS"), from(12));
    assert.deepEqual(all.slice(0, 11), Array(11).fill("fine"));
    const rare = { outputCount: () => 2n };
    const visible = verdicts((fork) => visibleAt(fork, { outputs: [plainOutput(fork, 5n)] }), rare);
    assert.deepEqual(new Set(visible), new Set(["fine"]));
  });

  test("no outputs at all were fine before range proofs covered several", () => {
    const all = verdicts((fork) => goodAt(fork, { outputs: [] }));
    assert.deepEqual(forksWith(all, "RINGCT_SHAPE"), from(8));
    assert.deepEqual(all.slice(0, 7), Array(7).fill("fine"));
  });

  test("rings are of one size from 12", () => {
    const all = verdicts((fork) =>
      hiddenAt(fork, { inputs: [input(9, ringSizeAt(fork)), input(7, ringSizeAt(fork) + 1)] }),
    );
    assert.deepEqual(forksWith(all, "RING_SIZES_DIFFER"), from(12));
  });

  test("ring members are ten blocks old from 12", () => {
    const young = {
      outputs: (_: bigint, indices: readonly bigint[]) => indices.map(() => fakeOutput({ height: 991 })),
    };
    const all = verdicts(goodAt, young);
    assert.deepEqual(forksWith(all, "RING_MEMBER_TOO_YOUNG"), from(12));
    assert.deepEqual(all.slice(0, 11), Array(11).fill("fine"));
  });

  test("outputs are plain before 15, tagged after, and alike in 15", () => {
    const outputs = (fork: number, ...list: TxOutput[]) =>
      goodAt(fork, { outputs: fork < 4 ? list.map((output) => ({ ...output, amount: 5n })) : list });
    const tag = tagged(bytes(1));
    assert.deepEqual(
      forksWith(
        verdicts((fork) => outputs(fork, tag, tag)),
        "OUTPUT_TYPE",
      ),
      from(1, 14),
    );
    const plain = verdicts((fork) => outputs(fork, untagged(), untagged()));
    assert.deepEqual(forksWith(plain, "OUTPUT_TYPE"), [16]);
    assert.deepEqual(
      forksWith(
        verdicts((fork) => outputs(fork, tag, untagged())),
        "OUTPUT_TYPE",
      ),
      forks,
    );
  });

  test("the weight of a transaction in a block is limited from 8, before that to a megabyte", () => {
    const all = verdicts((fork) => ({ ...goodAt(fork), weight: 500_000 }));
    assert.deepEqual(forksWith(all, "WEIGHT_ABOVE_LIMIT"), from(8));
    assert.deepEqual(all.slice(0, 7), Array(7).fill("fine"));
    const megabyte = verdicts((fork) => ({ ...goodAt(fork), weight: 1_000_000 }));
    assert.deepEqual(megabyte.slice(0, 7), Array(7).fill("fine"));
    const more = verdicts((fork) => ({ ...goodAt(fork), weight: 1_000_001 }));
    assert.deepEqual(forksWith(more, "BLOB_TOO_BIG"), from(1, 7));
  });

  test("a locked ring member opens with a minute of leeway in 1, two after, by the chain's time from 13", () => {
    const locked = (unlockTime: bigint) => ({
      outputs: (_: bigint, indices: readonly bigint[]) => indices.map(() => fakeOutput({ unlockTime })),
    });
    const now = 600_000_000;
    const lockedAt = (unlockTime: bigint) =>
      forks.filter((hardForkVersion) => {
        const context = fakeContext({ hardForkVersion, ...locked(unlockTime) }, now);
        try {
          verifyTransaction(goodAt(hardForkVersion), context);
          return false;
        } catch (error) {
          assert.match(String(error), /RING_MEMBER_LOCKED/);
          return true;
        }
      });
    assert.deepEqual(lockedAt(600_000_060n), from(13));
    assert.deepEqual(lockedAt(600_000_061n), [1, ...from(13)]);
    assert.deepEqual(lockedAt(600_000_120n), [1, ...from(13)]);
    assert.deepEqual(lockedAt(600_000_121n), forks);
  });
});

describe("from fork to fork, at the pool's door", () => {
  const refusal = (fork: number, weight: number, view: Partial<ChainView> = {}) => {
    const context = fakeContext({ hardForkVersion: fork, ...view });
    const pool = { isKeyImageInPool: () => false };
    const rich = { inputs: [input(7, ringSizeAt(fork), 10n ** 16n)] };
    const candidate = fork < 4 ? visibleAt(fork, rich) : hiddenAt(fork);
    const { ringct } = candidate.transaction;
    if (ringct !== undefined && ringct.type !== 0) ringct.fee = 10n ** 16n;
    return admitTransaction({ ...candidate, weight }, pool, context).refusal?.violation.code ?? "fine";
  };

  test("a transaction weighs less than half of the smallest block, less 600 bytes, from 8 on", () => {
    for (const fork of forks) {
      const roomy = { recentWeights: (count: number) => Array(count).fill(10_000_000) };
      assert.equal(refusal(fork, 149_400, roomy), "fine", `fork ${fork}`);
      const above = fork < 8 ? "fine" : "WEIGHT_ABOVE_LIMIT";
      assert.equal(refusal(fork, 149_401, roomy), above, `fork ${fork}`);
    }
  });

  test("the fee is 0.002 a kB to 3, follows reward and median from 4, and is per byte from 8", () => {
    const fee = (fork: number, view: Partial<ChainView> = {}) =>
      baseFee(fakeContext({ hardForkVersion: fork, alreadyGenerated: 0n, ...view }));
    const reward = baseReward({ alreadyGenerated: 0n, version: 4 });
    assert.deepEqual(
      [1, 2, 3].map((fork) => fee(fork)),
      Array(3).fill(2_000_000_000n),
    );
    const roundUp = (value: bigint) => ((value + 9_999n) / 10_000n) * 10_000n;
    assert.equal(fee(4), roundUp((2_000_000_000n * reward) / 10n ** 13n));
    for (const fork of [5, 6, 7]) assert.equal(fee(fork), roundUp((400_000_000n * reward) / 10n ** 13n));
    for (const fork of from(8, 14)) assert.equal(fee(fork), (reward * 3000n) / 300_000n / 300_000n / 5n);
    const newest = (reward * 3000n) / 300_000n / 300_000n;
    for (const fork of [15, 16]) assert.equal(fee(fork), newest - newest / 20n);
  });

  test("from 10 the fee looks at the smaller of both medians", () => {
    const busy = {
      recentWeights: (count: number) => Array(count).fill(3_000_000),
      longTermWeightMedian: 600_000,
    };
    const fee = (fork: number) =>
      baseFee(fakeContext({ hardForkVersion: fork, alreadyGenerated: 0n, ...busy }));
    const reward = baseReward({ alreadyGenerated: 0n, version: 9 });
    assert.equal(fee(9), (reward * 3000n) / 3_000_000n / 300_000n / 5n);
    for (const fork of [10, 14]) assert.equal(fee(fork), (reward * 3000n) / 600_000n / 300_000n / 5n);
  });

  test("a fee is enough with two per cent less, and counts whole kB before 8", () => {
    const isEnough = (fork: number, weight: number, fee: bigint) => {
      const candidate = fork < 4 ? visibleAt(fork) : hiddenAt(fork);
      const { ringct, prefix } = candidate.transaction;
      if (ringct !== undefined && ringct.type !== 0) ringct.fee = fee;
      else (prefix.inputs[0] as KeyInput).amount = fee + 90n - 100n;
      const context = fakeContext({ hardForkVersion: fork });
      const pool = { isKeyImageInPool: () => false };
      const { refusal } = admitTransaction({ ...candidate, weight }, pool, context);
      return refusal?.violation.code !== "FEE_TOO_LOW";
    };
    const perKilobyte = 1_960_000_000n;
    assert.ok(isEnough(3, 1024, perKilobyte));
    assert.ok(!isEnough(3, 1024, perKilobyte - 1n));
    assert.ok(!isEnough(3, 1025, perKilobyte));
    assert.ok(isEnough(3, 1025, 2n * perKilobyte));
    const perByte = baseFee(fakeContext({ hardForkVersion: 8 }));
    const needed = ((2000n * perByte + 9_999n) / 10_000n) * 10_000n;
    assert.ok(isEnough(8, 2000, needed - needed / 50n));
    assert.ok(!isEnough(8, 2000, needed - needed / 50n - 1n));
  });
});

describe("from fork to fork, in the pool", () => {
  const readmitted = (candidate: TransactionCandidate, fork: number, keptByBlock: boolean, view = {}) =>
    readmitTransaction(candidate, fakeContext({ hardForkVersion: fork, ...view }), { keptByBlock });
  const codeOf = (...args: Parameters<typeof readmitted>) => readmitted(...args).refusal?.violation.code;

  test("what waits in the pool is judged again under the next fork's rules", () => {
    const codes = (fork: number) => [
      codeOf(hiddenAt(fork), fork, false),
      codeOf(hiddenAt(fork), fork + 1, false),
    ];
    assert.deepEqual(codes(7), [undefined, "RING_SIZE"]);
    assert.deepEqual(codes(8), [undefined, undefined]);
    assert.deepEqual(codes(10), [undefined, undefined]);
    assert.deepEqual(codes(13), [undefined, undefined]);
    const [old, late] = [hiddenAt(12), hiddenAt(12)];
    assert.equal(codeOf(old, 13, false), undefined);
    assert.equal(codeOf(late, 14, false), "RINGCT_TYPE");
    assert.equal(codeOf(hiddenAt(14), 15, false), undefined);
    assert.equal(codeOf(hiddenAt(14), 16, false), "RINGCT_TYPE");
    const plain = hiddenAt(15, { outputs: [untagged(), untagged()] });
    assert.deepEqual([codeOf(plain, 15, false), codeOf(plain, 16, false)], [undefined, "OUTPUT_TYPE"]);
  });

  test("what comes from a block may be free and its inputs may not fit", () => {
    const free = hiddenAt(16);
    Object.assign(free.transaction.ringct!, { fee: 0n });
    assert.equal(codeOf(free, 16, false), "FEE_TOO_LOW");
    assert.deepEqual(readmitted(free, 16, true), { refusal: undefined, newestRingMember: 10 });
    const spent = { isKeyImageSpent: () => true };
    assert.equal(codeOf(hiddenAt(16), 16, false, spent), "KEY_IMAGE_SPENT");
    assert.deepEqual(readmitted(hiddenAt(16), 16, true, spent), { refusal: undefined, newestRingMember: 0 });
    assert.equal(codeOf(hiddenAt(14), 16, true), "RINGCT_TYPE");
    const heavy = (fork: number) => codeOf({ ...hiddenAt(fork), weight: 299_401 }, fork, true);
    assert.deepEqual([heavy(7), heavy(8)], [undefined, "WEIGHT_ABOVE_LIMIT"]);
  });
});

describe("from fork to fork, a block", () => {
  test("aims at one minute in 1 and at two after", () => {
    const difficulty = (hardForkVersion: number) =>
      difficultyOfNextBlock(
        fakeView({
          hardForkVersion,
          recentCumulativeDifficulties: (count) => Array.from({ length: count }, (_, i) => 1000n * BigInt(i)),
        }),
      );
    assert.deepEqual(forks.map(difficulty), [500n, ...Array(15).fill(1000n)]);
  });

  test("makes coins by the minute: twice as many from 2, and the tail with them", () => {
    const coins = (version: number, alreadyGenerated: bigint) => baseReward({ version, alreadyGenerated });
    assert.equal(coins(1, 0n), 17_592_186_044_415n);
    assert.equal(coins(2, 0n), 35_184_372_088_831n);
    assert.equal(coins(1, 2n ** 64n - 1n), 300_000_000_000n);
    for (const fork of from(2)) assert.equal(coins(fork, 2n ** 64n - 1n), 600_000_000_000n);
  });

  test("is not punished up to 20 kB in 1, 60 kB from 2, 300 kB from 5", () => {
    assert.deepEqual(forks.map(minimumFullRewardWeight), [
      20_000,
      ...Array(3).fill(60_000),
      ...Array(12).fill(300_000),
    ]);
  });

  test("looks back 735 blocks for its difficulty, and never at the first", () => {
    const asked = (height: number) => {
      const counts: number[] = [];
      difficultyOfNextBlock(
        fakeView({
          height,
          recentTimestamps: (count) => {
            counts.push(count);
            return [];
          },
        }),
      );
      return counts;
    };
    assert.deepEqual(
      [1, 2, 735, 736, 737].map((height) => asked(height)[0]),
      [0, 1, 734, 735, 735],
    );
    const fixed = { fixedDifficulty: 77n };
    assert.equal(difficultyOfNextBlock(fakeView({ height: 0, ...fixed })), 1n);
    assert.equal(difficultyOfNextBlock(fakeView({ height: 1, ...fixed })), 77n);
  });
});

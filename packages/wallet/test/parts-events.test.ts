/** What a wallet reports does not depend on the parts in which its blocks are applied and undone. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type BlocksChange, undoneFrom, undonePart, type WalletChange } from "../src/changes.ts";
import { EventDeriver } from "../src/events/deriver.ts";
import type { WalletEvent } from "../src/events/event.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import { createLedger, type Ledger } from "../src/ledger/ledger.ts";
import { lastTransactions } from "../src/outputs/block-outputs.ts";
import { inParts } from "../src/scan/change-parts.ts";
import type { ScannedTransaction } from "../src/state.ts";
import { blocks, output, signed, transaction } from "./events-fixture.ts";

/** Transactions by number, with the height in either chain; the height of the fork; and how the chains grow. */
type Story = {
  readonly first: ReadonlyMap<number, number>;
  readonly second: ReadonlyMap<number, number>;
  readonly fork: number;
  readonly lengths: readonly [number, number];
  /** Heights from which on blocks are undone one after the other. */
  readonly cuts: ReadonlySet<number>;
  /** How many times transactions of the newest block are undone by themselves, before each of these and at last. */
  readonly takes: number;
  /** Outputs and transactions of a change. */
  readonly items: number;
  /** The wallet is opened anew before changes with these numbers. */
  readonly reopens: ReadonlySet<number>;
};

const NUMBERS = 12;
/** Numbers of transactions that another number's output pays for; one of them was sent here. */
const spends: ReadonlyMap<number, number> = new Map([
  [10, 1],
  [11, 2],
]);
const SENT_HERE = 11;

function transactionAt(number: number, height: number): ScannedTransaction {
  const paid = spends.get(number);
  const change = output(50 + number, 40n, { minor: 0 });
  return transaction(number, height, {
    received: [paid === undefined ? output(number, 100n) : change],
    spends: paid === undefined ? [] : [paid],
    unlockTime: number === 4 ? BigInt(height + 14) : 0n,
  });
}

function blocksOf(heights: ReadonlyMap<number, number>, from: number, to: number): BlocksChange {
  const inside = [...heights].filter(([, height]) => height >= from && height < to);
  const transactions = inside.map(([number, height]) => transactionAt(number, height));
  return blocks(from, to - from, ...transactions.sort((a, b) => a.height - b.height)) as BlocksChange;
}

/** The blocks from one height to before another, as one change or as many, which may end amid a block. */
function parts(heights: ReadonlyMap<number, number>, from: number, to: number, items: number) {
  const change = blocksOf(heights, from, to);
  const ids = Array.from({ length: to - from }, (_, i) => Uint8Array.of(from + i, ...new Uint8Array(31)));
  return [...inParts({ ...change, ids }, false, items)];
}

async function tell({
  first,
  second,
  fork,
  lengths,
  cuts,
  takes,
  items,
  reopens,
}: Story): Promise<WalletEvent[][]> {
  const ledger: Ledger = createLedger("regtest", { seedLanguage: "", refreshFromHeight: 0 });
  let deriver = await EventDeriver.of(ledger);
  let count = 0;
  const change = async (...changes: WalletChange[]) => {
    const events: WalletEvent[] = [];
    for (const each of changes) {
      if (reopens.has(count++)) deriver = await EventDeriver.of(ledger);
      events.push(...deriver.observe(each, () => applyChange(ledger, each)));
    }
    return events;
  };
  const [end, secondEnd] = [1 + lengths[0], fork + lengths[1]];
  const before = await change(
    { kind: "outgoing", payment: signed(SENT_HERE, spends.get(SENT_HERE)!), txKeys: [] },
    ...parts(first, 1, end, items),
  );
  const undone = [...cuts].filter((cut) => cut > fork && cut < end).sort((a, b) => b - a);
  const reorganised: WalletEvent[] = [];
  const takeSome = async () => {
    for (let take = 0; take < takes; take++) {
      const { state } = ledger;
      const newest = state.partId.length > 0 ? state.height : state.height - 1;
      const ids = newest < fork ? [] : lastTransactions(state.outputs, newest, 1);
      if (ids.length > 0)
        reorganised.push(...(await change({ ...undonePart(newest, ids, state), isReorganised: true })));
    }
  };
  for (const height of undone) {
    await takeSome();
    reorganised.push(...(await change({ ...undoneFrom(height, ledger.state), isReorganised: true })));
  }
  await takeSome();
  reorganised.push(...(await change(...parts(second, fork, secondEnd, items))));
  const after = await change(blocks(secondEnd, 120));
  assert.equal(ledger.state.rescanTo, 0);
  assert.equal(ledger.state.reorganisedFrom, 0);
  return [before, reorganised, after];
}

const sorted = (events: readonly WalletEvent[]) =>
  events
    .map((event) => JSON.stringify(event, (_, value) => (typeof value === "bigint" ? `${value}` : value)))
    .sort();

const heightsFrom = (least: number, most: number) =>
  fc.uniqueArray(fc.tuple(fc.integer({ min: 1, max: NUMBERS - 1 }), fc.integer({ min: least, max: most })), {
    selector: ([number]) => number,
    maxLength: NUMBERS,
  });

const randomStory = fc
  .tuple(fc.integer({ min: 4, max: 30 }), fc.integer({ min: 1, max: 40 }))
  .chain(([length, secondLength]) =>
    fc.integer({ min: 2, max: length }).chain((fork) =>
      fc.record({
        first: heightsFrom(1, length),
        second: heightsFrom(fork, fork + secondLength - 1),
        fork: fc.constant(fork),
        lengths: fc.constant([length, secondLength] as const),
        cuts: fc.uniqueArray(fc.integer({ min: 2, max: 70 }), { maxLength: 12 }),
        takes: fc.integer({ min: 0, max: 3 }),
        items: fc.integer({ min: 1, max: 6 }),
        reopens: fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 6 }),
      }),
    ),
  );

/** What is below the fork is the same in both chains, and spends follow what they spend. */
function chainsOf(first: [number, number][], second: [number, number][], fork: number) {
  const shared = first.filter(([, height]) => height < fork);
  const known = new Set(shared.map(([number]) => number));
  const other = [...shared, ...second.filter(([number]) => !known.has(number))];
  const possible = (chain: [number, number][]) => {
    const heights = new Map(chain);
    return new Map(
      chain.filter(([number, height]) => {
        const paid = spends.get(number);
        return paid === undefined || (heights.get(paid) ?? Number.POSITIVE_INFINITY) < height;
      }),
    );
  };
  return { first: possible(first), second: possible(other) };
}

test("a reorganisation in parts reports what it reports at once, also where the wallet is opened amid it", async () => {
  await fc.assert(
    fc.asyncProperty(randomStory, async ({ first, second, fork, lengths, cuts, takes, items, reopens }) => {
      const story = { ...chainsOf(first, second, fork), fork, lengths };
      const none = new Set<number>();
      const whole = await tell({ ...story, cuts: none, takes: 0, items: 1000, reopens: none });
      const divided = await tell({ ...story, cuts: new Set(cuts), takes, items, reopens: new Set(reopens) });
      assert.deepEqual(divided.map(sorted), whole.map(sorted));
    }),
    { numRuns: 300 },
  );
});

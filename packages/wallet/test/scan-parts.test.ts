/**
 * A wallet that scans in parts comes to what one finds that is given the chain at once: whatever ends a scan amid them,
 * reorganises the chain, or changes the wallet in between.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex } from "@anulo/protocol";
import type { BlocksChange, WalletChange } from "../src/changes.ts";
import { applyChange } from "../src/ledger/apply-change.ts";
import type { Ledger } from "../src/ledger/ledger.ts";
import { inParts } from "../src/scan/change-parts.ts";
import type { ScanTask } from "../src/scan/messages.ts";
import type { ScannedTransaction } from "../src/state.ts";
import { checkBook } from "./check-book.ts";
import { signed } from "./events-fixture.ts";
import { payingTransaction } from "./many-outputs.ts";
import { Dice } from "./random-changes.ts";
import { createScans, newLedger } from "./scans-fixture.ts";

type Block = { readonly id: Uint8Array; readonly transactions: readonly ScannedTransaction[] };

/** A chain of payments to one wallet, by itself among others; the block at height 0 is the network's first. */
class Chain {
  blocks: Block[] = [];
  readonly #dice: Dice;
  /** Key images (hex) that transactions of these blocks spend. */
  readonly #spent = new Set<string>();

  constructor(dice: Dice, genesis: Uint8Array) {
    this.#dice = dice;
    this.blocks.push({ id: genesis, transactions: [] });
  }

  grow(count: number): void {
    for (let i = 0; i < count; i++) this.#add([]);
  }

  /** Other blocks from a height on, which have some of the transactions that were in those. */
  reorganise(height: number, count: number): void {
    const dropped = this.blocks.splice(height).flatMap(({ transactions }) => transactions);
    for (const { inputs } of dropped) for (const { keyImage } of inputs) this.#spent.delete(toHex(keyImage));
    for (let i = 0; i < count; i++) {
      const again = dropped.splice(0, this.#dice.below(6));
      this.#add(again.slice(this.#dice.below(2)));
    }
  }

  #add(again: readonly ScannedTransaction[]): void {
    const dice = this.#dice;
    const height = this.blocks.length;
    const count = [0, 0, 1, 3, 40][dice.below(5)]!;
    const fresh = Array.from({ length: count }, () => this.#transaction(height));
    const all = [...again.map((each) => ({ ...each, height })), ...fresh];
    // No chain spends a key image twice.
    const transactions = all.filter(({ inputs }) =>
      inputs.every(({ keyImage }) => {
        const isNew = !this.#spent.has(toHex(keyImage));
        this.#spent.add(toHex(keyImage));
        return isNew;
      }),
    );
    this.blocks.push({ id: dice.bytes(), transactions });
  }

  #transaction(height: number): ScannedTransaction {
    const dice = this.#dice;
    const made = payingTransaction(height, BigInt(1 + dice.below(1000)));
    const [output] = made.received;
    const received = [{ ...output!, oneTimeKey: dice.bytes(), keyImage: dice.bytes() }];
    const transaction = { ...made, txHash: dice.bytes(), received };
    const before = dice.pick(this.blocks)!.transactions;
    const [earlier] = dice.pick(before)?.received ?? [];
    if (earlier === undefined) return transaction;
    // Some pay a key that was paid before, some spend an output.
    if (dice.below(4) === 0) {
      const { oneTimeKey, keyImage } = earlier;
      return { ...transaction, received: [{ ...transaction.received[0]!, oneTimeKey, keyImage }] };
    }
    if (dice.below(3) > 0) return transaction;
    const inputs = [{ keyImage: earlier.keyImage!, amount: 0n }];
    return { ...transaction, received: dice.below(2) === 0 ? [] : transaction.received, inputs };
  }

  /** Blocks from one height to before another. */
  change(from: number, to: number): BlocksChange {
    const some = this.blocks.slice(from, to);
    const ids = some.map(({ id }) => id);
    const transactions = some.flatMap((block) => block.transactions);
    return { kind: "blocks", fromHeight: from, count: some.length, ids, lastBlockReward: 1n, transactions };
  }

  /** Where a node begins for a wallet with these blocks, newest first. */
  begin({ history, height }: Pick<ScanTask, "history" | "height">): number {
    const isAt = (at: number, id: Uint8Array) => toHex(this.blocks[at]?.id ?? id.subarray(1)) === toHex(id);
    if (history.length > 1 && isAt(height - 1, history[0]!)) return height;
    const heights = new Map(this.blocks.map(({ id }, at) => [toHex(id), at]));
    const known = history.map((id) => heights.get(toHex(id))).find((at) => at !== undefined);
    return Math.max(1, known ?? 0);
  }
}

class Killed extends Error {}

/** What follows from the chain alone. */
const found = ({ state }: Ledger) => ({
  height: state.height,
  partId: toHex(state.partId),
  rescanTo: state.rescanTo,
  last: toHex(state.recent.last ?? new Uint8Array(0)),
  outputs: [...state.outputs]
    .map((each) => `${toHex(each.oneTimeKey)} ${each.amount} ${each.height} ${each.spentHeight}`)
    .sort(),
  incoming: [...state.incoming].map((each) => `${toHex(each.txHash)} ${each.amount} ${each.height}`).sort(),
  outgoing: [...state.outgoing.values()]
    .filter((each) => each.state === "confirmed")
    .map((each) => `${toHex(each.txHash)} ${each.amountIn} ${each.height}`)
    .sort(),
});

/** What only one of both has. */
function differences(a: ReturnType<typeof found>, b: ReturnType<typeof found>): string[] {
  const linesOf = (all: ReturnType<typeof found>) =>
    Object.entries(all).flatMap(([name, value]) => [value].flat().map((each) => `${name} ${each}`));
  const [first, second] = [linesOf(a), linesOf(b)];
  const without = (lines: string[], others: string[]) => lines.filter((line) => !others.includes(line));
  return [...without(first, second).map((it) => `+ ${it}`), ...without(second, first).map((it) => `- ${it}`)];
}

/** Something else that happens to the wallet between two parts. */
function otherChange(dice: Dice, { state }: Ledger): WalletChange | undefined {
  const output = state.outputs.at(dice.below(Math.max(1, state.outputs.count)));
  if (output?.keyImage === undefined) return undefined;
  const payment = { ...signed(1, 1), txHash: dice.bytes(), keyImages: [output.keyImage] };
  const changes: WalletChange[] = [
    { kind: "frozen", keyImage: toHex(output.keyImage), frozen: dice.below(2) === 0 },
    { kind: "outgoing", payment, txKeys: [dice.bytes()] },
    { kind: "newAddress", account: 0, label: "", count: 3 },
    { kind: "note", txHash: toHex(output.txHash), note: "a note" },
  ];
  return changes[dice.below(changes.length)];
}

/** The thread's side of one scan, which a reorganisation may come amid, and which may fail. */
async function scan(dice: Dice, chain: Chain, { scans, ...thread }: ReturnType<typeof createScans>) {
  const isFar = dice.below(3) === 0;
  const end = scans.inTurn(() => scans.refresh(0));
  let task: Pick<ScanTask, "history" | "height"> = await thread.whenScanning();
  const genesis = task.history.at(-1)!;
  for (let batch = 0; batch < 5; batch++) {
    const from = chain.begin(task);
    const to = Math.min(chain.blocks.length, from + 1 + dice.below(30));
    if (from >= to) break;
    const change = chain.change(from, to);
    for (const part of inParts(change, isFar, 1 + dice.below(30))) thread.sendBlocks(part);
    task = { history: [...change.ids.slice(-10).reverse(), genesis], height: to };
    if (dice.below(4) === 0)
      chain.reorganise(Math.max(1, chain.blocks.length - dice.below(25)), 1 + dice.below(30));
  }
  const failed = { kind: "failed", id: 1, refusal: "UNKNOWN_ERROR", message: "gone" } as const;
  thread.receive(dice.below(4) === 0 ? failed : { kind: "done", id: 1, pool: undefined });
  await end;
  return chain.begin(task) >= chain.blocks.length;
}

test("scans in parts, killed and reorganised anywhere, come to what is in the chain", async () => {
  let [kills, reached] = [0, 0];
  for (let seed = 0; seed < 60; seed++) {
    const dice = new Dice(`parts ${seed}`);
    const ledger = newLedger();
    let left = Number.POSITIVE_INFINITY;
    const commit = async (change: WalletChange) => {
      if (left-- <= 0) throw new Killed();
      applyChange(ledger, change);
      const other = dice.below(3) === 0 ? otherChange(dice, ledger) : undefined;
      if (other !== undefined) applyChange(ledger, other);
    };
    let thread = createScans(ledger, commit);
    const history = thread.scans.inTurn(() => thread.scans.refresh(0));
    const chain = new Chain(dice, (await thread.whenScanning()).history.at(-1)!);
    thread.receive({ kind: "done", id: 1, pool: undefined });
    await history;
    chain.grow(20 + dice.below(60));
    for (let round = 0; round < 6; round++) {
      left = dice.below(3) === 0 ? Number.POSITIVE_INFINITY : dice.below(12);
      try {
        await scan(dice, chain, thread);
      } catch (error) {
        if (error instanceof Killed) kills += 1;
        thread = createScans(ledger, commit);
      }
      chain.grow(dice.below(4));
    }
    left = Number.POSITIVE_INFINITY;
    let isAtTip = false;
    for (let last = 0; last < 20 && !isAtTip; last++)
      isAtTip = await scan(dice, chain, thread).catch((error: Error) => {
        assert.match(error.message, /gone|exceeds maximum allowed depth/);
        return false;
      });
    checkBook(ledger.state.outputs);
    if (ledger.state.height < chain.blocks.length || ledger.state.rescanTo > 0) continue;
    const whole = newLedger();
    applyChange(whole, chain.change(1, chain.blocks.length));
    assert.deepEqual(differences(found(ledger), found(whole)), [], `seed ${seed}`);
    reached += 1;
  }
  assert.ok(kills > 60 && reached > 30, `${kills} kills, ${reached} wallets at the tip`);
});

import { setTimeout as delay } from "node:timers/promises";
import { type ExactObject, formatExact } from "@anulo/devnet";
import { until } from "../../until.ts";
import { type Chance, createChance } from "../chance.ts";
import { demand, listOf } from "../wallet/stage.ts";
import type { Member } from "./member.ts";
import { FleetWorld } from "./world.ts";

export type FleetRoundsOptions = {
  readonly rounds: number;
  readonly seed: string;
  readonly processes: number;
  readonly wallets: number;
  /** Every so many rounds a process is stopped for longer than its lease lasts, instead of killed. */
  readonly pauseEvery: number;
  /** For so long. */
  readonly pauseMs: number;
  /** Whether the fleet keeps events, which a cursor, a webhook and a stream follow. */
  readonly events?: boolean;
  readonly onRound?: (round: FleetRound) => void;
};

export type FleetRound = {
  readonly round: number;
  readonly mishap: "kill" | "pause";
  /** Wallets that the process had, and milliseconds until the others answered for all of them. */
  readonly moved: number;
  readonly takeoverMs: number;
  /** Milliseconds until the processes shared the wallets equally again; undefined if that was not waited for, or in vain. */
  readonly balanceMs: number | undefined;
};

export type FleetReport = {
  readonly kills: number;
  readonly pauses: number;
  readonly payments: number;
  readonly attempts: number;
  readonly slowestTakeoverMs: number;
  /** Events that were told, and webhooks that came again; 0 where no events are kept. */
  readonly events: number;
  readonly repeated: number;
};

const PAYMENTS_PER_ROUND = 4;
const AMOUNT = 1_000_000_000n;
/** Wallets asked at once while a takeover is watched. */
const WATCHED_AT_ONCE = 16;
/** In every third round the next mishap comes before the wallets are shared equally again. */
const ROUNDS_PER_BALANCE = 3;
/** Maximum time that a balance is waited for, and how far from an equal share it may be, as a part of it. */
const MAX_BALANCE_MS = 30_000;
const BALANCE_RETRY_MS = 250;
const SLACK_SHARE = 0.2;
/** With fewer for each process, the wallets that a call has created, which are not handed over, may be most of them. */
const MIN_SHARE = 20;
/** For a process that was stopped to do what it was about to. */
const AWAKE_MS = 3000;
const BLOCKS_TO_SPEND_CHANGE = 10;

const OWNERS = `SELECT format('(decode(''%s'', ''hex''), %s::bigint)', encode(wallet, 'hex'), epoch) FROM anulo.owners`;

/**
 * Rows that were written by an owner who was none any more when `owners` were asked for: none may be added or changed
 * later. A wallet may have moved on since, which makes the rows of then no older.
 */
const oldRows = (owners: readonly string[]) =>
  `SELECT md5(rows.wallet || rows.key || rows.value) FROM anulo.rows
    JOIN (VALUES ${owners.join()}) AS owner (wallet, epoch) USING (wallet)
    WHERE substring(value FROM 1 FOR 6) < substring(int8send(owner.epoch) FROM 3 FOR 6)`;

type Payment = { readonly address: string; readonly answer: ExactObject; readonly attempts: number };

class Rounds {
  readonly #world: FleetWorld;
  readonly #options: FleetRoundsOptions;
  readonly #payments: Payment[] = [];
  #kills = 0;
  #pauses = 0;
  #slowestTakeoverMs = 0;
  #lastPayer = 0;

  constructor(world: FleetWorld, options: FleetRoundsOptions) {
    this.#world = world;
    this.#options = options;
  }

  get report(): FleetReport {
    return {
      kills: this.#kills,
      pauses: this.#pauses,
      payments: this.#payments.length,
      attempts: this.#payments.reduce((sum, { attempts }) => sum + attempts, 0),
      slowestTakeoverMs: this.#slowestTakeoverMs,
      events: this.#world.readers?.count ?? 0,
      repeated: this.#world.readers?.repeated ?? 0,
    };
  }

  async play(round: number): Promise<void> {
    const world = this.#world;
    const chance = createChance(`${this.#options.seed} ${round}`);
    const victim = chance.pick(world.members);
    const isPause = round % this.#options.pauseEvery === 0;
    const payments = await this.#begin(round, chance);
    await delay(chance.between(0, 400));
    const had = world.walletsOf(victim);
    const begin = performance.now();
    if (isPause) victim.process.pause();
    else await victim.process.kill();
    const others = world.members.filter((member) => member !== victim);
    const takeoverMs = await this.#watchTakeover(had, others, begin);
    this.#slowestTakeoverMs = Math.max(this.#slowestTakeoverMs, takeoverMs);
    if (isPause) await this.#wake(victim, begin);
    else world.members[world.members.indexOf(victim)] = await world.startMember();
    if (isPause) this.#pauses += 1;
    else this.#kills += 1;
    const balanceMs = round % ROUNDS_PER_BALANCE === 0 ? undefined : await this.#watchBalance();
    this.#payments.push(...(await Promise.all(payments)));
    await world.devnet.mine(BLOCKS_TO_SPEND_CHANGE);
    world.readers?.check();
    const mishap = isPause ? "pause" : "kill";
    this.#options.onRound?.({ round, mishap, moved: had.length, takeoverMs, balanceMs });
  }

  /** Milliseconds until every process has about its share of the wallets; undefined if that takes too long. */
  async #watchBalance(): Promise<number | undefined> {
    const { members, names } = this.#world;
    const share = names.length / members.length;
    if (share < MIN_SHARE) return undefined;
    const isEqual = async () => {
      await delay(BALANCE_RETRY_MS);
      return members.every(
        (member) => Math.abs(this.#world.walletsOf(member).length - share) <= SLACK_SHARE * share,
      );
    };
    const begin = performance.now();
    if (!(await until(isEqual, MAX_BALANCE_MS))) return undefined;
    return Math.round(performance.now() - begin);
  }

  /** Has some wallets pay, each by whatever process, and again by another once it is answered. */
  async #begin(round: number, chance: Chance): Promise<Promise<Payment>[]> {
    const { devnet, names, members } = this.#world;
    const count = Math.min(PAYMENTS_PER_ROUND, names.length);
    const response = await devnet.wallets.bob.call("create_address", { account_index: 0, count });
    return (response.addresses as readonly string[]).map((address) => {
      const name = names[this.#lastPayer++ % names.length]!;
      const payment = this.#pay({ name, address, key: `${round}-${name}` }, () => chance.pick(members));
      void payment.catch(() => undefined); // heard of below
      return payment;
    });
  }

  async #pay(
    { name, address, key }: { readonly name: string; readonly address: string; readonly key: string },
    choose: () => Member,
  ): Promise<Payment> {
    const world = this.#world;
    await world.askUntilAnswered(choose, name, { method: "refresh" });
    const params = { destinations: [{ address, amount: AMOUNT }], idempotency_key: key };
    const { answer, attempts } = await world.askUntilAnswered(choose, name, { method: "transfer", params });
    const again = await world.askUntilAnswered(choose, name, { method: "transfer", params });
    demand(
      formatExact(again.answer) === formatExact(answer),
      `a payment was answered\n${formatExact(answer)}\nthen\n${formatExact(again.answer)}`,
    );
    return { address, answer, attempts };
  }

  /** Milliseconds until all wallets that a process had are answered for by the others. */
  async #watchTakeover(had: readonly string[], others: readonly Member[], begin: number): Promise<number> {
    const remaining = [...had];
    const watch = async () => {
      for (let name = remaining.pop(); name !== undefined; name = remaining.pop()) {
        const member = others[remaining.length % others.length]!;
        await this.#world.askUntilAnswered(() => member, name, { method: "get_height" });
      }
    };
    await Promise.all(Array.from({ length: WATCHED_AT_ONCE }, watch));
    return Math.round(performance.now() - begin);
  }

  /** Lets a process that was stopped go on: whatever it was about to write must not be kept. */
  async #wake(victim: Member, begin: number): Promise<void> {
    const { postgres } = this.#world;
    await delay(Math.max(0, this.#options.pauseMs - (performance.now() - begin)));
    const select = oldRows(postgres.query(OWNERS));
    const old = new Set(postgres.query(select));
    victim.process.resume();
    await delay(AWAKE_MS);
    const later = postgres.query(select).filter((row) => !old.has(row));
    demand(later.length === 0, `${later.length} rows of a former owner came after it was none`);
    demand(
      victim.process.output.includes("lost its wallets"),
      "a process that was stopped thinks it still has its wallets",
    );
  }

  /** Each payment was received once. */
  async check(): Promise<void> {
    const { bob } = this.#world.devnet.wallets;
    await this.#world.devnet.mine(1);
    await bob.call("refresh");
    const transfers = await bob.call("get_transfers", { in: true, pool: true });
    const entries = [transfers.in, transfers.pool].flatMap(listOf);
    for (const { address, answer } of this.#payments) {
      const received = entries.filter((entry) => entry.address === address);
      const ids = received.map(({ txid }) => String(txid));
      demand(ids.join() === String(answer.tx_hash), `${answer.tx_hash} was answered, ${ids} received`);
      demand(BigInt(String(received[0]!.amount)) === AMOUNT, "another amount");
    }
    demand(
      entries.length === this.#payments.length,
      `${entries.length} payments were received, ${this.#payments.length} were answered`,
    );
    await this.#checkTold();
  }

  /** Every payment and receipt was told, each once. */
  async #checkTold(): Promise<void> {
    const { readers, names, members } = this.#world;
    if (readers === undefined) return;
    const ask = (name: string, method: string, params = {}) =>
      this.#world.askUntilAnswered(() => members[0]!, name, { method, params });
    for (const name of names) await ask(name, "refresh");
    await readers.demandAll();
    for (const { answer } of this.#payments) readers.demandPaid(String(answer.tx_hash));
    for (const name of names) {
      const { answer } = await ask(name, "get_transfers", { in: true });
      readers.demandReceived(name, listOf(answer.in));
    }
  }
}

/**
 * Processes of a fleet are killed, or stopped for longer than their leases last, while wallets pay by whatever process:
 * each payment is made once, nothing of a former owner is kept. Rejects at the first failure.
 */
export async function runFleetRounds(options: FleetRoundsOptions): Promise<FleetReport> {
  const { seed, events = false } = options;
  const chance = events ? createChance(`${seed} events`) : undefined;
  const world = await FleetWorld.create({ ...options, events: chance });
  try {
    const rounds = new Rounds(world, options);
    for (let round = 1; round <= options.rounds; round++) {
      await rounds.play(round).catch((error: unknown) => {
        throw new Error(`round ${round}: ${String(error)}`, { cause: error });
      });
    }
    await rounds.check();
    return rounds.report;
  } finally {
    await world.stop();
  }
}

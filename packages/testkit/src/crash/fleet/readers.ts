/** The consumers of a fleet's events, whom nothing happens to, and what they have to have seen. */
import { setTimeout as delay } from "node:timers/promises";
import { type ExactObject, isExactObject, parseExact } from "@anulo/devnet";
import { NatsProcess } from "../../programs/nats.ts";
import { until } from "../../until.ts";
import type { Chance } from "../chance.ts";
import { CursorConsumer, HookConsumer, StreamConsumer } from "../events/consumers.ts";
import { PaymentsByEvents } from "../events/payments-by-events.ts";
import { demand } from "../wallet/stage.ts";

/** Milliseconds without a new event after which a consumer counts as left behind. */
const PATIENCE_MS = 120_000;
const POLL_MS = 500;

export class FleetReaders {
  readonly #nats: NatsProcess;
  readonly #hook: HookConsumer;
  readonly #cursor: CursorConsumer;
  readonly #stream: StreamConsumer;
  readonly #urlOf: () => string;
  readonly #payments = new Map<string, PaymentsByEvents>();
  /** Number of events by type and transaction. */
  readonly #transfers = new Map<string, number>();

  private constructor(nats: NatsProcess, hook: HookConsumer, urlOf: () => string) {
    this.#nats = nats;
    this.#hook = hook;
    this.#urlOf = urlOf;
    this.#cursor = new CursorConsumer(urlOf, (event) => this.#add(event));
    this.#stream = new StreamConsumer(nats.address);
  }

  /** `urlOf`: some process of the fleet, another each time. */
  static async start(chance: Chance, urlOf: () => string): Promise<FleetReaders> {
    const [nats, hook] = [await NatsProcess.start(), await HookConsumer.start(chance)];
    return new FleetReaders(nats, hook, urlOf);
  }

  /** With which each process keeps events. */
  get flags(): readonly string[] {
    return ["--events", "--events-to", this.#nats.address, "--allow-private-webhooks"];
  }

  get hookUrl(): string {
    return this.#hook.url;
  }

  get count(): number {
    return this.#cursor.seenEvents.last;
  }

  /** Webhooks that came again after they had been taken. */
  get repeated(): number {
    return this.#hook.seenEvents.repeated;
  }

  #add(event: ExactObject): void {
    const wallet = String(event.wallet);
    const payments = this.#payments.get(wallet) ?? new PaymentsByEvents();
    this.#payments.set(wallet, payments);
    payments.add(event);
    const key = `${String(event.type)} ${String(event.tx_hash)}`;
    this.#transfers.set(key, (this.#transfers.get(key) ?? 0) + 1);
  }

  /** Throws what a consumer has found wrong so far. */
  check(): void {
    for (const consumer of [this.#cursor, this.#hook, this.#stream]) consumer.check();
  }

  /** Throws unless all consumers have seen the same events, and all there are. */
  async demandAll(): Promise<void> {
    this.#hook.isSteady = true;
    await this.#caughtUp();
    const readers = [this.#cursor, this.#hook, this.#stream];
    const last = this.count;
    let total = 0;
    const haveMore = async () => {
      this.check();
      const before = total;
      total = readers.reduce((sum, { seenEvents }) => sum + seenEvents.last, 0);
      return total > before;
    };
    const isOver = () => readers.every(({ seenEvents }) => seenEvents.last >= last);
    while (!isOver() && (await until(haveMore, PATIENCE_MS)));
    for (const { seenEvents } of readers) this.#cursor.seenEvents.demandSame(seenEvents);
  }

  /** Waits until the reader with a cursor has read all there is, at two looks. */
  async #caughtUp(): Promise<void> {
    for (let last = -1; ; ) {
      const response = await fetch(`${this.#urlOf()}/events?after=${this.count}&limit=1`);
      const page = parseExact(await response.text());
      const events = isExactObject(page) ? (page.events as readonly unknown[] | undefined) : undefined;
      if (events?.length === 0 && last === this.count) return;
      last = this.count;
      await delay(POLL_MS);
      this.check();
    }
  }

  /** Throws unless a payment was told to be signed once, and to be in a block once. */
  demandPaid(txHash: string): void {
    for (const type of ["transfer_signed", "transfer_mined"]) {
      const times = this.#transfers.get(`${type} ${txHash}`) ?? 0;
      demand(times === 1, `${type} of ${txHash} was told ${times} times`);
    }
  }

  /** Throws unless the events of a wallet say what it lists (entries of get_transfers). */
  demandReceived(wallet: string, receipts: readonly ExactObject[]): void {
    const payments = this.#payments.get(wallet);
    demand(payments !== undefined, `no event of ${wallet} was told`);
    payments.demandMined(receipts);
  }

  async stop(): Promise<void> {
    await this.#cursor.stop();
    await this.#stream.stop();
    await this.#hook.stop();
    await this.#nats.stop();
  }
}

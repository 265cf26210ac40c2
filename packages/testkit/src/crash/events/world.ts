/** A wallet service with an event log, which is killed, and the consumers of its events, whom nothing happens to. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CallFailed, call, type Devnet, type Exact, type ExactObject, startDevnet } from "@anulo/devnet";
import { NatsProcess } from "../../programs/nats.ts";
import { type RunningPostgres, startPostgres } from "../../programs/postgres.ts";
import type { Chance } from "../chance.ts";
import { WalletProcess } from "../wallet-process.ts";
import { CursorConsumer, HookConsumer, StreamConsumer } from "./consumers.ts";
import { PaymentsByEvents } from "./payments-by-events.ts";

const WALLET = "shop";
const COIN = 10n ** 12n;
/** Outputs of the wallet that pays into the pool. */
const PAYER_OUTPUTS = 40;
/** Payments of one block at most: one to each of so many addresses. */
const ADDRESSES = 500;
const ADDRESSES_PER_CALL = 100;
const MAX_ATTEMPTS = 5;
const RETRY_MS = 50;

/** What keeps the ledgers, and the log of events with PostgreSQL; the folder's own store if left out. */
export type EventsStore = "journal" | "postgres";

export class EventsWorld {
  readonly #folder = mkdtempSync(join(tmpdir(), "anulo-events-"));
  readonly #walletDir = mkdtempSync(join(this.#folder, "wallets-"));
  readonly devnet: Devnet<"payer">;
  readonly nats: NatsProcess;
  readonly payments = new PaymentsByEvents();
  readonly hook: HookConsumer;
  readonly cursor: CursorConsumer;
  readonly stream: StreamConsumer;
  readonly #postgres: RunningPostgres | undefined;
  readonly #storeFlags: readonly string[];
  #service: WalletProcess | undefined;
  /** Of the wallet whose events are followed. */
  addresses: readonly string[] = [];

  private constructor(
    parts: Pick<EventsWorld, "devnet" | "nats" | "hook"> & {
      readonly store: EventsStore | undefined;
      readonly postgres: RunningPostgres | undefined;
    },
  ) {
    const { devnet, nats, hook, store, postgres } = parts;
    this.devnet = devnet;
    this.nats = nats;
    this.hook = hook;
    this.#postgres = postgres;
    const location = store === "journal" ? "journal" : postgres?.address;
    this.#storeFlags = location === undefined ? [] : ["--store", location];
    this.cursor = new CursorConsumer(
      () => this.service.url,
      (event) => this.payments.add(event),
    );
    this.stream = new StreamConsumer(nats.address);
  }

  static async create(chance: Chance, store: EventsStore | undefined): Promise<EventsWorld> {
    const outputs = Array.from({ length: PAYER_OUTPUTS }, () => COIN);
    const devnet = await startDevnet({ wallets: { payer: outputs } });
    const [nats, hook] = [await NatsProcess.start(), await HookConsumer.start(chance)];
    const postgres = store === "postgres" ? await startPostgres() : undefined;
    const world = new EventsWorld({ devnet, nats, hook, store, postgres });
    try {
      await world.#begin();
      return world;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  async #begin(): Promise<void> {
    await this.#startService();
    await this.ask("create_wallet", { filename: WALLET, language: "English" });
    await this.ask("add_webhook", { url: this.hook.url, after: 0 });
    for (let count = 1; count < ADDRESSES; count += ADDRESSES_PER_CALL)
      await this.ask("create_address", { account_index: 0, count: ADDRESSES_PER_CALL });
    const { addresses } = await this.ask("get_address", { account_index: 0 });
    this.addresses = (addresses as ExactObject[]).slice(0, ADDRESSES).map(({ address }) => String(address));
  }

  get service(): WalletProcess {
    if (this.#service === undefined) throw new Error("no service was started");
    return this.#service;
  }

  async #startService(): Promise<void> {
    this.#service = await WalletProcess.start([
      ...["--wallet-dir", this.#walletDir, "--daemon-address", this.devnet.nodeUrl, "--trusted-daemon"],
      ...["--events", "--events-to", this.nats.address, "--allow-private-webhooks", ...this.#storeFlags],
    ]);
  }

  /** Kills the service, and starts it again with the wallet open. */
  async killService(): Promise<void> {
    await this.service.kill();
    await this.#startService();
    await this.ask("open_wallet", { filename: WALLET });
  }

  async killNats(): Promise<void> {
    await this.nats.kill();
    await this.nats.start();
  }

  /** A call of the service, repeated where it is not answered. */
  async ask(method: string, params: Exact = {}): Promise<ExactObject> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call(this.service.url, method, params);
      } catch (error) {
        if (error instanceof CallFailed || attempt === MAX_ATTEMPTS) throw error;
        await delay(RETRY_MS);
      }
    }
  }

  /** Throws what a consumer has found wrong so far. */
  check(): void {
    for (const consumer of [this.cursor, this.hook, this.stream]) consumer.check();
  }

  async stop(): Promise<void> {
    await this.cursor.stop();
    await this.stream.stop();
    await this.#service?.kill();
    await this.hook.stop();
    await this.nats.stop();
    await this.devnet.stop();
    await this.#postgres?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

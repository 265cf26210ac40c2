import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Exact, ExactObject } from "@anulo/devnet";
import { CallFailed, call } from "@anulo/devnet";
import { type RunningDaemon, startDaemon } from "../../programs/servers.ts";
import { type Ask, startWalletsInProcess } from "../in-process.ts";
import { Victim } from "../wallet/victim.ts";
import { wordsOf } from "../wallet/world.ts";
import { Cutter } from "./cutter.ts";

/** A service that is to die at some write may only come to it in a later call. */
const MAX_LIVES = 5;
const WAIT_MS = 50;

/** Between the service and its node, the receiver and the node, the payer and the service. */
type Lines = { readonly node: Cutter; readonly receiver: Cutter; readonly payer: Cutter };

/** A payer's wallet service and its node, which are killed and cut off, and a receiver, whom nothing happens to. */
export class PayerWorld {
  readonly #folder = mkdtempSync(join(tmpdir(), "anulo-payer-"));
  readonly #walletDir = mkdtempSync(join(this.#folder, "victim-"));
  readonly #chainDir = mkdtempSync(join(this.#folder, "chain-"));
  readonly #stops: (() => Promise<void> | void)[] = [];
  #node: RunningDaemon | undefined;
  #service: Victim | undefined;

  readonly #lines: Lines;
  #receiver: Ask = () => Promise.reject(new Error("no receiver yet"));
  #address = "";

  private constructor(lines: Lines) {
    this.#lines = lines;
  }

  static async create(): Promise<PayerWorld> {
    const [node, receiver, payer] = [await Cutter.start(), await Cutter.start(), await Cutter.start()];
    const world = new PayerWorld({ node, receiver, payer });
    try {
      await world.#open();
      return world;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  async #open(): Promise<void> {
    await this.revive();
    const bob = await startWalletsInProcess(this.#folder, this.#lines.receiver.url);
    this.#stops.push(() => bob.stop());
    this.#receiver = bob.ask;
    await bob.ask("restore_deterministic_wallet", { filename: "bob", seed: wordsOf("payer's receiver") });
    const restored = { filename: "alice", seed: wordsOf("payer") };
    this.#address = String((await this.ask("restore_deterministic_wallet", restored)).address);
    await this.mine(120);
    await this.ask("refresh");
  }

  get lines(): Lines {
    return this.#lines;
  }

  get service(): Victim {
    return this.#service!;
  }

  /** A call of the payer's wallet service over a line that nobody cuts; where it died after all, of the next one. */
  readonly ask: Ask = async (method: string, params: Exact = {}) => {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.reviveService();
        return await this.service.ask(method, params);
      } catch (error) {
        if (error instanceof CallFailed || attempt === MAX_LIVES) throw error;
        await delay(WAIT_MS);
      }
    }
  };

  /** The same over the payer's line. */
  askOverLine(method: string, params: ExactObject): Promise<ExactObject> {
    return call(this.#lines.payer.url, method, params);
  }

  receiver(method: string, params: Exact = {}): Promise<ExactObject> {
    return this.#receiver(method, params);
  }

  async killNode(): Promise<void> {
    const node = this.#node;
    this.#node = undefined;
    await node?.kill();
  }

  /** Starts what is dead, and opens the wallet where its service was. */
  async revive(): Promise<void> {
    if (this.#node === undefined) {
      this.#node = await startDaemon({ kind: "ours" }, { dataDir: this.#chainDir });
      this.#lines.node.target = this.#node.port;
      this.#lines.receiver.target = this.#node.port;
    }
    await this.reviveService();
  }

  async reviveService(): Promise<void> {
    if (this.#service !== undefined && !this.#service.isDead) return;
    const isFirst = this.#service === undefined;
    this.#service = await Victim.start(this.#walletDir, this.#lines.node.url);
    this.#lines.payer.target = Number(new URL(this.#service.url).port);
    if (!isFirst) await this.service.ask("open_wallet", { filename: "alice" });
  }

  async mine(blocks = 1): Promise<void> {
    const params = { amount_of_blocks: blocks, wallet_address: this.#address };
    await call(this.#node!.url, "generateblocks", params);
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.reverse()) await stop();
    await this.#service?.kill();
    await this.killNode();
    for (const line of Object.values(this.#lines)) line.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

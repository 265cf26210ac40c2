import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { call, loadChain, loadGoldenState, post, type RunningDaemon, startDaemon } from "@anulo/testkit";
import { makerOf, type Side } from "../actors.ts";

/** The recorded chain of 499 blocks. */
export const chain = loadChain();
/** A chain of 107 blocks, with payments in a few of them. */
export const short = loadGoldenState();

/** A node that can be ended and started again on its chain, with other peers. */
class Actor {
  readonly #side: Side;
  readonly #folder = mkdtempSync(join(tmpdir(), "anulo-"));
  #daemon: RunningDaemon | undefined;

  constructor(side: Side) {
    this.#side = side;
  }

  /** Starts it, or ends it and starts it again; without `peers` it speaks to nobody. */
  async start(peers?: readonly Actor[]): Promise<this> {
    await this.#daemon?.stop();
    const ports = this.#daemon && { port: this.#daemon.port, p2pPort: this.#daemon.p2pPort };
    const addresses = peers?.map(({ address }) => address);
    const whom = addresses === undefined ? {} : { peers: addresses };
    this.#daemon = await startDaemon(makerOf(this.#side), { dataDir: this.#folder, ...ports, ...whom });
    return this;
  }

  get url(): string {
    return this.#daemon!.url;
  }

  get address(): string {
    return `127.0.0.1:${this.#daemon!.p2pPort}`;
  }

  async height(): Promise<number> {
    return Number((await call(this.url, "get_info")).height);
  }

  async top(): Promise<string> {
    return String((await call(this.url, "get_info")).top_block_hash);
  }

  async pool(): Promise<number> {
    const { tx_hashes } = await post(`${this.url}/get_transaction_pool_hashes`, {});
    return Array.isArray(tx_hashes) ? tx_hashes.length : 0;
  }

  async mine(count: number): Promise<void> {
    const { address } = chain.wallets.alice;
    await call(this.url, "generateblocks", { amount_of_blocks: count, wallet_address: address });
  }

  async end(): Promise<void> {
    await this.#daemon?.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

export async function withActors(
  sides: readonly Side[],
  play: (...actors: Actor[]) => Promise<void>,
): Promise<void> {
  const actors = sides.map((side) => new Actor(side));
  try {
    await play(...actors);
  } finally {
    for (const actor of actors) await actor.end();
  }
}

/** Asks until it is so, for five minutes at most by default: the machine may be busy. */
export async function until(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  withinMs = 300_000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error(`waited in vain: ${what}`);
    await delay(50);
  }
}

/** Waits until all have the same top. */
export const agree = (...actors: Actor[]) =>
  until("all have the same top", async () => {
    const tops = await Promise.all(actors.map((actor) => actor.top()));
    return new Set(tops).size === 1;
  });

/** Processes that serve the wallets of one folder, over a real database and a chain of their own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { CallFailed, call, type Devnet, type Exact, type ExactObject, startDevnet } from "@anulo/devnet";
import { type RunningPostgres, startPostgres } from "../../programs/postgres.ts";
import type { Chance } from "../chance.ts";
import { Member } from "./member.ts";
import { FleetReaders } from "./readers.ts";

const CREATED_AT_ONCE = 8;
const RETRY_MS = 100;
/** What is answered where a wallet has no owner, or its owner is gone. */
const UNOWNED = -503;
/** Longer than a wallet may be without an owner, with much to spare for a busy machine. */
const ANSWERED_WITHIN_MS = 90_000;
/** So many make rewards mature, and give every ring its decoys. */
const BLOCKS_TO_SPEND = 120;

export type FleetWorldOptions = {
  readonly processes: number;
  readonly wallets: number;
  /** With which the receiver of the fleet's events fails at times; if left out, no events are kept. */
  readonly events?: Chance | undefined;
};

export class FleetWorld {
  readonly #folder = mkdtempSync(join(tmpdir(), "anulo-fleet-"));
  readonly #walletDir = mkdtempSync(join(this.#folder, "wallets-"));
  readonly names: readonly string[];
  readonly members: Member[] = [];
  readonly devnet: Devnet;
  readonly postgres: RunningPostgres;
  /** Undefined if no events are kept. */
  readers: FleetReaders | undefined;

  private constructor(devnet: Devnet, postgres: RunningPostgres, wallets: number) {
    this.devnet = devnet;
    this.postgres = postgres;
    this.names = Array.from({ length: wallets }, (_, i) => `w${i}`);
  }

  /** Starts the processes, makes the wallets, has each paid a few blocks, and waits until they know all blocks. */
  static async create({ processes, wallets, events }: FleetWorldOptions): Promise<FleetWorld> {
    const postgres = await startPostgres();
    const devnet = await startDevnet();
    const world = new FleetWorld(devnet, postgres, wallets);
    try {
      world.readers = events && (await FleetReaders.start(events, () => world.#anyUrl(events)));
      // The first one makes the service's key.
      for (let i = 0; i < processes; i++) world.members.push(await world.startMember());
      const { readers } = world;
      if (readers !== undefined)
        await world.askUnnamed(world.members[0]!, "add_webhook", { url: readers.hookUrl, after: 0 });
      await world.#createWallets();
      return world;
    } catch (error) {
      await world.stop();
      throw error;
    }
  }

  #anyUrl(chance: Chance): string {
    return this.members.length === 0 ? "" : chance.pick(this.members).url;
  }

  startMember(...flags: readonly string[]): Promise<Member> {
    return Member.start([
      ...["--wallet-dir", this.#walletDir, "--store", this.postgres.address],
      ...["--service-key-file", join(this.#folder, "service.key")],
      ...["--daemon-address", this.devnet.nodeUrl, "--trusted-daemon", "--max-open-wallets", "100000"],
      ...(this.readers?.flags ?? []),
      ...flags,
    ]);
  }

  async #createWallets(): Promise<void> {
    const remaining = [...this.names.entries()];
    const create = async () => {
      for (let next = remaining.pop(); next !== undefined; next = remaining.pop()) {
        const [i, name] = next;
        await this.ask(this.members[i % this.members.length]!, name, "create_wallet", {
          language: "English",
        });
        await this.devnet.mine(2, String((await this.ask(this.members[0]!, name, "get_address")).address));
      }
    };
    await Promise.all(Array.from({ length: CREATED_AT_ONCE }, create));
    await this.devnet.mine(BLOCKS_TO_SPEND);
    await this.#scanAll();
  }

  /** Waits until every wallet has scanned all blocks: those of many wallets take longer than a call may. */
  async #scanAll(): Promise<void> {
    const remaining = [...this.names.entries()];
    const refresh = async () => {
      for (let next = remaining.pop(); next !== undefined; next = remaining.pop())
        await this.ask(this.members[next[0] % this.members.length]!, next[1], "refresh");
    };
    await Promise.all(Array.from({ length: CREATED_AT_ONCE }, refresh));
  }

  /** The wallets whose leases a process holds. */
  walletsOf({ address }: Member): string[] {
    return this.postgres.query(`SELECT name FROM anulo.leases JOIN anulo.processes USING (process)
      WHERE address = '${address}' AND name NOT LIKE '/%' ORDER BY name`);
  }

  /** One call about a wallet, by any process. */
  ask(member: Member, name: string, method: string, params: Exact = {}): Promise<ExactObject> {
    return call(`${member.url}/wallets/${name}`, method, params);
  }

  /** One call about the open wallet of a process's unnamed path. */
  askUnnamed(member: Member, method: string, params: Exact = {}): Promise<ExactObject> {
    return call(member.url, method, params);
  }

  /**
   * Repeats a call until it is answered, each time to the process that `choose` says, since the one before may be gone.
   * What the wallet itself refuses is thrown.
   */
  async askUntilAnswered(
    choose: () => Member,
    name: string,
    { method, params = {} }: { readonly method: string; readonly params?: Exact },
  ): Promise<{ readonly answer: ExactObject; readonly attempts: number }> {
    const deadline = performance.now() + ANSWERED_WITHIN_MS;
    for (let attempts = 1; ; attempts++) {
      try {
        const answer = await within(20_000, `${method} of ${name}`, this.ask(choose(), name, method, params));
        return { answer, attempts };
      } catch (error) {
        if (!mayPass(error) || performance.now() > deadline) throw error;
      }
      await delay(RETRY_MS);
    }
  }

  async stop(): Promise<void> {
    for (const member of this.members) await member.process.kill();
    await this.readers?.stop();
    await this.devnet.stop();
    await this.postgres.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/**
 * Refusals of a wallet that changes hands, and what befalls a connection; not what the wallet says for itself. A process
 * that wakes up and has lost its wallets asks its node nothing more, so that calls under way end without one.
 */
function mayPass(error: unknown): boolean {
  if (!(error instanceof CallFailed)) return true;
  const passing =
    /cut off|another process|another service|store|NOT_OPEN|No wallet file|open already|no connection to daemon|Failed to get height/i;
  return error.code === UNOWNED || passing.test(error.message);
}

async function within<T>(ms: number, what: string, response: Promise<T>): Promise<T> {
  void response.catch(() => undefined);
  const late = delay(ms, undefined, { ref: false }).then(() => {
    throw new Error(`no answer to ${what} in ${ms} ms`);
  });
  return await Promise.race([response, late]);
}

import type { Exact, ExactObject } from "@anulo/devnet";
import { CallFailed } from "@anulo/devnet";
import type { Ask } from "../in-process.ts";
import { Victim } from "./victim.ts";
import type { World } from "./world.ts";

/** The wallets of the service that is killed. */
export type WalletName = "alice" | "view" | "shared";

/** One round: what is killed, and what is known of it from before. */
export class Stage {
  readonly world: World;
  /** Addresses of the wallets. */
  readonly addresses: { readonly [name in WalletName]: string };
  round = 0;
  /** Of alice's wallet. */
  password = "";
  #victim: Victim | undefined;

  constructor(world: World, addresses: Stage["addresses"]) {
    this.world = world;
    this.addresses = addresses;
  }

  get victim(): Victim {
    if (this.#victim === undefined) throw new Error("no wallet service was started");
    return this.#victim;
  }

  /** Starts the service again where it died. */
  async revive(): Promise<void> {
    if (this.#victim !== undefined && !this.#victim.isDead) return;
    this.#victim = await Victim.start(this.world.walletDir, this.world.goBetween.url);
  }

  readonly ask: Ask = (method: string, params: Exact = {}) => this.victim.ask(method, params);

  /** An amount no other round pays. */
  get amount(): bigint {
    return 1_000_000_000n + BigInt(this.round);
  }

  get payment(): ExactObject {
    return { destinations: [{ address: this.world.bob.address, amount: this.amount }] };
  }

  /** Opens a wallet, which must need no help, and scans. */
  async open(name: WalletName): Promise<void> {
    const password = name === "alice" ? this.password : "";
    await this.ask("open_wallet", { filename: name, password });
    await this.ask("refresh");
  }

  async mine(blocks = 1): Promise<void> {
    await this.world.mine(blocks, this.addresses.alice);
  }

  async stop(): Promise<void> {
    await this.#victim?.kill();
  }
}

/** A list in an answer; left out means empty. */
export function listOf(value: Exact | undefined): ExactObject[] {
  return (value ?? []) as ExactObject[];
}

/** Undefined where the service refuses. */
export async function unlessRefused<T>(response: Promise<T>): Promise<T | undefined> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof CallFailed) return undefined;
    throw error;
  }
}

/** Throws with what the check found. */
export function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}

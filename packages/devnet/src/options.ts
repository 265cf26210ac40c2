import type { Node } from "@anulo/node";
import type { Dialect, Pages } from "@anulo/rpc";
import type { MiningMode } from "./auto-mining.ts";
import type { ClockOptions } from "./clock.ts";
import type { Exact, ExactObject } from "./exact-json.ts";
import type { Faults } from "./faults.ts";

/** The names of the wallets of a devnet that does not name its own. */
export type UsualNames = "alice" | "bob";

export type DevnetOptions<N extends string = UsualNames> = ClockOptions & {
  /** Wallets of the same seed have the same keys, and mining makes the same blocks. */
  readonly seed?: number;
  /**
   * The wallets: their names, or by name the outputs that each can spend from the start, in atomic units. Left out,
   * alice and bob, who have none.
   */
  readonly wallets?: readonly N[] | { readonly [K in N]: readonly bigint[] };
  /** The outputs of every wallet, where `wallets` does not say them. */
  readonly outputs?: readonly bigint[];
  /** Gives ten outputs of 1 XMR to every wallet for which nothing else is said. */
  readonly funded?: boolean;
  /**
   * Who is paid for blocks, unless a call says otherwise: the name of a wallet, or an address. Left out, the first
   * wallet if no wallet was given outputs, else nobody, so that mining changes no balance.
   */
  readonly miner?: N | (string & {});
  /** When blocks are mined without being asked for; `manual` if left out. */
  readonly mining?: MiningMode;
  /**
   * Whose programs: ours in this process, or the original ones, monerod and monero-wallet-rpc, as processes of their
   * own, from PATH (`original`) or a folder. What these cannot do throws NotSupported.
   */
  readonly programs?: "ours" | "original" | { readonly folder: string };
  readonly dialect?: Dialect;
  /** Threads that verify; 0, the default, keeps everything in one thread so that many can run at once. */
  readonly verifyThreads?: number;
  /** Web pages that the node and all wallet services serve; left out, none. */
  readonly pages?: Pages;
  /** Ports to listen on, for the node and for wallets by name; left out, free ones. */
  readonly ports?: { readonly [K in N | "node"]?: number };
  /** Accounts and addresses of each that wallets recognise beyond those in use; 2 and 20 if left out. */
  readonly lookahead?: { readonly accounts: number; readonly addresses: number };
};

/** A wallet with a service of its own. */
export type DevnetWallet = {
  readonly name: string;
  readonly address: string;
  /** 25 words. Worthless: anyone can compute them from the seed. */
  readonly mnemonic: string;
  readonly url: string;
  call(method: string, params?: Exact): Promise<ExactObject>;
  /** Scans what is new and returns the balance, atomic units. */
  balance(): Promise<{ balance: bigint; unlocked: bigint }>;
  /** Scans what is new and pays atomic units to an address; returns the transaction id. */
  pay(address: string, amount: bigint): Promise<string>;
};

export type ReorgOptions = {
  /** Where transactions of the removed blocks are afterwards: `pool` if left out. */
  readonly payments?: "pool" | "mined";
  /** Name of the wallet, or address, that the new blocks pay. */
  readonly to?: string;
};

/** A private chain with wallets, on free ports of 127.0.0.1. */
export type Devnet<N extends string = UsualNames> = {
  /** Our node. Throws NotSupported with the original programs. */
  readonly node: Node;
  readonly nodeUrl: string;
  readonly wallets: { readonly [K in N]: DevnetWallet };
  /** What goes wrong between the programs, on demand. */
  readonly faults: Faults;
  /**
   * Mines blocks, with the transactions that wait, to the usual miner unless a wallet's name or an address is given;
   * returns the new height.
   */
  mine(blocks: number, to?: string): Promise<number>;
  /** Sets when blocks are mined without being asked for. */
  autoMine(mode: MiningMode): void;
  /**
   * Replaces the newest `depth` blocks by one block more; returns the new height. Transactions of the removed blocks
   * wait in the pool again, or are mined again by the new ones. Throws a RangeError where there are not as many blocks
   * above the first.
   */
  reorg(depth: number, options?: ReorgOptions): Promise<number>;
  /**
   * Saves chain, pool, time, and the wallets that the services have open with their files; returns the id by which
   * `revert` restores it. Throws a RangeError where 50 are kept.
   */
  snapshot(): Promise<number>;
  /**
   * Restores a snapshot, as often as wanted. Calls to wallets that are under way fail. Wallets with a password have to
   * be opened again. Faults and the way of mining stay. Throws a RangeError for an unknown id.
   */
  revert(id: number): Promise<void>;
  /** Frees what a snapshot takes. Throws a RangeError for an unknown id. */
  dropSnapshot(id: number): Promise<void>;
  /**
   * Creates spendable outputs of these amounts (atomic units), by wallet name or address: blocks pay them, and enough
   * blocks follow that they can be spent at once. Returns the new height. Throws a RangeError for an amount that no
   * block can pay.
   */
  fund(outputs: { readonly [nameOrAddress: string]: readonly bigint[] }): Promise<number>;
  /** The devnet's time, in seconds since 1970: that of the next block, and of its wallets. */
  time(): number;
  /** Sets the time. Throws a RangeError for one before the present, NotSupported with the original programs. */
  setTime(seconds: number): void;
  /** Moves the time on by seconds. Throws a RangeError for a number that is negative or not whole; NotSupported as above. */
  advanceTime(seconds: number): void;
  /** Resolves when our node is asked by its RPC to stop. */
  readonly stopRequested: Promise<void>;
  stop(): Promise<void>;
};

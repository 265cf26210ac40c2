/** Addresses of one wallet as text. */

import { setImmediate } from "node:timers/promises";
import { subaddressKeysOf } from "@anulo/crypto";
import { runSliced } from "@anulo/limits";
import { BadAddress, formatAddress, parseAddress } from "@anulo/protocol";
import type { SubaddressIndex } from "../outputs/owned-output.ts";
import { LazyMap } from "../packed/lazy-map.ts";
import type { NetworkName, ViewKeys, WalletState } from "../state.ts";

/** Maximum number of consecutive addresses computed at once: a few milliseconds. */
const MAX_PER_BATCH = 64;
/** Maximum number of cached keys, some 300 bytes each. */
const MAX_SPEND_KEYS = 1000;
/** Maximum number of cached addresses that the wallet does not have, some 200 bytes each: callers choose these. */
const MAX_FOREIGN = 10_000;

/** Computes the text of addresses and caches it: each costs two multiplications of a point. */
export class AddressCache {
  readonly #keys: ViewKeys;
  readonly #state: Pick<WalletState, "network" | "accounts">;
  /** By account, then by address. */
  readonly #addresses = new LazyMap<number, Map<number, string>>();
  /** Those that the wallet does not have, by their index as text. */
  readonly #foreign = new LazyMap<string, string>();
  /** Number of calls of `prepare` that have not ended. */
  #prepareCalls = 0;

  /** Spend keys of the receivers of pending payments: every balance looks them up. */
  readonly #spendKeys = new LazyMap<string, Uint8Array>();

  /** Only addresses that the wallet has by now are cached for good. */
  constructor(keys: ViewKeys, state: Pick<WalletState, "network" | "accounts">) {
    this.#keys = keys;
    this.#state = state;
  }

  addressOf(index: SubaddressIndex): string {
    const cached = this.#cached(index);
    if (cached !== undefined) return cached;
    const { major, minor } = index;
    this.#make({ major, fromMinor: minor, count: 1 });
    return this.#cached(index)!;
  }

  /** Number of cached addresses. */
  get size(): number {
    return [...this.#addresses.values()].reduce((sum, { size }) => sum + size, this.#foreign.size);
  }

  #cached(index: SubaddressIndex): string | undefined {
    return this.#addresses.get(index.major)?.get(index.minor) ?? this.#foreign.get(nameOf(index));
  }

  /** The spend key (32 bytes) of any address; undefined for text that is not an address. */
  spendKeyOf(address: string): Uint8Array | undefined {
    const cached = this.#spendKeys.get(address);
    if (cached !== undefined) return cached;
    const read = readSpendKey(address, this.#state.network);
    if (read === undefined) return undefined;
    if (this.#spendKeys.size >= MAX_SPEND_KEYS) this.#spendKeys.clear();
    this.#spendKeys.set(address, read);
    return read;
  }

  /** Computes addresses that are not cached yet, and yields to the event loop in between. */
  async prepare(indices: Iterable<SubaddressIndex>): Promise<void> {
    // Nobody waits for those that are dropped here.
    if (this.#prepareCalls === 0 && this.#foreign.size >= MAX_FOREIGN) this.#foreign.clear();
    this.#prepareCalls++;
    try {
      for (const run of runsOf(await runSliced(this.#unknown(indices)))) {
        this.#make(run);
        await setImmediate();
      }
    } finally {
      this.#prepareCalls--;
    }
  }

  *#unknown(indices: Iterable<SubaddressIndex>): Generator<void, Map<number, Set<number>>> {
    const unknown = new Map<number, Set<number>>();
    for (const index of indices) {
      yield;
      if (this.#cached(index) !== undefined) continue;
      const { major, minor } = index;
      const minors = unknown.get(major) ?? new Set<number>();
      unknown.set(major, minors.add(minor));
    }
    return unknown;
  }

  #make({ major, fromMinor, count }: Run): void {
    const subaddressKeys = subaddressKeysOf({ keys: this.#keys, major, fromMinor, count });
    for (const [i, keys] of subaddressKeys.entries()) {
      const minor = fromMinor + i;
      const kind = major === 0 && minor === 0 ? "standard" : "subaddress";
      this.#keep({ major, minor }, formatAddress({ kind, ...keys }, this.#state.network));
    }
  }

  #keep(index: SubaddressIndex, address: string): void {
    if (index.minor >= (this.#state.accounts[index.major]?.addresses.length ?? 0)) {
      this.#foreign.set(nameOf(index), address);
      return;
    }
    const byMinor = this.#addresses.get(index.major) ?? new Map<number, string>();
    this.#addresses.set(index.major, byMinor.set(index.minor, address));
  }
}

function nameOf({ major, minor }: SubaddressIndex): string {
  return `${major} ${minor}`;
}

function readSpendKey(address: string, network: NetworkName): Uint8Array | undefined {
  try {
    return parseAddress(address, network).spendPublic;
  } catch (error) {
    if (error instanceof BadAddress) return undefined;
    throw error;
  }
}

/** Consecutive addresses of an account. */
type Run = { readonly major: number; readonly fromMinor: number; readonly count: number };

function* runsOf(minorsByMajor: ReadonlyMap<number, ReadonlySet<number>>): Generator<Run> {
  for (const [major, minors] of minorsByMajor) {
    let run: Run | undefined;
    for (const minor of [...minors].sort((a, b) => a - b)) {
      const isNext = run !== undefined && minor === run.fromMinor + run.count && run.count < MAX_PER_BATCH;
      if (run !== undefined && !isNext) yield run;
      run =
        run !== undefined && isNext
          ? { ...run, count: run.count + 1 }
          : { major, fromMinor: minor, count: 1 };
    }
    if (run !== undefined) yield run;
  }
}

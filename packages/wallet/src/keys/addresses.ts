/** Addresses of one wallet as text. */
import { setImmediate } from "node:timers/promises";
import { subaddressKeysOf } from "@anulo/crypto";
import { BadAddress, formatAddress, parseAddress } from "@anulo/protocol";
import type { NetworkName, SubaddressIndex, WalletKeys } from "../state.ts";

/** Maximum number of consecutive addresses computed at once: a few milliseconds. */
const MAX_PER_BATCH = 64;
/** Maximum number of cached keys, some 300 bytes each. */
const MAX_SPEND_KEYS = 1000;

/** Computes the text of addresses and caches it: each costs two multiplications of a point. */
export class AddressCache {
  readonly #keys: WalletKeys;
  readonly #network: NetworkName;
  /** By account, then by address. */
  readonly #known = new Map<number, Map<number, string>>();

  /** Spend keys of the receivers of pending payments: every balance looks them up. */
  readonly #spendKeys = new Map<string, Uint8Array>();

  constructor(keys: WalletKeys, network: NetworkName) {
    this.#keys = keys;
    this.#network = network;
  }

  addressOf({ major, minor }: SubaddressIndex): string {
    const known = this.#known.get(major)?.get(minor);
    if (known !== undefined) return known;
    this.#make({ major, fromMinor: minor, count: 1 });
    return this.#known.get(major)!.get(minor)!;
  }

  /** The spend key (32 bytes) of any address; undefined for text that is not an address. */
  spendKeyOf(address: string): Uint8Array | undefined {
    const known = this.#spendKeys.get(address);
    if (known !== undefined) return known;
    const read = readSpendKey(address, this.#network);
    if (read === undefined) return undefined;
    if (this.#spendKeys.size >= MAX_SPEND_KEYS) this.#spendKeys.clear();
    this.#spendKeys.set(address, read);
    return read;
  }

  /** Computes addresses that are not cached yet, and yields to the event loop in between. */
  async prepare(indices: Iterable<SubaddressIndex>): Promise<void> {
    for (const run of runsOf(this.#unknown(indices))) {
      this.#make(run);
      await setImmediate();
    }
  }

  #unknown(indices: Iterable<SubaddressIndex>): Map<number, Set<number>> {
    const unknown = new Map<number, Set<number>>();
    for (const { major, minor } of indices) {
      if (this.#known.get(major)?.has(minor) === true) continue;
      const minors = unknown.get(major) ?? new Set<number>();
      unknown.set(major, minors.add(minor));
    }
    return unknown;
  }

  #make({ major, fromMinor, count }: Run): void {
    const known = this.#known.get(major) ?? new Map<number, string>();
    this.#known.set(major, known);
    const made = subaddressKeysOf({ keys: this.#keys, major, fromMinor, count });
    for (const [i, keys] of made.entries()) {
      const minor = fromMinor + i;
      const kind = major === 0 && minor === 0 ? "standard" : "subaddress";
      known.set(minor, formatAddress({ kind, ...keys }, this.#network));
    }
  }
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

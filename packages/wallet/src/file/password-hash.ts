/** The slow hashes that open keys files. */
import { wipe } from "@anulo/crypto";
import { concatBytes, equalBytes } from "@anulo/protocol";
import type { WorkThreads } from "../threads/work-threads.ts";

const copyOf = async (hash: Promise<Uint8Array>): Promise<Uint8Array> => (await hash).slice();

/**
 * The hashes of the empty password, which are no secret: a service that opens thousands of wallets without a password
 * computes them once.
 */
class HashesOfNothing {
  readonly #threads: WorkThreads;
  readonly #byRounds = new Map<number, Promise<Uint8Array>>();
  readonly #bySeed = new Map<string, Promise<Uint8Array>>();

  constructor(threads: WorkThreads) {
    this.#threads = threads;
  }

  /** 32 bytes, owned by the caller. */
  ofPassword(rounds: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(0);
    const made = this.#byRounds.get(rounds) ?? this.#threads.run("slowHash", { bytes, rounds });
    this.#byRounds.set(rounds, made);
    void made.catch(() => this.#byRounds.delete(rounds));
    return copyOf(made);
  }

  /** Whether a file's key is a hash of the empty password that was computed here. */
  async isKeyOfNothing(key: Uint8Array): Promise<boolean> {
    for (const hash of this.#byRounds.values()) if (equalBytes(await hash, key)) return true;
    return false;
  }

  /** The hash of a file's key derived from the empty password, with one byte appended. */
  ofSeed(seed: Uint8Array): Promise<Uint8Array> {
    const name = Buffer.from(seed).toString("hex");
    const made = this.#bySeed.get(name) ?? this.#threads.run("slowHash", { bytes: seed.slice(), rounds: 1 });
    this.#bySeed.set(name, made);
    void made.catch(() => this.#bySeed.delete(name));
    return copyOf(made);
  }
}

/** Derives a file's key from its password: 32 bytes, which the caller wipes. */
export function hashPassword(threads: WorkThreads, password: string, rounds: number): Promise<Uint8Array> {
  if (password === "") return hashesOf(threads).ofPassword(rounds);
  return threads.run("slowHash", { bytes: new TextEncoder().encode(password), rounds });
}

/** Derives a key from a file's key and a byte: 32 bytes, which the caller wipes. */
export async function hashFileKey(
  threads: WorkThreads,
  fileKey: Uint8Array,
  tail: number,
): Promise<Uint8Array> {
  const seed = concatBytes(fileKey, Uint8Array.of(tail));
  try {
    const nothing = hashesOf(threads);
    if (await nothing.isKeyOfNothing(fileKey)) return await nothing.ofSeed(seed);
    return await threads.run("slowHash", { bytes: seed, rounds: 1 });
  } finally {
    wipe(seed);
  }
}

/** The hashes are cached with the threads that compute them. */
function hashesOf(threads: WorkThreads): HashesOfNothing {
  return threads.instanceOf(HashesOfNothing);
}

/** Finds copies of secrets that were not wiped: every array of bytes or words of this thread is kept while it is watched. */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import type { TestContext } from "node:test";
import type { RandomSource } from "@anulo/crypto";
import { toHex } from "@anulo/protocol";

type Make = (...args: unknown[]) => unknown;
type Methods = Record<string, Make>;

const { Uint8Array: Bytes } = globalThis;
const typedArray = Object.getPrototypeOf(Bytes) as typeof Bytes;
const kinds = ["Uint8Array", "Uint16Array", "Uint32Array", "BigUint64Array"] as const;
/** What makes arrays, besides their constructors. */
const makers = [
  [typedArray, ["from", "of"]],
  [typedArray.prototype, ["slice", "map", "filter", "with", "toReversed", "toSorted"]],
  [Buffer, ["alloc", "allocUnsafe", "allocUnsafeSlow", "from", "concat"]],
  [TextEncoder.prototype, ["encode"]],
] as unknown as readonly (readonly [Methods, readonly string[]])[];
/** What takes a key, with the index of that argument. */
const keyed = [
  ["createCipheriv", 1],
  ["createDecipheriv", 1],
  ["createHmac", 1],
  ["hkdfSync", 1],
] as const;
/** The methods of what these return that return bytes. */
const steps = ["update", "final", "digest"] as const;
/** The kernels wipe their memory, which is longer, themselves. */
const MAX_BYTES = 2 ** 20;

export type WatchedBytes = {
  /** Keys of ciphers and hashes that were used, in hexadecimal digits. */
  readonly keys: ReadonlySet<string>;
  /** Random bytes that were given, 32 at a time, in hexadecimal digits. */
  readonly random: ReadonlySet<string>;
  /** Gives random bytes from a source as the system's: they count among `random`. */
  readonly from: (source: RandomSource) => RandomSource;
  /** Watches no more: what is made from now on is not looked at. */
  readonly stop: () => void;
  /** Which of the secrets (hexadecimal digits) are still held by an array, with where that was made. */
  readonly remaining: (secrets: Iterable<string>) => Record<string, string>;
};

/** The functions that called for an array, from the innermost. */
function callers({ stack = "" }: Error): string {
  const lines = stack.split("\n").slice(1);
  const names = lines
    .filter((line) => !line.includes("watched-bytes"))
    .map((line) => line.trim().split(" ")[1]);
  return names.slice(0, 6).join(" < ");
}

/** Puts others in the place of methods; returns what puts them back. */
function replaceAll(changes: readonly (readonly [object, string, unknown])[]): () => void {
  const undo = changes.map(([owner, name, value]) => {
    const before = Object.getOwnPropertyDescriptor(owner, name)!;
    Object.defineProperty(owner, name, { ...before, value });
    return () => Object.defineProperty(owner, name, before);
  });
  syncBuiltinESMExports();
  return () => {
    for (const each of undo.splice(0).reverse()) each();
    syncBuiltinESMExports();
  };
}

/** Watches until it is stopped, or the test ends. */
export function watchBytes(t: TestContext): WatchedBytes {
  const found = new Map<ArrayBufferView, Error>();
  const keys = new Set<string>();
  let isPaused = false;
  const keep = <T>(made: T): T => {
    if (ArrayBuffer.isView(made) && !isPaused) found.set(made, new Error("made here"));
    return made;
  };
  const library = crypto as unknown as Methods;
  const random = new Set<string>();
  const from = (source: RandomSource) => (size: number) => {
    isPaused = true; // the source is the test's own
    const bytes = new Bytes(source(size));
    isPaused = false;
    keep(bytes);
    for (let at = 0; at + 32 <= size; at += 32) random.add(toHex(bytes.subarray(at, at + 32)));
    return bytes;
  };
  const made = makers.flatMap(([owner, names]) =>
    names
      .filter((name) => Object.hasOwn(owner, name))
      .map((name) => {
        const make = owner[name]!;
        function keeping(this: unknown, ...args: unknown[]) {
          const result = make.apply(this, args);
          // What others left in this memory is nothing of those who got it now.
          if (name.startsWith("allocUnsafe")) (result as Uint8Array).fill(0);
          return keep(result);
        }
        return [owner, name, keeping] as const;
      }),
  );
  const byKey = keyed.map(([name, place]) => {
    const make = library[name]!;
    const keeping = (...args: unknown[]) => {
      const key = keep(args[place]);
      if (key instanceof Bytes && key.length >= 16) keys.add(toHex(key));
      const result = make(...args) as Methods;
      for (const step of steps) {
        const method = result[step];
        if (method !== undefined) result[step] = (...parts) => keep(method.apply(result, parts));
      }
      return result;
    };
    return [library, name, keeping] as const;
  });
  const handler: ProxyHandler<Make> = {
    ["construct"]: (target, args, to) => keep(Reflect.construct(target, args, to) as object),
  };
  const built = kinds.map(
    (name) => [globalThis, name, new Proxy(globalThis[name] as unknown as Make, handler)] as const,
  );
  const chance = [library, "randomBytes", from(crypto.randomBytes)] as const;
  const stop = replaceAll([...made, ...byKey, ...built, chance]);
  t.after(stop);
  return { keys, random, from, stop, remaining: (secrets) => findIn(found, secrets) };
}

function findIn(kept: ReadonlyMap<ArrayBufferView, Error>, secrets: Iterable<string>) {
  const held = [...kept]
    .filter(([{ byteLength }]) => byteLength >= 8 && byteLength <= MAX_BYTES)
    .map(([{ buffer, byteOffset, byteLength }, made]) => ({
      bytes: Buffer.from(buffer, byteOffset, byteLength),
      made,
    }))
    .filter(({ bytes }) => bytes.some((byte) => byte !== 0));
  // Looked through at once: nearly always there is nothing to find.
  const joined = Buffer.concat(held.map(({ bytes }) => bytes));
  const found: Record<string, string> = {};
  for (const hex of new Set(secrets)) {
    const secret = Buffer.from(hex, "hex");
    if (!joined.includes(secret)) continue;
    const holder = held.find(({ bytes }) => bytes.includes(secret));
    if (holder !== undefined) found[hex] = callers(holder.made);
  }
  return found;
}

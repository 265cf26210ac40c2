/** CryptoNight, variants 0, 1, 2 and 4. Source: CNS008; monero slow-hash.c. */

import { readFileSync } from "node:fs";
import { wipe } from "../bytes.ts";
import { compileLongLived } from "../randomx/tiering.ts";
import { keccakPermute } from "../reference/keccak.ts";
import type { WasmMemory, WasmModule } from "../wasm-values.ts";
import { blake256 } from "./blake256.ts";
import { moduleOfHeight } from "./cryptonight-r.ts";
import { groestl256 } from "./groestl256.ts";
import { jh256 } from "./jh256.ts";
import { skein256 } from "./skein256.ts";

const STATE_BYTES = 200;
const RATE_BYTES = 136;
/** Enough for a nonce at byte 35 of a hashing blob. */
const MIN_BYTES_VARIANT_1 = 43;
/** The state's two lowest bits choose the last hash. */
const FINAL_HASHES = [blake256, groestl256, jh256, skein256] as const;

type Kernel = {
  init(): void;
  stateAddress(): number;
  registersAddress(): number;
  hashState(variant: number, tweak: bigint): void;
  wipe(): void;
};

/** An instance with its own 2 MiB, for one height where the variant depends on it. */
type Instance = { readonly memory: WasmMemory; readonly kernel: Kernel; readonly height: number };

let compiled: WasmModule | undefined;
let fixed: Instance | undefined;
let latest: Instance | undefined;

function createInstance(height?: number): Instance {
  compiled ??= compileLongLived(readFileSync(new URL("../../wasm/cryptonight.wasm", import.meta.url)));
  const memory = new WebAssembly.Memory({ initial: 1 });
  let run = (): void => {
    throw new Error("this instance has no program");
  };
  const instance = new WebAssembly.Instance(compiled, { env: { memory }, program: { run: () => run() } });
  let kernel = instance.exports as Kernel;
  if (height !== undefined) {
    const program = compileLongLived(moduleOfHeight(height, kernel.registersAddress()));
    run = new WebAssembly.Instance(program, { env: { memory } }).exports.run as () => void;
    kernel = new WebAssembly.Instance(compiled, { env: { memory }, program: { run } }).exports as Kernel;
  }
  kernel.init();
  return { memory, kernel, height: height ?? -1 };
}

/** One instance a thread for variants 0 to 2, one for the last height of variant 4; made at first use. */
function instanceFor(height: number | undefined): Instance {
  if (height === undefined) {
    fixed ??= createInstance();
    return fixed;
  }
  if (latest?.height !== height) latest = createInstance(height);
  return latest;
}

/** The whole 200-byte sponge state after absorbing `data` with keccak's original padding. */
function absorb(data: Uint8Array): Uint8Array {
  const padded = new Uint8Array(RATE_BYTES * (Math.floor(data.length / RATE_BYTES) + 1));
  padded.set(data);
  padded[data.length]! |= 1;
  padded[padded.length - 1]! |= 0x80;
  const state = new Uint8Array(STATE_BYTES);
  for (let at = 0; at < padded.length; at += RATE_BYTES) {
    for (let i = 0; i < RATE_BYTES; ++i) state[i]! ^= padded[at + i]!;
    keccakPermute(state);
  }
  wipe(padded);
  return state;
}

/**
 * Variant 1's tweak: the eight bytes from offset 35 on, where a block has its nonce, mixed with the state's last word.
 */
function tweakOf(data: Uint8Array, state: Uint8Array): bigint {
  if (data.length < MIN_BYTES_VARIANT_1)
    throw new RangeError(`CryptoNight variant 1 needs ${MIN_BYTES_VARIANT_1} bytes, ${data.length} given`);
  const wordAt = (bytes: Uint8Array, at: number): bigint =>
    new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(at, true);
  return wordAt(data, 35) ^ wordAt(state, 192);
}

function checkOptions(data: Uint8Array, { variant, height, prehashed }: CnSlowHashOptions): void {
  if (prehashed && data.length !== STATE_BYTES) throw new RangeError("a keccak state has 200 bytes");
  if (variant !== undefined && ![0, 1, 2, 4].includes(variant))
    throw new RangeError(`no CryptoNight variant ${variant}`);
  if (variant === 4 && (height === undefined || !Number.isSafeInteger(height) || height < 0))
    throw new RangeError(`CryptoNight variant 4 depends on a height, not on ${height}`);
}

/**
 * `variant` is 0 by default; 4 (CryptoNight-R) needs the block's `height`. With `prehashed`, the data is the keccak
 * state itself (200 bytes).
 */
export type CnSlowHashOptions = {
  readonly variant?: 0 | 1 | 2 | 4;
  readonly height?: number;
  readonly prehashed?: boolean;
};

/**
 * CryptoNight of `data`: 32 bytes; 25 to 50 ms. `RangeError` on options that make no sense, and on less than
 * 43 bytes for variant 1. Neither `data` nor the hash stays in memory. Source: slow-hash.c `cn_slow_hash`.
 */
export function cnSlowHash(data: Uint8Array, options: CnSlowHashOptions = {}): Uint8Array {
  checkOptions(data, options);
  const variant = options.variant ?? 0;
  const state = options.prehashed ? Uint8Array.from(data) : absorb(data);
  const tweak = variant === 1 ? tweakOf(data, state) : 0n;
  const { memory, kernel } = instanceFor(variant === 4 ? options.height : undefined);
  try {
    new Uint8Array(memory.buffer).set(state, kernel.stateAddress());
    kernel.hashState(variant, tweak);
    state.set(new Uint8Array(memory.buffer, kernel.stateAddress(), STATE_BYTES));
    keccakPermute(state);
    return FINAL_HASHES[(state[0]! & 3) as 0 | 1 | 2 | 3](state);
  } finally {
    kernel.wipe();
    wipe(state);
  }
}

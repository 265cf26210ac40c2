/** CryptoNight variant 0. Source: CNS008; monero slow-hash.c. */
import { readFileSync } from "node:fs";
import { keccakPermute } from "../reference/keccak.ts";
import { blake256 } from "./blake256.ts";
import { groestl256 } from "./groestl256.ts";
import { jh256 } from "./jh256.ts";
import { skein256 } from "./skein256.ts";

const STATE_BYTES = 200;
const RATE_BYTES = 136;
/** The state's two lowest bits choose the last hash. */
const FINAL_HASHES = [blake256, groestl256, jh256, skein256] as const;

type Kernel = {
  memory: WebAssembly.Memory;
  init(): void;
  stateAddress(): number;
  hashState(): void;
  wipe(): void;
};

let loaded: Kernel | undefined;

/** One instance a thread, made at first use: it holds 2 MiB for good. */
function kernel(): Kernel {
  if (loaded === undefined) {
    const bytes = readFileSync(new URL("../../wasm/cryptonight.wasm", import.meta.url));
    loaded = new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as Kernel;
    loaded.init();
  }
  return loaded;
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
  padded.fill(0);
  return state;
}

/**
 * CryptoNight variant 0 of `data`: 32 bytes; about 25 ms.
 * With `prehashed`, `data` is the keccak state itself (200 bytes, else `RangeError`).
 * Nothing that depends on `data` stays in memory. Source: slow-hash.c `cn_slow_hash`.
 */
export function cnSlowHash(data: Uint8Array, options: { prehashed?: boolean } = {}): Uint8Array {
  if (options.prehashed && data.length !== STATE_BYTES) throw new RangeError("a keccak state has 200 bytes");
  const state = options.prehashed ? Uint8Array.from(data) : absorb(data);
  const wasm = kernel();
  const inside = new Uint8Array(wasm.memory.buffer, wasm.stateAddress(), STATE_BYTES);
  try {
    inside.set(state);
    wasm.hashState();
    state.set(inside);
    keccakPermute(state);
    return FINAL_HASHES[(state[0]! & 3) as 0 | 1 | 2 | 3](state);
  } finally {
    wasm.wipe();
    state.fill(0);
  }
}

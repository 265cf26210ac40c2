/** RandomX hashes, step by step as the specification has them. Source: RandomX specification, chapters 2, 3 and 4.5.2. */
import { asciiBytes, concatBytes } from "../bytes.ts";
import { blake2b } from "../hash/blake2b.ts";
import { programBytes, type RandomXVersion, VERSIONS } from "../randomx/versions.ts";
import { decryptRound, encryptRound } from "./aes.ts";
import { executeProgram, type ProgramState } from "./randomx.ts";
import { fromBits } from "./rounding.ts";

const SCRATCHPAD_BYTES = 2 * 1024 * 1024;
const PROGRAMS = 8;
const ITERATIONS = 2048;

/** Bytes that are made from a name, 16 at a time. */
function named(bytes: number, name: string): Uint8Array[] {
  const stream = blake2b(asciiBytes(name), bytes);
  return Array.from({ length: bytes / 16 }, (_, i) => stream.subarray(16 * i, 16 * i + 16));
}

const FILL_KEYS = named(64, "RandomX AesGenerator1R keys");
const PROGRAM_KEYS = [0, 4].map((first) => named(64, `RandomX AesGenerator4R keys ${first}-${first + 3}`));
const FINGERPRINT_STATE = named(64, "RandomX AesHash1R state");
const FINGERPRINT_KEYS = named(32, "RandomX AesHash1R xkeys");

/** Four columns of 16 bytes. */
type Columns = Uint8Array[];

const columnsOf = (bytes: Uint8Array): Columns => [0, 16, 32, 48].map((at) => bytes.subarray(at, at + 16));

/** AesGenerator1R: columns 0 and 2 are decrypted, 1 and 3 encrypted. */
function nextOfFill(state: Columns): Columns {
  return state.map((column, i) => (i % 2 === 0 ? decryptRound : encryptRound)(column, FILL_KEYS[i]!));
}

/** AesGenerator4R: four rounds, the first two columns with other keys than the last two. */
function nextOfProgram(state: Columns): Columns {
  return state.map((column, i) => {
    const round = i % 2 === 0 ? decryptRound : encryptRound;
    return PROGRAM_KEYS[i >> 1]!.reduce(round, column);
  });
}

/** Fills `out` with the states of a generator, the last of which is returned. */
function generate(out: Uint8Array, state: Columns, next: (state: Columns) => Columns): Columns {
  let columns = state;
  for (let at = 0; at < out.length; at += 64) {
    columns = next(columns);
    columns.forEach((column, i) => void out.set(column, at + 16 * i));
  }
  return columns;
}

/** AesHash1R: the scratchpad is the keys; columns 0 and 2 are encrypted, 1 and 3 decrypted. */
function fingerprint(scratchpad: Uint8Array): Uint8Array {
  const rounds = [encryptRound, decryptRound, encryptRound, decryptRound];
  let state = FINGERPRINT_STATE;
  for (let at = 0; at < scratchpad.length; at += 64) {
    const keys = columnsOf(scratchpad.subarray(at, at + 64));
    state = state.map((column, i) => rounds[i]!(column, keys[i]!));
  }
  for (const key of FINGERPRINT_KEYS) state = state.map((column, i) => rounds[i]!(column, key));
  return concatBytes(...state);
}

const bytesOf = (words: readonly bigint[]): Uint8Array => new Uint8Array(BigUint64Array.from(words).buffer);

/** The constant registers: a fraction and an exponent of 0 to 31 from each of a program's first eight words. */
function constantsOf(program: Uint8Array): bigint[] {
  const view = new DataView(program.buffer, program.byteOffset, 64);
  return Array.from({ length: 8 }, (_, i) => {
    const word = view.getBigUint64(8 * i, true);
    return (word % 2n ** 52n) | ((1023n + (word >> 59n)) << 52n);
  });
}

type HashOptions = {
  readonly version: RandomXVersion;
  /** The eight words of a dataset item. */
  readonly itemOf: (number: bigint) => readonly bigint[];
};

/** RandomX of `blob`: 32 bytes, after some seconds. */
export function randomxHash(blob: Uint8Array, { version, itemOf }: HashOptions): Uint8Array {
  const parameters = VERSIONS[version];
  const bytes = new Uint8Array(SCRATCHPAD_BYTES);
  let generator = generate(bytes, columnsOf(blake2b(blob, 64)), nextOfFill);
  const scratchpad = new DataView(bytes.buffer);
  const program = new Uint8Array(programBytes(parameters));
  let rounding = 0;
  let registers: Uint8Array = new Uint8Array();
  for (let i = 0; i < PROGRAMS; i++) {
    if (i > 0) generator = columnsOf(blake2b(registers, 64));
    generate(program, generator, nextOfProgram);
    const a = constantsOf(program);
    const pairs = (values: readonly number[]): [number, number][] =>
      [0, 2, 4, 6].map((at) => [values[at]!, values[at + 1]!]);
    const zeros = new Array<number>(8).fill(0);
    const r = new Array<bigint>(8).fill(0n);
    const [f0, e0, a0] = [pairs(zeros), pairs(zeros), pairs(a.map(fromBits))];
    const state: ProgramState = { scratchpad, rounding, r, f: f0, e: e0, a: a0 };
    const { f, e } = executeProgram(program, state, { parameters, iterations: ITERATIONS, itemOf });
    rounding = state.rounding;
    registers = concatBytes(bytesOf(r), bytesOf(f), bytesOf(e), bytesOf(a));
  }
  registers.set(fingerprint(bytes), 192);
  return blake2b(registers, 32);
}

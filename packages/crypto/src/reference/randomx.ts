/**
 * RandomX programs and dataset items, executed instruction by instruction as in the specification: the compiled ones
 * are tested against them. Source: RandomX specification, chapters 4 to 7.
 */
import { type Instruction, readInstructions } from "../randomx/instructions.ts";
import { reciprocal } from "../randomx/reciprocal.ts";
import type { SuperscalarInstruction, SuperscalarProgram } from "../randomx/superscalar.ts";
import { CONFIGURATION_BYTES, type VersionParameters } from "../randomx/versions.ts";
import { decryptRound, encryptRound } from "./aes.ts";
import { bitsOf, type FloatOperation, fromBits, roundedResult } from "./rounding.ts";

type Pair = [number, number];

/** What a program works on. */
export type ProgramState = {
  /** 2 MiB. */
  readonly scratchpad: DataView;
  /** 0 to nearest, 1 down, 2 up, 3 to zero. */
  rounding: number;
  /** Integer registers, 64 bits without sign. */
  readonly r: bigint[];
  /** Additive, multiplicative and constant registers, four pairs each. */
  readonly f: Pair[];
  readonly e: Pair[];
  readonly a: Pair[];
};

const MASK = 0xffffffffffffffffn;
const wrap = (value: bigint): bigint => value & MASK;
const signed = (value: bigint): bigint => BigInt.asIntN(64, value);
const rotateRight = (value: bigint, by: bigint): bigint => wrap((value >> by) | (value << (64n - by)));
const isPowerOfTwo = (value: number): boolean => (value & (value - 1)) === 0;

const L1 = 16 * 1024;
const L2 = 256 * 1024;
const L3 = 2048 * 1024;

/** The scratchpad address of a register and a constant, a multiple of 8 below `size`. */
const addressOf = (register: bigint, constant: number, size: number): number =>
  Number((register + BigInt(constant)) & BigInt(size - 8));

function sourceAddress({ r }: ProgramState, { source, target, mod, constant, name }: Instruction): number {
  if (source === target && name.startsWith("I")) return Number(BigInt(constant) & BigInt(L3 - 8));
  return addressOf(r[source]!, constant, mod % 4 ? L1 : L2);
}

const integerInMemory = (state: ProgramState, instruction: Instruction): bigint =>
  state.scratchpad.getBigUint64(sourceAddress(state, instruction), true);

/** Two 32-bit integers as doubles. */
const pairAt = ({ scratchpad }: ProgramState, at: number): Pair => [
  scratchpad.getInt32(at, true),
  scratchpad.getInt32(at + 4, true),
];

/** Fraction and exponent of a multiplicative register, both lanes. */
type Masks = readonly [bigint, bigint];

const withMask = (pair: Pair, masks: Masks): Pair =>
  pair.map((value, lane) => fromBits((bitsOf(value) & 0x00ffffffffffffffn) | masks[lane]!)) as Pair;

const inBoth = (state: ProgramState, operation: FloatOperation, x: Pair, y: Pair): Pair => [
  roundedResult(operation, [x[0], y[0]], state.rounding),
  roundedResult(operation, [x[1], y[1]], state.rounding),
];

const negated = ([low, high]: Pair): Pair => [-low, -high];

/** Values that hold for a whole program. */
type InstructionContext = { readonly masks: Masks; readonly roundingGuard: bigint };

type Execute = (state: ProgramState, instruction: Instruction, surroundings: InstructionContext) => void;

/** r[target] = operation(r[target], r[source], or the constant where both are the same). */
const onRegisters =
  (operation: (x: bigint, y: bigint) => bigint): Execute =>
  ({ r }, { target, source, constant }) => {
    const operand = source === target ? wrap(BigInt(constant)) : r[source]!;
    r[target] = wrap(operation(r[target]!, operand));
  };

const onMemory =
  (operation: (x: bigint, y: bigint) => bigint): Execute =>
  (state, instruction) => {
    const operand = integerInMemory(state, instruction);
    state.r[instruction.target] = wrap(operation(state.r[instruction.target]!, operand));
  };

/** As `onRegisters`, but a register's own value is its operand. */
const onItself =
  (operation: (x: bigint, y: bigint) => bigint): Execute =>
  ({ r }, { target, source }) => {
    r[target] = wrap(operation(r[target]!, r[source]!));
  };

const high = (x: bigint, y: bigint): bigint => (x * y) >> 64n;
const highSigned = (x: bigint, y: bigint): bigint => (signed(x) * signed(y)) >> 64n;

const EXECUTE: Readonly<Record<Exclude<Instruction["name"], "CBRANCH">, Execute>> = {
  IADD_RS({ r }, { target, source, mod, constant }) {
    const displacement = target === 5 ? BigInt(constant) : 0n;
    r[target] = wrap(r[target]! + (r[source]! << BigInt((mod >> 2) % 4)) + displacement);
  },
  IADD_M: onMemory((x, y) => x + y),
  ISUB_R: onRegisters((x, y) => x - y),
  ISUB_M: onMemory((x, y) => x - y),
  IMUL_R: onRegisters((x, y) => x * y),
  IMUL_M: onMemory((x, y) => x * y),
  IMULH_R: onItself(high),
  IMULH_M: onMemory(high),
  ISMULH_R: onItself(highSigned),
  ISMULH_M: onMemory(highSigned),
  IMUL_RCP({ r }, { target, constant }) {
    if (!isPowerOfTwo(constant)) r[target] = wrap(r[target]! * reciprocal(constant));
  },
  INEG_R({ r }, { target }) {
    r[target] = wrap(-r[target]!);
  },
  IXOR_R: onRegisters((x, y) => x ^ y),
  IXOR_M: onMemory((x, y) => x ^ y),
  IROR_R: onRegisters((x, y) => rotateRight(x, y % 64n)),
  IROL_R: onRegisters((x, y) => rotateRight(x, (64n - (y % 64n)) % 64n)),
  ISWAP_R({ r }, { target, source }) {
    [r[target], r[source]] = [r[source]!, r[target]!];
  },
  FSWAP_R({ f, e }, { target }) {
    (target < 4 ? f : e)[target % 4]!.reverse();
  },
  FADD_R(state, { target, source }) {
    state.f[target % 4] = inBoth(state, "add", state.f[target % 4]!, state.a[source % 4]!);
  },
  FADD_M(state, instruction) {
    const operand = pairAt(state, sourceAddress(state, instruction));
    state.f[instruction.target % 4] = inBoth(state, "add", state.f[instruction.target % 4]!, operand);
  },
  FSUB_R(state, { target, source }) {
    state.f[target % 4] = inBoth(state, "add", state.f[target % 4]!, negated(state.a[source % 4]!));
  },
  FSUB_M(state, instruction) {
    const operand = negated(pairAt(state, sourceAddress(state, instruction)));
    state.f[instruction.target % 4] = inBoth(state, "add", state.f[instruction.target % 4]!, operand);
  },
  FSCAL_R({ f }, { target }) {
    f[target % 4] = f[target % 4]!.map((x) => fromBits(bitsOf(x) ^ 0x80f0000000000000n)) as Pair;
  },
  FMUL_R(state, { target, source }) {
    state.e[target % 4] = inBoth(state, "multiply", state.e[target % 4]!, state.a[source % 4]!);
  },
  FDIV_M(state, instruction, { masks }) {
    const operand = withMask(pairAt(state, sourceAddress(state, instruction)), masks);
    state.e[instruction.target % 4] = inBoth(state, "divide", state.e[instruction.target % 4]!, operand);
  },
  FSQRT_R(state, { target }) {
    state.e[target % 4] = inBoth(state, "squareRoot", state.e[target % 4]!, [0, 0]);
  },
  CFROUND(state, { source, constant }, { roundingGuard }) {
    const rotated = rotateRight(state.r[source]!, BigInt(constant & 63));
    if ((rotated & roundingGuard) === 0n) state.rounding = Number(rotated % 4n);
  },
  ISTORE({ r, scratchpad }, { target, source, mod, constant }) {
    const size = mod >> 4 >= 14 ? L3 : mod % 4 ? L1 : L2;
    scratchpad.setBigUint64(addressOf(r[target]!, constant, size), r[source]!, true);
  },
};

/** The integer registers that an instruction has changed, for the jumps. */
function isChanged({ name, target, source, constant }: Instruction, register: number): boolean {
  if (name === "ISWAP_R") return source !== target && (register === source || register === target);
  if (name === "IMUL_RCP" && isPowerOfTwo(constant)) return false;
  return name.startsWith("I") && name !== "ISTORE" && register === target;
}

/** The target of a branch: after the last change of its register; an earlier branch counts as a change. */
function jumpTarget(instructions: readonly Instruction[], at: number): number {
  const { target } = instructions[at]!;
  let before = at - 1;
  while (before >= 0 && instructions[before]!.name !== "CBRANCH" && !isChanged(instructions[before]!, target))
    before--;
  return before + 1;
}

/** The index of the next instruction. */
function branch({ r }: ProgramState, instructions: readonly Instruction[], at: number): number {
  const { target, mod, constant } = instructions[at]!;
  const shift = BigInt((mod >> 4) + 8);
  const added = (BigInt(constant) | (1n << shift)) & ~(1n << (shift - 1n));
  r[target] = wrap(r[target]! + added);
  return (r[target]! & (0xffn << shift)) === 0n ? jumpTarget(instructions, at) : at + 1;
}

function executeInstructions(
  state: ProgramState,
  instructions: readonly Instruction[],
  surroundings: InstructionContext,
): void {
  for (let at = 0; at < instructions.length; ) {
    const instruction = instructions[at]!;
    if (instruction.name === "CBRANCH") at = branch(state, instructions, at);
    else {
      EXECUTE[instruction.name](state, instruction, surroundings);
      at++;
    }
  }
}

const eMask = (word: bigint): bigint => (word & 0x3fffffn) | ((0x300n | ((word >> 60n) << 4n)) << 52n);

type ProgramOptions = {
  readonly parameters: VersionParameters;
  /** Loops of the program, 2048 in a hash. */
  readonly iterations: number;
  /** The eight words of a dataset item. */
  readonly itemOf: (number: bigint) => readonly bigint[];
};

/** Step 3: two vectors of the scratchpad become registers. */
function loadVectors(state: ProgramState, at: number, masks: Masks): void {
  for (let i = 0; i < 4; i++) {
    state.f[i] = pairAt(state, at + 8 * i);
    state.e[i] = withMask(pairAt(state, at + 32 + 8 * i), masks);
  }
}

/** 64 bytes of words. */
function bytesOf(words: readonly bigint[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(8 * words.length));
  words.forEach((word, i) => void view.setBigUint64(8 * i, word, true));
  return new Uint8Array(view.buffer);
}

/** Every f goes through a round with each e as its key: encryption for f0 and f2, decryption for f1 and f3. */
function mixByAes(f: readonly bigint[], e: readonly bigint[]): bigint[] {
  const [blocks, keys] = [bytesOf(f), bytesOf(e)];
  for (let i = 0; i < 4; i++) {
    let block: Uint8Array = blocks.slice(16 * i, 16 * i + 16);
    const round = i % 2 === 0 ? encryptRound : decryptRound;
    for (let key = 0; key < 64; key += 16) block = round(block, keys.subarray(key, key + 16));
    blocks.set(block, 16 * i);
  }
  return Array.from(new BigUint64Array(blocks.buffer));
}

const MIXINGS: Readonly<Record<VersionParameters["mixing"], typeof mixByAes>> = {
  xor: (f, e) => f.map((bits, i) => bits ^ e[i]!),
  aes: mixByAes,
};

/** The bits that a program leaves, with which nothing is calculated any more: additive registers need not be numbers. */
export type ProgramResult = { readonly f: readonly bigint[]; readonly e: readonly bigint[] };

/** Steps 10 and 11: additive registers are mixed and go into the scratchpad. */
function storeVectors(state: ProgramState, at: number, mixing: VersionParameters["mixing"]): ProgramResult {
  const e = state.e.flat().map(bitsOf);
  const f = MIXINGS[mixing](state.f.flat().map(bitsOf), e);
  f.forEach((bits, i) => void state.scratchpad.setBigUint64(at + 8 * i, bits, true));
  return { f, e };
}

/**
 * Executes a program (configuration and instructions); returns its vectors at the end. Source: specification 4.5 and
 * 4.6.2, whose steps are numbered here.
 */
export function executeProgram(
  program: Uint8Array,
  state: ProgramState,
  { parameters, iterations, itemOf }: ProgramOptions,
): ProgramResult {
  const { scratchpad, r } = state;
  const view = new DataView(program.buffer, program.byteOffset, CONFIGURATION_BYTES);
  const word = (i: number): bigint => view.getBigUint64(8 * i, true);
  const instructions = readInstructions(program.subarray(CONFIGURATION_BYTES));
  const masks = [eMask(word(14)), eMask(word(15))] as const;
  const surroundings = { masks, roundingGuard: BigInt(parameters.roundingGuard) };
  const registers = [0, 1, 2, 3].map((i) => 2 * i + Number((word(12) >> BigInt(i)) & 1n));
  const offset = (word(13) % 524288n) * 64n;
  const memory = { ma: word(8) & 0x7fffffc0n, mx: word(10) & 0xffffffffn };
  let [at0, at1] = [memory.mx, memory.ma];
  let result: ProgramResult = { f: [], e: [] };
  for (let iteration = 0; iteration < iterations; iteration++) {
    const mixed = r[registers[0]!]! ^ r[registers[1]!]!; // 1
    at0 = (at0 ^ mixed) & 0x1fffc0n;
    at1 = (at1 ^ (mixed >> 32n)) & 0x1fffc0n;
    for (let i = 0; i < 8; i++) r[i] = r[i]! ^ scratchpad.getBigUint64(Number(at0) + 8 * i, true); // 2
    loadVectors(state, Number(at1), masks); // 3
    executeInstructions(state, instructions, surroundings); // 4
    const { ma } = memory; // 5
    memory[parameters.changedAddress] ^= (r[registers[2]!]! ^ r[registers[3]!]!) & 0xffffffffn;
    const item = itemOf((offset + (ma & 0x7fffffc0n)) / 64n); // 7
    for (let i = 0; i < 8; i++) r[i] = r[i]! ^ item[i]!;
    [memory.ma, memory.mx] = [memory.mx, memory.ma]; // 8
    for (let i = 0; i < 8; i++) scratchpad.setBigUint64(Number(at1) + 8 * i, r[i]!, true); // 9
    result = storeVectors(state, Number(at0), parameters.mixing); // 10, 11
    at0 = at1 = 0n; // 12
  }
  return result;
}

function superscalarValue(r: readonly bigint[], instruction: SuperscalarInstruction): bigint {
  const { operation, mod, constant } = instruction;
  const [x, y] = [r[instruction.target]!, r[instruction.source]!];
  const extended = BigInt(constant | 0);
  switch (operation) {
    case "subtract":
      return x - y;
    case "xor":
      return x ^ y;
    case "addShifted":
      return x + (y << BigInt((mod >> 2) % 4));
    case "multiply":
      return x * y;
    case "rotateConstant":
      return rotateRight(x, BigInt(constant));
    case "addConstant":
      return x + extended;
    case "xorConstant":
      return x ^ extended;
    case "multiplyHigh":
      return high(x, y);
    case "multiplyHighSigned":
      return highSigned(x, y);
    case "multiplyReciprocal":
      return x * reciprocal(constant);
  }
}

/** The eight words of a dataset item. Source: specification 7.3. */
export function datasetItem(
  cache: DataView,
  programs: readonly SuperscalarProgram[],
  number: bigint,
): readonly bigint[] {
  const first = wrap((number + 1n) * 6364136223846793005n);
  const r = [
    0n,
    9298411001130361340n,
    12065312585734608966n,
    9306329213124626780n,
    5281919268842080866n,
    10536153434571861004n,
    3398623926847679864n,
    9549104520008361294n,
  ].map((constant) => first ^ constant);
  let chooser = number;
  for (const { instructions, addressRegister } of programs) {
    const line = Number(chooser % BigInt(cache.byteLength / 64)) * 64;
    for (const instruction of instructions) r[instruction.target] = wrap(superscalarValue(r, instruction));
    for (let i = 0; i < 8; i++) r[i] = r[i]! ^ cache.getBigUint64(line + 8 * i, true);
    chooser = r[addressRegister]!;
  }
  return r;
}

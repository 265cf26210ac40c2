/** Compiles a RandomX program to one WebAssembly function. Source: RandomX specification, chapters 4.5, 4.6 and 5. */
import {
  type Code,
  createCode,
  emit,
  emitSigned,
  emitUnsigned,
  I32,
  I64,
  V128,
  writeModule,
} from "../wasm/module-writer.ts";
import {
  emitInstruction,
  type Instruction,
  type InstructionContext,
  jumpTargets,
  readInstructions,
} from "./instructions.ts";
import * as local from "./locals.ts";
import { DATA, SCRATCHPAD_BYTES, type Slot } from "./memory.ts";
import * as op from "./opcodes.ts";
import { CONFIGURATION_BYTES, type VersionParameters } from "./versions.ts";

const LINE_MASK = SCRATCHPAD_BYTES - 64;
const DATASET_MASK = 0x7fffffc0;
const DATASET_EXTRA_ITEMS = 524287n;
/** What a multiplicative register keeps of a converted integer. */
const FRACTION_AND_EXPONENT = 0x00ffffffffffffffn;

/** What the first 128 bytes of a program say. */
type Configuration = {
  readonly addressRegisters: readonly number[];
  readonly ma: number;
  readonly mx: number;
  /** Bytes into the dataset. */
  readonly datasetOffset: number;
  /** Fraction and exponent bits set in the multiplicative registers, both lanes. */
  readonly eBits: readonly [bigint, bigint];
};

function eBitsOf(word: bigint): bigint {
  return (word & 0x3fffffn) | ((0x300n | ((word >> 60n) << 4n)) << 52n);
}

function readConfiguration(program: Uint8Array): Configuration {
  const view = new DataView(program.buffer, program.byteOffset, CONFIGURATION_BYTES);
  const word = (i: number): bigint => view.getBigUint64(8 * i, true);
  return {
    addressRegisters: [0, 1, 2, 3].map((i) => 2 * i + Number((word(12) >> BigInt(i)) & 1n)),
    ma: Number(word(8) & BigInt(DATASET_MASK)),
    mx: Number(word(10) & 0xffffffffn),
    datasetOffset: Number(word(13) % (DATASET_EXTRA_ITEMS + 1n)) * 64,
    eBits: [eBitsOf(word(14)), eBitsOf(word(15))],
  };
}

/** The constant registers a0 … a3 (eight doubles between 1 and 2^32) as bytes. Source: specification 4.5.2. */
export function constantRegisters(program: Uint8Array): Uint8Array {
  const from = new DataView(program.buffer, program.byteOffset);
  const out = new DataView(new ArrayBuffer(64));
  for (let i = 0; i < 64; i += 8) {
    const word = from.getBigUint64(i, true);
    out.setBigUint64(i, (word & 0xfffffffffffffn) | ((1023n + (word >> 59n)) << 52n), true);
  }
  return new Uint8Array(out.buffer);
}

function emitVectorConstant(code: Code, low: bigint, high: bigint): void {
  const bytes = new DataView(new ArrayBuffer(16));
  bytes.setBigUint64(0, low, true);
  bytes.setBigUint64(8, high, true);
  emit(code, ...op.V128_CONST, ...new Uint8Array(bytes.buffer));
}

function emitNumber(code: Code, value: number): void {
  emit(code, op.I32_CONST);
  emitSigned(code, value);
}

function emitStart(code: Code, { ma, mx, eBits }: Configuration, { registers, rounding }: Slot): void {
  emitVectorConstant(code, FRACTION_AND_EXPONENT, FRACTION_AND_EXPONENT);
  emit(code, op.LOCAL_SET, local.E_KEEP);
  emitVectorConstant(code, ...eBits);
  emit(code, op.LOCAL_SET, local.E_SET);
  for (let i = 0; i < 4; i++) {
    emit(code, op.I32_CONST, 0, ...op.V128_LOAD, 4);
    emitUnsigned(code, registers + 192 + 16 * i);
    emit(code, op.LOCAL_SET, local.a(i));
  }
  emit(code, op.I32_CONST, 0, op.I32_LOAD, 2);
  emitUnsigned(code, rounding);
  emit(code, op.LOCAL_SET, local.MODE);
  emitNumber(code, ma);
  emit(code, op.LOCAL_TEE, local.MA, op.LOCAL_SET, local.ADDRESS_1);
  emitNumber(code, mx);
  emit(code, op.LOCAL_TEE, local.MX, op.LOCAL_SET, local.ADDRESS_0);
}

function emitAddress(code: Code, address: number, shift: number): void {
  emit(code, op.LOCAL_GET, local.MIX, op.I64_CONST, shift, op.I64_SHR_U, op.I32_WRAP_I64);
  emit(code, op.LOCAL_GET, address, op.I32_XOR);
  emitNumber(code, LINE_MASK);
  emit(code, op.I32_AND, op.LOCAL_SET, address);
}

/** Steps 1 to 3: addresses, then integer registers mixed with and others loaded from the scratchpad. */
function emitLoads(code: Code, { addressRegisters }: Configuration, { scratchpad }: Slot): void {
  const [first, second] = addressRegisters;
  emit(code, op.LOCAL_GET, local.r(first!), op.LOCAL_GET, local.r(second!), op.I64_XOR);
  emit(code, op.LOCAL_SET, local.MIX);
  emitAddress(code, local.ADDRESS_0, 0);
  emitAddress(code, local.ADDRESS_1, 32);
  for (let i = 0; i < 8; i++) {
    emit(code, op.LOCAL_GET, local.r(i), op.LOCAL_GET, local.ADDRESS_0, op.I64_LOAD, 3);
    emitUnsigned(code, scratchpad + 8 * i);
    emit(code, op.I64_XOR, op.LOCAL_SET, local.r(i));
  }
  for (let i = 0; i < 8; i++) {
    emit(code, op.LOCAL_GET, local.ADDRESS_1, ...op.V128_LOAD64_ZERO, 3);
    emitUnsigned(code, scratchpad + 8 * i);
    emit(code, ...op.F64X2_CONVERT_LOW_I32X4_S);
    if (i >= 4)
      emit(code, op.LOCAL_GET, local.E_KEEP, ...op.V128_AND, op.LOCAL_GET, local.E_SET, ...op.V128_OR);
    emit(code, op.LOCAL_SET, i < 4 ? local.f(i) : local.e(i - 4));
  }
}

/** Pushes an item's offset in the dataset. */
function emitItemOffset(code: Code, address: number, datasetOffset: number): void {
  emit(code, op.LOCAL_GET, address);
  emitNumber(code, DATASET_MASK);
  emit(code, op.I32_AND);
  emitNumber(code, datasetOffset);
  emit(code, op.I32_ADD);
}

const ADDRESSES = { ma: local.MA, mx: local.MX } as const;

/** Step 5: keeps the address of this iteration's item; the registers change that of a later one. */
function emitLaterAddress(
  code: Code,
  { addressRegisters }: Configuration,
  { changedAddress }: VersionParameters,
): void {
  const [, , third, fourth] = addressRegisters;
  const changed = ADDRESSES[changedAddress];
  emit(code, op.LOCAL_GET, local.MA, op.LOCAL_SET, local.MT, op.LOCAL_GET, changed);
  emit(code, op.LOCAL_GET, local.r(third!), op.LOCAL_GET, local.r(fourth!), op.I64_XOR, op.I32_WRAP_I64);
  emit(code, op.I32_XOR, op.LOCAL_SET, changed);
}

/** Step 8. */
function emitAddressSwap(code: Code): void {
  emit(code, op.LOCAL_GET, local.MX, op.LOCAL_GET, local.MA, op.LOCAL_SET, local.MX, op.LOCAL_SET, local.MA);
}

function emitMixItem(code: Code, address: number): void {
  for (let i = 0; i < 8; i++) {
    emit(code, op.LOCAL_GET, local.r(i), op.LOCAL_GET, local.ITEM, op.I64_LOAD, 3);
    emitUnsigned(code, address + 8 * i);
    emit(code, op.I64_XOR, op.LOCAL_SET, local.r(i));
  }
}

/** Step 7 of full mode: the dataset item. */
function emitDatasetRead(code: Code, configuration: Configuration): void {
  emitItemOffset(code, local.MT, configuration.datasetOffset);
  emit(code, op.LOCAL_SET, local.ITEM);
  emitMixItem(code, DATA);
}

/**
 * The same in light mode. As the next item's address is known by then, every other time two items are computed at once:
 * they wait for memory together.
 */
function emitItems(code: Code, configuration: Configuration, { items }: Slot): void {
  emit(code, op.LOCAL_GET, local.COUNTER, op.I32_CONST, 1, op.I32_AND, op.I32_EQZ, op.IF, op.NO_RESULT);
  emitNumber(code, items);
  for (const address of [local.MT, local.MX]) {
    emitItemOffset(code, address, configuration.datasetOffset);
    emit(code, op.I32_CONST, 6, op.I32_SHR_U, op.I64_EXTEND_I32_U);
  }
  emit(code, op.CALL, local.PAIR, op.END);
  emit(code, op.LOCAL_GET, local.COUNTER, op.I32_CONST, 1, op.I32_AND, op.I32_CONST, 6, op.I32_SHL);
  emit(code, op.LOCAL_SET, local.ITEM);
  emitMixItem(code, items);
}

/** Stores a vector from a local at a constant distance from an address on the stack. */
function emitVectorStore(code: Code, register: number, distance: number): void {
  emit(code, op.LOCAL_GET, register, ...op.V128_STORE, 4);
  emitUnsigned(code, distance);
}

/** Steps 10 and 11 of version 1. */
function emitMixByXor(code: Code, { scratchpad }: Slot): void {
  for (let i = 0; i < 4; i++) {
    emit(code, op.LOCAL_GET, local.ADDRESS_0, op.LOCAL_GET, local.f(i), op.LOCAL_GET, local.e(i));
    emit(code, ...op.V128_XOR, op.LOCAL_TEE, local.f(i), ...op.V128_STORE, 4);
    emitUnsigned(code, scratchpad + 16 * i);
  }
}

/** The same of version 2: registers f are mixed in the scratchpad, by the registers e of the slot. */
function emitMixByAes(code: Code, { scratchpad, registers }: Slot): void {
  for (let i = 0; i < 4; i++) {
    emit(code, op.LOCAL_GET, local.ADDRESS_0);
    emitVectorStore(code, local.f(i), scratchpad + 16 * i);
    emit(code, op.I32_CONST, 0);
    emitVectorStore(code, local.e(i), registers + 128 + 16 * i);
  }
  emit(code, op.LOCAL_GET, local.ADDRESS_0);
  emitNumber(code, scratchpad);
  emit(code, op.I32_ADD);
  emitNumber(code, registers + 128);
  emit(code, op.CALL, local.MIX_REGISTERS);
  for (let i = 0; i < 4; i++) {
    emit(code, op.LOCAL_GET, local.ADDRESS_0, ...op.V128_LOAD, 4);
    emitUnsigned(code, scratchpad + 16 * i);
    emit(code, op.LOCAL_SET, local.f(i));
  }
}

const MIXINGS = { xor: emitMixByXor, aes: emitMixByAes } as const;

/** Steps 9 to 12: registers into the scratchpad. */
function emitStores(code: Code, slot: Slot, { mixing }: VersionParameters): void {
  for (let i = 0; i < 8; i++) {
    emit(code, op.LOCAL_GET, local.ADDRESS_1, op.LOCAL_GET, local.r(i), op.I64_STORE, 3);
    emitUnsigned(code, slot.scratchpad + 8 * i);
  }
  MIXINGS[mixing](code, slot);
  emit(code, op.I32_CONST, 0, op.LOCAL_SET, local.ADDRESS_0, op.I32_CONST, 0, op.LOCAL_SET, local.ADDRESS_1);
}

function emitEnd(code: Code, { registers, rounding }: Slot): void {
  for (let i = 0; i < 8; i++) {
    emit(code, op.I32_CONST, 0, op.LOCAL_GET, local.r(i), op.I64_STORE, 3);
    emitUnsigned(code, registers + 8 * i);
  }
  for (let i = 0; i < 8; i++) {
    emit(code, op.I32_CONST, 0);
    emitVectorStore(code, i < 4 ? local.f(i) : local.e(i - 4), registers + 64 + 16 * i);
  }
  emit(code, op.I32_CONST, 0, op.LOCAL_GET, local.MODE, op.I32_STORE, 2);
  emitUnsigned(code, rounding);
}

/** A loop of WebAssembly stands where a branch jumps to: those loops never overlap, as a branch touches every register. */
function emitInstructions(
  code: Code,
  instructions: readonly Instruction[],
  surroundings: InstructionContext,
): void {
  const targets = jumpTargets(instructions);
  instructions.forEach((instruction, i) => {
    if (targets.has(i)) emit(code, op.LOOP, op.NO_RESULT);
    emitInstruction(code, instruction, surroundings);
  });
}

const LOCALS = [
  [8, I64],
  [14, V128],
  [9, I32],
  [1, I64],
] as const;

export type ProgramOptions = {
  readonly parameters: VersionParameters;
  readonly slot: Slot;
  /** The rounding mode at the start. */
  readonly rounding: number;
  /** Whether the memory holds the dataset, or else a cache. */
  readonly isFull: boolean;
  /** Loops of the program, an even number. */
  readonly iterations: number;
};

/** A module whose `run` executes the program (configuration and instructions) in the slot. */
export function writeProgramModule(program: Uint8Array, options: ProgramOptions): Uint8Array {
  const { parameters, slot, rounding, isFull, iterations } = options;
  const { roundingGuard } = parameters;
  const configuration = readConfiguration(program);
  const instructions = readInstructions(program.subarray(CONFIGURATION_BYTES));
  const isNearest = rounding === 0 && instructions.every(({ name }) => name !== "CFROUND");
  const body = createCode(128 * parameters.programSize);
  emitStart(body, configuration, slot);
  emitNumber(body, iterations);
  emit(body, op.LOCAL_SET, local.COUNTER);
  emit(body, op.LOOP, op.NO_RESULT);
  emitLoads(body, configuration, slot);
  emitInstructions(body, instructions, { scratchpad: slot.scratchpad, isNearest, roundingGuard });
  emitLaterAddress(body, configuration, parameters);
  if (isFull) emitDatasetRead(body, configuration);
  else emitItems(body, configuration, slot);
  emitAddressSwap(body);
  emitStores(body, slot, parameters);
  emit(body, op.LOCAL_GET, local.COUNTER, op.I32_CONST, 1, op.I32_SUB, op.LOCAL_TEE, local.COUNTER);
  emit(body, op.BRANCH_IF, 0, op.END);
  emitEnd(body, slot);
  return writeModule({
    hasSharedMemory: true,
    imports: isFull ? local.FIXED_IMPORTS : [...local.FIXED_IMPORTS, local.PAIR_IMPORT],
    functions: [{ name: "run", parameters: [], results: [], locals: LOCALS, body }],
  });
}

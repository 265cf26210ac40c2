/** The virtual machine's instructions: decoding and WebAssembly for each. Source: RandomX specification, chapter 5. */
import { type Code, emit, emitSigned, emitSigned64, emitUnsigned } from "../wasm/module-writer.ts";
import * as local from "./locals.ts";
import * as op from "./opcodes.ts";
import { isZeroOrPowerOfTwo, reciprocal } from "./reciprocal.ts";

/** How many of the 256 opcodes each instruction has, in order of opcode. Source: specification 5.2 to 5.5. */
const FREQUENCIES = {
  IADD_RS: 16,
  IADD_M: 7,
  ISUB_R: 16,
  ISUB_M: 7,
  IMUL_R: 16,
  IMUL_M: 4,
  IMULH_R: 4,
  IMULH_M: 1,
  ISMULH_R: 4,
  ISMULH_M: 1,
  IMUL_RCP: 8,
  INEG_R: 2,
  IXOR_R: 15,
  IXOR_M: 5,
  IROR_R: 8,
  IROL_R: 2,
  ISWAP_R: 4,
  FSWAP_R: 4,
  FADD_R: 16,
  FADD_M: 5,
  FSUB_R: 16,
  FSUB_M: 5,
  FSCAL_R: 6,
  FMUL_R: 32,
  FDIV_M: 4,
  FSQRT_R: 6,
  CBRANCH: 25,
  CFROUND: 1,
  ISTORE: 16,
} as const;

type Name = keyof typeof FREQUENCIES;

/** The instruction of each opcode. */
export const NAMES: readonly Name[] = Object.entries(FREQUENCIES).flatMap(([name, count]) =>
  new Array<Name>(count).fill(name as Name),
);

/** `target` and `source` are 0–7; `mod` is a byte; `constant` is signed, 32 bits. */
export type Instruction = {
  readonly name: Name;
  readonly target: number;
  readonly source: number;
  readonly mod: number;
  readonly constant: number;
};

/** The instructions of a program buffer, eight bytes each. */
export function readInstructions(bytes: Uint8Array): Instruction[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  return Array.from({ length: bytes.length / 8 }, (_, i) => ({
    name: NAMES[bytes[8 * i]!]!,
    target: bytes[8 * i + 1]! & 7,
    source: bytes[8 * i + 2]! & 7,
    mod: bytes[8 * i + 3]!,
    constant: view.getInt32(8 * i + 4, true),
  }));
}

/** Integer registers that the instruction changes; a branch counts as changing all. */
function changedRegisters({ name, target, source, constant }: Instruction): readonly number[] {
  if (name === "CBRANCH") return [0, 1, 2, 3, 4, 5, 6, 7];
  if (name === "ISWAP_R") return source === target ? [] : [source, target];
  if (name === "IMUL_RCP" && isZeroOrPowerOfTwo(constant)) return [];
  return name.startsWith("I") && name !== "ISTORE" ? [target] : [];
}

/** Indices of the instructions that branches jump to: those after the last change of the branch's register. */
export function jumpTargets(instructions: readonly Instruction[]): Set<number> {
  const targets = new Set<number>();
  const changedAt = new Array<number>(8).fill(-1);
  instructions.forEach((instruction, i) => {
    if (instruction.name === "CBRANCH") targets.add(changedAt[instruction.target]! + 1);
    for (const register of changedRegisters(instruction)) changedAt[register] = i;
  });
  return targets;
}

/** What holds for the whole program. */
export type InstructionContext = {
  /** The scratchpad's address. */
  readonly scratchpad: number;
  /** The program begins with rounding to nearest, and no instruction changes that. */
  readonly isNearest: boolean;
  /** CFROUND takes effect where these bits of its rotated operand are 0. */
  readonly roundingGuard: number;
};

type Emitter = (code: Code, instruction: Instruction, surroundings: InstructionContext) => void;

const L1_MASK = 16 * 1024 - 8;
const L2_MASK = 256 * 1024 - 8;
const L3_MASK = 2 * 1024 * 1024 - 8;
const levelMask = (mod: number): number => (mod & 3 ? L1_MASK : L2_MASK);

function emitSigned32(code: Code, opcode: number, value: number): void {
  emit(code, opcode);
  emitSigned(code, value);
}

/** Pushes the scratchpad address that a register and the constant choose. */
function emitAddress(code: Code, register: number, constant: number, mask: number): void {
  emit(code, op.LOCAL_GET, local.r(register), op.I32_WRAP_I64);
  emitSigned32(code, op.I32_CONST, constant);
  emit(code, op.I32_ADD);
  emitSigned32(code, op.I32_CONST, mask);
  emit(code, op.I32_AND);
}

/** Pushes the 64-bit operand in memory of an integer instruction. */
function emitMemory(
  code: Code,
  { target, source, mod, constant }: Instruction,
  { scratchpad }: InstructionContext,
): void {
  if (source === target) emitSigned32(code, op.I32_CONST, constant & L3_MASK);
  else emitAddress(code, source, constant, levelMask(mod));
  emit(code, op.I64_LOAD, 3);
  emitUnsigned(code, scratchpad);
}

/** Pushes the pair of doubles made of two 32-bit integers in memory. */
function emitFloatMemory(
  code: Code,
  { source, mod, constant }: Instruction,
  { scratchpad }: InstructionContext,
): void {
  emitAddress(code, source, constant, levelMask(mod));
  emit(code, ...op.V128_LOAD64_ZERO, 3);
  emitUnsigned(code, scratchpad);
  emit(code, ...op.F64X2_CONVERT_LOW_I32X4_S);
}

/** Pushes the source register, or the constant where source and target are the same. */
function emitSource(code: Code, { target, source, constant }: Instruction): void {
  if (source === target) emitSigned32(code, op.I64_CONST, constant);
  else emit(code, op.LOCAL_GET, local.r(source));
}

/** target = operation(target, the value that `operand` pushes). */
function integer(operand: Emitter, ...operation: readonly number[]): Emitter {
  return (code, instruction, surroundings) => {
    emit(code, op.LOCAL_GET, local.r(instruction.target));
    operand(code, instruction, surroundings);
    emit(code, ...operation, op.LOCAL_SET, local.r(instruction.target));
  };
}

const emitOwnSource = (code: Code, { source }: Instruction): void =>
  emit(code, op.LOCAL_GET, local.r(source));

type FloatOperation = { readonly native: readonly number[]; readonly rounded: number };

const ADD = { native: op.F64X2_ADD, rounded: local.ADD };
const MULTIPLY = { native: op.F64X2_MUL, rounded: local.MULTIPLY };
const DIVIDE = { native: op.F64X2_DIV, rounded: local.DIVIDE };
const SQUARE_ROOT = { native: op.F64X2_SQRT, rounded: local.SQUARE_ROOT };

/**
 * Applies the operation to the values on the stack. The fixed functions read the rounding mode themselves: a branch
 * here, with the instruction on one side and the call on the other, took longer and made programs a third larger.
 */
function emitRounded(
  code: Code,
  { native, rounded }: FloatOperation,
  { isNearest }: InstructionContext,
): void {
  if (isNearest) emit(code, ...native);
  else emit(code, op.LOCAL_GET, local.MODE, op.CALL, rounded);
}

/** Adds or, negated, subtracts a constant register or memory. */
function addition(isMemory: boolean, isNegated: boolean): Emitter {
  return (code, instruction, surroundings) => {
    const target = local.f(instruction.target & 3);
    emit(code, op.LOCAL_GET, target);
    if (isMemory) emitFloatMemory(code, instruction, surroundings);
    else emit(code, op.LOCAL_GET, local.a(instruction.source & 3));
    if (isNegated) emit(code, ...op.F64X2_NEG);
    emitRounded(code, ADD, surroundings);
    emit(code, op.LOCAL_SET, target);
  };
}

function emitShiftedAddition(code: Code, { target, source, mod, constant }: Instruction): void {
  emit(code, op.LOCAL_GET, local.r(target), op.LOCAL_GET, local.r(source));
  emit(code, op.I64_CONST, (mod >> 2) & 3, op.I64_SHL, op.I64_ADD);
  if (target === 5) {
    emitSigned32(code, op.I64_CONST, constant);
    emit(code, op.I64_ADD);
  }
  emit(code, op.LOCAL_SET, local.r(target));
}

function emitReciprocal(code: Code, { target, constant }: Instruction): void {
  if (isZeroOrPowerOfTwo(constant)) return;
  emit(code, op.LOCAL_GET, local.r(target), op.I64_CONST);
  emitSigned64(code, reciprocal(constant));
  emit(code, op.I64_MUL, op.LOCAL_SET, local.r(target));
}

function emitProduct(code: Code, { target, source }: Instruction, surroundings: InstructionContext): void {
  const register = local.e(target & 3);
  emit(code, op.LOCAL_GET, register, op.LOCAL_GET, local.a(source & 3));
  emitRounded(code, MULTIPLY, surroundings);
  emit(code, op.LOCAL_SET, register);
}

function emitDivision(code: Code, instruction: Instruction, surroundings: InstructionContext): void {
  const register = local.e(instruction.target & 3);
  emit(code, op.LOCAL_GET, register);
  emitFloatMemory(code, instruction, surroundings);
  emit(code, op.LOCAL_GET, local.E_KEEP, ...op.V128_AND, op.LOCAL_GET, local.E_SET, ...op.V128_OR);
  emitRounded(code, DIVIDE, surroundings);
  emit(code, op.LOCAL_SET, register);
}

function emitSquareRoot(code: Code, { target }: Instruction, surroundings: InstructionContext): void {
  const register = local.e(target & 3);
  emit(code, op.LOCAL_GET, register);
  emitRounded(code, SQUARE_ROOT, surroundings);
  emit(code, op.LOCAL_SET, register);
}

/** −x·2^k with k from the exponent's low bits: these and the sign flipped. */
function emitScaling(code: Code, { target }: Instruction): void {
  const half = [0, 0, 0, 0, 0, 0, 0xf0, 0x80];
  emit(code, op.LOCAL_GET, local.f(target & 3), ...op.V128_CONST, ...half, ...half);
  emit(code, ...op.V128_XOR, op.LOCAL_SET, local.f(target & 3));
}

/** Adds a constant whose bit under the tested byte is 0 and lowest tested bit 1, and jumps if that byte became 0. */
function emitBranch(code: Code, { target, mod, constant }: Instruction): void {
  const shift = (mod >> 4) + 8;
  emit(code, op.LOCAL_GET, local.r(target));
  emitSigned32(code, op.I64_CONST, (constant | (1 << shift)) & ~(1 << (shift - 1)));
  emit(code, op.I64_ADD, op.LOCAL_TEE, local.r(target), op.I32_WRAP_I64);
  emitSigned32(code, op.I32_CONST, 0xff << shift);
  emit(code, op.I32_AND, op.I32_EQZ, op.BRANCH_IF, 0, op.END);
}

function emitSwap(code: Code, { target, source }: Instruction): void {
  if (source === target) return;
  emit(code, op.LOCAL_GET, local.r(source), op.LOCAL_GET, local.r(target));
  emit(code, op.LOCAL_SET, local.r(source), op.LOCAL_SET, local.r(target));
}

function emitHalfSwap(code: Code, { target }: Instruction): void {
  const register = local.f(target); // e0 … e3 follow f0 … f3
  emit(code, op.LOCAL_GET, register, op.LOCAL_GET, register, ...op.SWAP_HALVES, op.LOCAL_SET, register);
}

function emitRounding(
  code: Code,
  { source, constant }: Instruction,
  { roundingGuard }: InstructionContext,
): void {
  emit(code, op.LOCAL_GET, local.r(source));
  emitSigned32(code, op.I64_CONST, constant & 63);
  emit(code, op.I64_ROTR, op.I32_WRAP_I64);
  if (roundingGuard === 0) emit(code, op.I32_CONST, 3, op.I32_AND);
  else {
    emit(code, op.LOCAL_TEE, local.ROTATED, op.I32_CONST, 3, op.I32_AND, op.LOCAL_GET, local.MODE);
    emit(code, op.LOCAL_GET, local.ROTATED);
    emitSigned32(code, op.I32_CONST, roundingGuard);
    emit(code, op.I32_AND, op.I32_EQZ, op.SELECT);
  }
  emit(code, op.LOCAL_SET, local.MODE);
}

function emitStore(
  code: Code,
  { target, source, mod, constant }: Instruction,
  { scratchpad }: InstructionContext,
): void {
  emitAddress(code, target, constant, mod >> 4 >= 14 ? L3_MASK : levelMask(mod));
  emit(code, op.LOCAL_GET, local.r(source), op.I64_STORE, 3);
  emitUnsigned(code, scratchpad);
}

const EMITTERS: Readonly<Record<Name, Emitter>> = {
  IADD_RS: emitShiftedAddition,
  IADD_M: integer(emitMemory, op.I64_ADD),
  ISUB_R: integer(emitSource, op.I64_SUB),
  ISUB_M: integer(emitMemory, op.I64_SUB),
  IMUL_R: integer(emitSource, op.I64_MUL),
  IMUL_M: integer(emitMemory, op.I64_MUL),
  IMULH_R: integer(emitOwnSource, op.CALL, local.MUL_HIGH),
  IMULH_M: integer(emitMemory, op.CALL, local.MUL_HIGH),
  ISMULH_R: integer(emitOwnSource, op.CALL, local.MUL_HIGH_SIGNED),
  ISMULH_M: integer(emitMemory, op.CALL, local.MUL_HIGH_SIGNED),
  IMUL_RCP: emitReciprocal,
  INEG_R: integer((code) => emit(code, op.I64_CONST, 0x7f), op.I64_MUL),
  IXOR_R: integer(emitSource, op.I64_XOR),
  IXOR_M: integer(emitMemory, op.I64_XOR),
  IROR_R: integer(emitSource, op.I64_ROTR),
  IROL_R: integer(emitSource, op.I64_ROTL),
  ISWAP_R: emitSwap,
  FSWAP_R: emitHalfSwap,
  FADD_R: addition(false, false),
  FADD_M: addition(true, false),
  FSUB_R: addition(false, true),
  FSUB_M: addition(true, true),
  FSCAL_R: emitScaling,
  FMUL_R: emitProduct,
  FDIV_M: emitDivision,
  FSQRT_R: emitSquareRoot,
  CBRANCH: emitBranch,
  CFROUND: emitRounding,
  ISTORE: emitStore,
};

/** Appends the instruction; a branch ends the loop that stands at its target. */
export function emitInstruction(
  code: Code,
  instruction: Instruction,
  surroundings: InstructionContext,
): void {
  EMITTERS[instruction.name](code, instruction, surroundings);
}

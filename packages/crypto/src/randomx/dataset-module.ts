/**
 * Compiles a cache's eight SuperscalarHash programs to WebAssembly. Source: RandomX specification 7.3.
 *
 * An item waits eight times for a random line of the cache, as long as a program takes or longer, and WebAssembly
 * cannot prefetch. So several items go through each program in turn, and the lines of all are touched before.
 */
import {
  type Code,
  createCode,
  emit,
  emitSigned,
  emitSigned64,
  emitUnsigned,
  I32,
  I64,
  type WrittenFunction,
  writeModule,
} from "../wasm/module-writer.ts";
import { emitHighProduct } from "./high-product.ts";
import { CACHE_BYTES, DATA } from "./memory.ts";
import * as op from "./opcodes.ts";
import { reciprocal } from "./reciprocal.ts";
import type { SuperscalarInstruction, SuperscalarOperation, SuperscalarProgram } from "./superscalar.ts";

const MULTIPLIER = 6364136223846793005n;
/** XORed into r0 to make r1 … r7. */
const OFFSETS = [
  9298411001130361340n,
  12065312585734608966n,
  9306329213124626780n,
  5281919268842080866n,
  10536153434571861004n,
  3398623926847679864n,
  9549104520008361294n,
];
const LINES = CACHE_BYTES / 64;
/** Items that `block` computes together. */
export const BLOCK_ITEMS = 8;

/** A program's parameters: where the item's registers lie and, for the first program, the item's number. */
const ITEM = 0;
const NUMBER = 1;
/** Its locals: r0 … r7, the address of a cache line, two temporaries. */
const register = (i: number): number => 2 + i;
const LINE = 10;
const MIDDLE = 11;
const LOW = 12;

const BINARY: Partial<Record<SuperscalarOperation, number>> = {
  subtract: op.I64_SUB,
  xor: op.I64_XOR,
  multiply: op.I64_MUL,
};
const WITH_CONSTANT: Partial<Record<SuperscalarOperation, number>> = {
  rotateConstant: op.I64_ROTR,
  addConstant: op.I64_ADD,
  xorConstant: op.I64_XOR,
};

function emitInstruction(code: Code, instruction: SuperscalarInstruction): void {
  const { operation, mod, constant } = instruction;
  const [target, source] = [register(instruction.target), register(instruction.source)];
  if (operation === "multiplyHigh" || operation === "multiplyHighSigned") {
    const isSigned = operation === "multiplyHighSigned";
    emitHighProduct(code, [target, source], { isSigned, middle: MIDDLE, low: LOW });
  } else if (operation === "addShifted") {
    emit(
      code,
      op.LOCAL_GET,
      target,
      op.LOCAL_GET,
      source,
      op.I64_CONST,
      (mod >> 2) & 3,
      op.I64_SHL,
      op.I64_ADD,
    );
  } else if (operation === "multiplyReciprocal") {
    emit(code, op.LOCAL_GET, target, op.I64_CONST);
    emitSigned64(code, reciprocal(constant));
    emit(code, op.I64_MUL);
  } else if (BINARY[operation]) {
    emit(code, op.LOCAL_GET, target, op.LOCAL_GET, source, BINARY[operation]);
  } else {
    emit(code, op.LOCAL_GET, target, op.I64_CONST);
    emitSigned(code, constant);
    emit(code, WITH_CONSTANT[operation]!);
  }
  emit(code, op.LOCAL_SET, target);
}

/** From the 64-bit number on the stack to the address of a cache line. */
function emitLine(code: Code): void {
  emit(code, op.I32_WRAP_I64, op.I32_CONST);
  emitSigned(code, LINES - 1);
  emit(code, op.I32_AND, op.I32_CONST, 6, op.I32_SHL);
}

/** r0 … r7 of the item's number. */
function emitStart(code: Code): void {
  emit(code, op.LOCAL_GET, NUMBER, op.I64_CONST, 1, op.I64_ADD, op.I64_CONST);
  emitSigned64(code, MULTIPLIER);
  emit(code, op.I64_MUL, op.LOCAL_SET, register(0));
  OFFSETS.forEach((offset, i) => {
    emit(code, op.LOCAL_GET, register(0), op.I64_CONST);
    emitSigned64(code, offset);
    emit(code, op.I64_XOR, op.LOCAL_SET, register(i + 1));
  });
}

function emitLoadRegisters(code: Code): void {
  for (let i = 0; i < 8; i++)
    emit(code, op.LOCAL_GET, ITEM, op.I64_LOAD, 3, 8 * i, op.LOCAL_SET, register(i));
}

/** One program of one item, mixed with the line that the program before, or the number, has chosen. */
function writeProgram(program: SuperscalarProgram, before: SuperscalarProgram | undefined): WrittenFunction {
  const body = createCode(8192);
  if (before) emitLoadRegisters(body);
  else emitStart(body);
  emit(body, op.LOCAL_GET, before ? register(before.addressRegister) : NUMBER);
  emitLine(body);
  emit(body, op.LOCAL_SET, LINE);
  for (const instruction of program.instructions) emitInstruction(body, instruction);
  for (let i = 0; i < 8; i++) {
    emit(body, op.LOCAL_GET, ITEM, op.LOCAL_GET, register(i), op.LOCAL_GET, LINE, op.I64_LOAD, 3);
    emitUnsigned(body, DATA + 8 * i);
    emit(body, op.I64_XOR, op.I64_STORE, 3, 8 * i);
  }
  const locals = [
    [8, I64],
    [1, I32],
    [2, I64],
  ] as const;
  return { parameters: [I32, I64], results: [], locals, body };
}

/** Loads from the line that the number on the stack chooses, for nothing but to have it in the processor's cache. */
function emitTouch(code: Code): void {
  emitLine(code);
  emit(code, op.I64_LOAD, 3);
  emitUnsigned(code, DATA);
  emit(code, op.DROP);
}

/** Computes items one after another in memory; `pushNumber` and `pushItem` push the number and address of one. */
function emitItems(
  code: Code,
  count: number,
  programs: readonly SuperscalarProgram[],
  push: { readonly number: (i: number) => void; readonly item: (i: number) => void },
): void {
  for (let k = 0; k < programs.length; k++) {
    for (let i = 0; i < count; i++) {
      if (k === 0) push.number(i);
      else {
        push.item(i);
        emit(code, op.I64_LOAD, 3, 8 * programs[k - 1]!.addressRegister);
      }
      emitTouch(code);
    }
    for (let i = 0; i < count; i++) {
      push.item(i);
      push.number(i);
      emit(code, op.CALL, k);
    }
  }
}

/** `pair(out, number, number)`. */
function writePair(programs: readonly SuperscalarProgram[]): WrittenFunction {
  const body = createCode(4096);
  emitItems(body, 2, programs, {
    number: (i) => emit(body, op.LOCAL_GET, 1 + i),
    item: (i) => emit(body, op.LOCAL_GET, 0, op.I32_CONST, ...(i ? [0xc0, 0] : [0]), op.I32_ADD),
  });
  return { name: "pair", parameters: [I32, I64, I64], results: [], locals: [], body };
}

/** `block(out, first)`: consecutive items. */
function writeBlock(programs: readonly SuperscalarProgram[]): WrittenFunction {
  const body = createCode(16384);
  emitItems(body, BLOCK_ITEMS, programs, {
    number: (i) => emit(body, op.LOCAL_GET, 1, op.I64_CONST, i, op.I64_ADD),
    item(i) {
      emit(body, op.LOCAL_GET, 0, op.I32_CONST);
      emitSigned(body, 64 * i);
      emit(body, op.I32_ADD);
    },
  });
  return { name: "block", parameters: [I32, I64], results: [], locals: [], body };
}

/**
 * A module that puts dataset items, 64 bytes each, at the address `out`: `pair(out, number, number)` two, and
 * `block(out, first)` eight with consecutive numbers.
 */
export function writeDatasetModule(programs: readonly SuperscalarProgram[]): Uint8Array {
  return writeModule({
    hasSharedMemory: true,
    imports: [],
    functions: [
      ...programs.map((program, k) => writeProgram(program, programs[k - 1])),
      writePair(programs),
      writeBlock(programs),
    ],
  });
}

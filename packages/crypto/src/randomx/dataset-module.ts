/** Compiles a cache's eight SuperscalarHash programs to one WebAssembly function. Source: RandomX specification 7.3. */
import {
  type Code,
  createCode,
  emit,
  emitSigned,
  emitSigned64,
  emitUnsigned,
  I32,
  I64,
  writeModule,
} from "../wasm/module-writer.ts";
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

/** Imported functions, and the locals: the item number, where it goes, r0 … r7, the address of a cache line. */
const MUL_HIGH = 0;
const MUL_HIGH_SIGNED = 1;
const NUMBER = 0;
const OUT = 1;
const register = (i: number): number => 2 + i;
const LINE = 10;

const BINARY: Partial<Record<SuperscalarOperation, readonly number[]>> = {
  subtract: [op.I64_SUB],
  xor: [op.I64_XOR],
  multiply: [op.I64_MUL],
  multiplyHigh: [op.CALL, MUL_HIGH],
  multiplyHighSigned: [op.CALL, MUL_HIGH_SIGNED],
};
const WITH_CONSTANT: Partial<Record<SuperscalarOperation, number>> = {
  rotateConstant: op.I64_ROTR,
  addConstant: op.I64_ADD,
  xorConstant: op.I64_XOR,
};

function emitInstruction(code: Code, instruction: SuperscalarInstruction): void {
  const { operation, target, source, shift, constant } = instruction;
  emit(code, op.LOCAL_GET, register(target));
  if (operation === "addShifted") {
    emit(code, op.LOCAL_GET, register(source), op.I64_CONST, shift, op.I64_SHL, op.I64_ADD);
  } else if (operation === "multiplyReciprocal") {
    emit(code, op.I64_CONST);
    emitSigned64(code, reciprocal(constant));
    emit(code, op.I64_MUL);
  } else if (BINARY[operation]) {
    emit(code, op.LOCAL_GET, register(source), ...BINARY[operation]);
  } else {
    emit(code, op.I64_CONST);
    emitSigned(code, constant);
    emit(code, WITH_CONSTANT[operation]!);
  }
  emit(code, op.LOCAL_SET, register(target));
}

/** The address of the cache line that a register chooses. */
function emitLine(code: Code, local: number): void {
  emit(code, op.LOCAL_GET, local, op.I32_WRAP_I64, op.I32_CONST);
  emitSigned(code, LINES - 1);
  emit(code, op.I32_AND, op.I32_CONST, 6, op.I32_SHL, op.LOCAL_SET, LINE);
}

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

/** A module whose `item(number, out)` puts the 64 bytes of a dataset item at the address `out`. */
export function writeDatasetModule(programs: readonly SuperscalarProgram[]): Uint8Array {
  const body = createCode(65536);
  emitStart(body);
  let chooser = NUMBER;
  for (const { instructions, addressRegister } of programs) {
    emitLine(body, chooser);
    for (const instruction of instructions) emitInstruction(body, instruction);
    for (let i = 0; i < 8; i++) {
      emit(body, op.LOCAL_GET, register(i), op.LOCAL_GET, LINE, op.I64_LOAD, 3);
      emitUnsigned(body, DATA + 8 * i);
      emit(body, op.I64_XOR, op.LOCAL_SET, register(i));
    }
    chooser = register(addressRegister);
  }
  for (let i = 0; i < 8; i++) {
    emit(body, op.LOCAL_GET, OUT, op.LOCAL_GET, register(i), op.I64_STORE, 3, 8 * i);
  }
  const product = { module: "fixed", parameters: [I64, I64], results: [I64] };
  return writeModule({
    hasSharedMemory: true,
    imports: [
      { ...product, name: "mulHigh" },
      { ...product, name: "mulHighSigned" },
    ],
    functions: [
      {
        name: "item",
        parameters: [I64, I32],
        results: [],
        locals: [
          [8, I64],
          [1, I32],
        ],
        body,
      },
    ],
  });
}

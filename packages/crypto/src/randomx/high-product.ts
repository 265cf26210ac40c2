/** The high 64 bits of a product, which WebAssembly has no instruction for, from four products of 32-bit halves. */
import { type Code, emit, emitSigned64 } from "../wasm/module-writer.ts";
import * as op from "./opcodes.ts";

function emitLow(code: Code, local: number): void {
  emit(code, op.LOCAL_GET, local, op.I64_CONST);
  emitSigned64(code, 0xffffffffn);
  emit(code, op.I64_AND);
}

/**
 * Pushes the high half of the product of two locals. `middle` and `low` are locals for the sums of the crossed
 * products, none of which overflows: (2^32 − 1)² + 2^32 − 1 < 2^64, and likewise with signs. Source: Warren, Hacker's
 * Delight, 8-2.
 */
export function emitHighProduct(
  code: Code,
  [a, b]: readonly [number, number],
  options: { readonly isSigned: boolean; readonly middle: number; readonly low: number },
): void {
  const { middle, low } = options;
  const shift = options.isSigned ? op.I64_SHR_S : op.I64_SHR_U;
  const emitHigh = (local: number): void => emit(code, op.LOCAL_GET, local, op.I64_CONST, 32, shift);
  emitHigh(a);
  emitLow(code, b);
  emit(code, op.I64_MUL);
  emitLow(code, a);
  emitLow(code, b);
  emit(code, op.I64_MUL, op.I64_CONST, 32, op.I64_SHR_U, op.I64_ADD, op.LOCAL_SET, middle);
  emitLow(code, a);
  emitHigh(b);
  emit(code, op.I64_MUL);
  emitLow(code, middle);
  emit(code, op.I64_ADD, op.LOCAL_SET, low);
  emitHigh(a);
  emitHigh(b);
  emit(code, op.I64_MUL);
  emitHigh(middle);
  emit(code, op.I64_ADD);
  emitHigh(low);
  emit(code, op.I64_ADD);
}

/** The locals and imported functions of a compiled program, by index. */
import { I32, I64, type ImportedFunction, V128 } from "../wasm/module-writer.ts";

/** Integer registers. */
export const r = (i: number): number => i;
/** Additive, multiplicative and constant registers. */
export const f = (i: number): number => 8 + i;
export const e = (i: number): number => 12 + i;
export const a = (i: number): number => 16 + i;
/** The bits of a converted integer that a multiplicative register keeps, and the bits that are set in it. */
export const E_KEEP = 20;
export const E_SET = 21;
/** The rounding mode, 0–3. */
export const MODE = 22;
export const ADDRESS_0 = 23;
export const ADDRESS_1 = 24;
export const MA = 25;
export const MX = 26;
export const COUNTER = 27;
/** Offset of the iteration's dataset item among two. */
export const ITEM = 28;
/** The address of the iteration's dataset item, kept while `MA` and `MX` change. */
export const MT = 29;
/** The rotated operand of CFROUND. */
export const ROTATED = 30;
/** A 64-bit temporary. */
export const MIX = 31;

export const ADD = 0;
export const MULTIPLY = 1;
export const DIVIDE = 2;
export const SQUARE_ROOT = 3;
export const MUL_HIGH = 4;
export const MUL_HIGH_SIGNED = 5;
export const MIX_REGISTERS = 6;
export const PAIR = 7;

const binary = { module: "fixed", parameters: [V128, V128, I32], results: [V128] };
const product = { module: "fixed", parameters: [I64, I64], results: [I64] };

export const FIXED_IMPORTS: readonly ImportedFunction[] = [
  { ...binary, name: "add" },
  { ...binary, name: "multiply" },
  { ...binary, name: "divide" },
  { module: "fixed", name: "squareRoot", parameters: [V128, I32], results: [V128] },
  { ...product, name: "mulHigh" },
  { ...product, name: "mulHighSigned" },
  { module: "fixed", name: "mixRegisters", parameters: [I32, I32], results: [] },
];

/** Comes last: full mode does not need it. */
export const PAIR_IMPORT: ImportedFunction = {
  module: "dataset",
  name: "pair",
  parameters: [I32, I64, I64],
  results: [],
};

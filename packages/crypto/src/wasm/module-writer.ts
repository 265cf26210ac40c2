/** Writes small WebAssembly modules byte by byte. Source: WebAssembly core specification, chapter 5 (binary format). */

/** Bytes under construction: `length` of `bytes` are used. */
export type Code = { bytes: Uint8Array; length: number };

export function createCode(capacity = 1024): Code {
  return { bytes: new Uint8Array(capacity), length: 0 };
}

/** Appends bytes: opcodes, or small indices that fit in seven bits. */
export function emit(code: Code, ...bytes: readonly number[]): void {
  if (code.length + bytes.length > code.bytes.length) grow(code, bytes.length);
  for (let i = 0; i < bytes.length; i++) code.bytes[code.length++] = bytes[i]!;
}

function grow(code: Code, more: number): void {
  const bytes = new Uint8Array(2 * code.bytes.length + more);
  bytes.set(code.bytes.subarray(0, code.length));
  code.bytes = bytes;
}

/** Appends an unsigned number below 2^32 (LEB128). */
export function emitUnsigned(code: Code, value: number): void {
  let rest = value >>> 0;
  for (; rest >= 0x80; rest >>>= 7) emit(code, (rest & 0x7f) | 0x80);
  emit(code, rest);
}

/** Appends a signed 32-bit number (LEB128), the operand of `i32.const`, or of `i64.const` when it fits. */
export function emitSigned(code: Code, value: number): void {
  let rest = value | 0;
  for (; rest < -64 || rest > 63; rest >>= 7) emit(code, (rest & 0x7f) | 0x80);
  emit(code, rest & 0x7f);
}

/** Appends a 64-bit number (LEB128 of its signed reading), the operand of `i64.const`. */
export function emitSigned64(code: Code, value: bigint): void {
  let rest = BigInt.asIntN(64, value);
  for (; rest < -64n || rest > 63n; rest >>= 7n) emit(code, Number(rest & 0x7fn) | 0x80);
  emit(code, Number(rest & 0x7fn));
}

/** Appends other code. */
export function emitCode(code: Code, part: Code): void {
  if (code.length + part.length > code.bytes.length) grow(code, part.length);
  code.bytes.set(part.bytes.subarray(0, part.length), code.length);
  code.length += part.length;
}

/** One function `run` without parameters or results; the memory is imported as `env.memory`. */
export type ModuleParts = {
  /** Number of locals of each type, in order of index; types by their byte (0x7f i32, 0x7e i64, 0x7b v128). */
  readonly locals: readonly (readonly [count: number, type: number])[];
  /** Instructions without the closing `end`. */
  readonly body: Code;
};

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const TYPES = [1, 4, 1, 0x60, 0, 0];
const IMPORTS = [2, 15, 1, 3, 0x65, 0x6e, 0x76, 6, 0x6d, 0x65, 0x6d, 0x6f, 0x72, 0x79, 2, 0, 1];
const FUNCTIONS = [3, 2, 1, 0];
const EXPORTS = [7, 7, 1, 3, 0x72, 0x75, 0x6e, 0, 0];

/** The bytes of a module with that one function. */
export function writeModule({ locals, body }: ModuleParts): Uint8Array {
  const inner = createCode(body.length + 64);
  emit(inner, locals.length);
  for (const [count, type] of locals) {
    emitUnsigned(inner, count);
    emit(inner, type);
  }
  emitCode(inner, body);
  emit(inner, 0x0b);
  const section = createCode(inner.length + 16);
  emit(section, 1);
  emitUnsigned(section, inner.length);
  emitCode(section, inner);
  const module = createCode(section.length + 64);
  emit(module, ...MAGIC, ...TYPES, ...IMPORTS, ...FUNCTIONS, ...EXPORTS, 10);
  emitUnsigned(module, section.length);
  emitCode(module, section);
  return module.bytes.slice(0, module.length);
}

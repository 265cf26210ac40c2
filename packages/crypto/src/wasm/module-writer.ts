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
function emitCode(code: Code, part: Code): void {
  if (code.length + part.length > code.bytes.length) grow(code, part.length);
  code.bytes.set(part.bytes.subarray(0, part.length), code.length);
  code.length += part.length;
}

/** Types by their byte. */
export const I32 = 0x7f;
export const I64 = 0x7e;
export const V128 = 0x7b;

export type Signature = { readonly parameters: readonly number[]; readonly results: readonly number[] };

/** A function from another module; functions are numbered with the imported ones first. */
export type ImportedFunction = Signature & { readonly module: string; readonly name: string };

export type WrittenFunction = Signature & {
  /** Under which it is exported, if it is. */
  readonly name?: string;
  /** How many locals of each type come after the parameters. */
  readonly locals: readonly (readonly [count: number, type: number])[];
  /** Instructions without the closing `end`. */
  readonly body: Code;
};

export type ModuleParts = {
  /** Whether the memory is shared between threads. */
  readonly hasSharedMemory?: boolean;
  readonly imports: readonly ImportedFunction[];
  readonly functions: readonly WrittenFunction[];
};

function emitName(code: Code, name: string): void {
  emitUnsigned(code, name.length);
  for (const character of name) emit(code, character.charCodeAt(0));
}

function emitSection(module: Code, id: number, content: Code): void {
  emit(module, id);
  emitUnsigned(module, content.length);
  emitCode(module, content);
}

function writeTypes({ imports, functions }: ModuleParts): Code {
  const code = createCode();
  emitUnsigned(code, imports.length + functions.length);
  for (const { parameters, results } of [...imports, ...functions])
    emit(code, 0x60, parameters.length, ...parameters, results.length, ...results);
  return code;
}

/** The memory `env.memory`, of any size, and the functions. */
function writeImports({ imports, hasSharedMemory }: ModuleParts): Code {
  const code = createCode();
  emitUnsigned(code, imports.length + 1);
  emitName(code, "env");
  emitName(code, "memory");
  emit(code, 2, hasSharedMemory ? 3 : 0, 1);
  if (hasSharedMemory) emitUnsigned(code, 0x10000);
  imports.forEach(({ module, name }, type) => {
    emitName(code, module);
    emitName(code, name);
    emit(code, 0, type);
  });
  return code;
}

function writeFunctions({ imports, functions }: ModuleParts): Code {
  const code = createCode();
  emit(code, functions.length, ...functions.map((_, i) => imports.length + i));
  return code;
}

function writeExports({ imports, functions }: ModuleParts): Code {
  const code = createCode();
  emit(code, functions.filter(({ name }) => name !== undefined).length);
  functions.forEach(({ name }, i) => {
    if (name === undefined) return;
    emitName(code, name);
    emit(code, 0, imports.length + i);
  });
  return code;
}

function writeBodies({ functions }: ModuleParts): Code {
  const code = createCode();
  emit(code, functions.length);
  for (const { locals, body } of functions) {
    const inner = createCode(body.length + 64);
    emit(inner, locals.length);
    for (const [count, type] of locals) {
      emitUnsigned(inner, count);
      emit(inner, type);
    }
    emitCode(inner, body);
    emit(inner, 0x0b);
    emitUnsigned(code, inner.length);
    emitCode(code, inner);
  }
  return code;
}

/**
 * The bytes of a module that imports a memory and functions, fewer than 100 in all, and exports the functions that have
 * a name.
 */
export function writeModule(parts: ModuleParts): Uint8Array {
  const module = createCode(4096);
  emit(module, 0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  emitSection(module, 1, writeTypes(parts));
  emitSection(module, 2, writeImports(parts));
  emitSection(module, 3, writeFunctions(parts));
  emitSection(module, 7, writeExports(parts));
  emitSection(module, 10, writeBodies(parts));
  return module.bytes.slice(0, module.length);
}

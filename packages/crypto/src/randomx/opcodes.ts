/** WebAssembly opcodes that the RandomX compilers emit. Source: WebAssembly core specification, chapter 5.4. */

export const LOOP = 0x03;
export const IF = 0x04;
export const END = 0x0b;
export const BRANCH_IF = 0x0d;
export const CALL = 0x10;
export const NO_RESULT = 0x40;
export const DROP = 0x1a;
export const SELECT = 0x1b;
export const LOCAL_GET = 0x20;
export const LOCAL_SET = 0x21;
export const LOCAL_TEE = 0x22;
export const I32_LOAD = 0x28;
export const I64_LOAD = 0x29;
export const I32_STORE = 0x36;
export const I64_STORE = 0x37;
export const I32_CONST = 0x41;
export const I64_CONST = 0x42;
export const I32_EQZ = 0x45;
export const I32_ADD = 0x6a;
export const I32_SUB = 0x6b;
export const I32_AND = 0x71;
export const I32_XOR = 0x73;
export const I32_SHL = 0x74;
export const I32_SHR_U = 0x76;
export const I64_ADD = 0x7c;
export const I64_SUB = 0x7d;
export const I64_MUL = 0x7e;
export const I64_XOR = 0x85;
export const I64_SHL = 0x86;
export const I64_AND = 0x83;
export const I64_SHR_S = 0x87;
export const I64_SHR_U = 0x88;
export const I64_ROTL = 0x89;
export const I64_ROTR = 0x8a;
export const I32_WRAP_I64 = 0xa7;
export const I64_EXTEND_I32_U = 0xad;

/** Vector instructions take this prefix and a number in LEB128. */
const VECTOR = 0xfd;
export const V128_LOAD = [VECTOR, 0x00] as const;
export const V128_STORE = [VECTOR, 0x0b] as const;
export const V128_CONST = [VECTOR, 0x0c] as const;
export const V128_LOAD64_ZERO = [VECTOR, 0x5d] as const;
export const V128_AND = [VECTOR, 0x4e] as const;
export const V128_OR = [VECTOR, 0x50] as const;
export const V128_XOR = [VECTOR, 0x51] as const;
export const F64X2_NEG = [VECTOR, 0xed, 0x01] as const;
export const F64X2_SQRT = [VECTOR, 0xef, 0x01] as const;
export const F64X2_ADD = [VECTOR, 0xf0, 0x01] as const;
export const F64X2_MUL = [VECTOR, 0xf2, 0x01] as const;
export const F64X2_DIV = [VECTOR, 0xf3, 0x01] as const;
export const F64X2_CONVERT_LOW_I32X4_S = [VECTOR, 0xfe, 0x01] as const;
/** i8x16.shuffle with the halves exchanged, after pushing a vector twice. */
export const SWAP_HALVES = [VECTOR, 0x0d, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7] as const;

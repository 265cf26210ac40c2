import assert from "node:assert/strict";
import { before, test } from "node:test";
import { blake2b } from "@noble/hashes/blake2.js";
import { createRandom } from "../src/randomx/cache.ts";
import { createMachine, fixedModule, type Machine, placeConstants } from "../src/randomx/fixed.ts";
import { emitHighProduct } from "../src/randomx/high-product.ts";
import { createSharedMemory, KEYS_FILL } from "../src/randomx/memory.ts";
import { reciprocal } from "../src/randomx/reciprocal.ts";
import {
  generateSuperscalar,
  type SuperscalarInstruction,
  type SuperscalarOperation,
} from "../src/randomx/superscalar.ts";
import { createCode, I64, writeModule } from "../src/wasm/module-writer.ts";

// Source of the numbers: tevador/RandomX, src/tests/tests.cpp.

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

let machine: Machine;
before(() => {
  machine = createMachine({ memory: createSharedMemory(0), fixedPart: fixedModule() });
  placeConstants(machine);
});

/** The reference's numbers of operations; those with constants differ by the bytes of code. */
const OPCODES: Readonly<Record<SuperscalarOperation, (size: number) => number>> = {
  subtract: () => 0,
  xor: () => 1,
  addShifted: () => 2,
  multiply: () => 3,
  rotateConstant: () => 4,
  addConstant: (size) => 5 + 2 * (size - 7),
  xorConstant: (size) => 6 + 2 * (size - 7),
  multiplyHigh: () => 11,
  multiplyHighSigned: () => 12,
  multiplyReciprocal: () => 13,
};

function encode({ operation, target, source, mod, constant, size }: SuperscalarInstruction): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.set([OPCODES[operation](size), target, source, mod]);
  bytes.writeUInt32LE(constant, 4);
  return bytes;
}

test("ten SuperscalarHash programs are the published ones", () => {
  const random = createRandom(machine, Buffer.from("test key 000"));
  const hashes = Array.from({ length: 10 }, () => {
    const { instructions } = generateSuperscalar(random);
    return hex(blake2b(Buffer.concat(instructions.map(encode)), { dkLen: 32 }));
  });
  assert.deepEqual(hashes, [
    "d3a4a6623738756f77e6104469102f082eff2a3e60be7ad696285ef7dfc72a61",
    "f5e7e0bbc7e93c609003d6359208688070afb4a77165a552ff7be63b38dfbc86",
    "85ed8b11734de5b3e9836641413a8f36e99e89694f419c8cd25c3f3f16c40c5a",
    "5dd956292cf5d5704ad99e362d70098b2777b2a1730520be52f772ca48cd3bc0",
    "6f14018ca7d519e9b48d91af094c0f2d7e12e93af0228782671a8640092af9e5",
    "134be097c92e2c45a92f23208cacd89e4ce51f1009a0b900dbe83b38de11d791",
    "268f9392c20c6e31371a5131f82bd7713d3910075f2f0468baafaa1abd2f3187",
    "c668a05fd909714ed4a91e8d96d67b17e44329e88bc71e0672b529a3fc16be47",
    "99739351315840963011e4c5d8e90ad0bfed3facdcb713fe8f7138fbf01c4c94",
    "14ab53d61880471f66e80183968d97effd5492b406876060e595fcf9682f9295",
  ]);
});

test("reciprocals are the published ones", () => {
  assert.equal(reciprocal(3), 12297829382473034410n);
  assert.equal(reciprocal(13), 11351842506898185609n);
  assert.equal(reciprocal(33), 17887751829051686415n);
  assert.equal(reciprocal(65537), 18446462603027742720n);
  assert.equal(reciprocal(15000001), 10316166306300415204n);
  assert.equal(reciprocal(3845182035), 10302264209224146340n);
  assert.equal(reciprocal(0xffffffff), 9223372039002259456n);
});

test("AesGenerator1R makes the published state", () => {
  const { bytes, fixed, slot } = machine;
  const { state, scratchpad } = slot;
  bytes.fill(0, state, state + 64);
  bytes.set(Buffer.from("6c19536eb2de31b6c0065f7f116e86f960d8af0c57210a6584c3237b9d064dc7", "hex"), state);
  fixed.fillScratchpad(scratchpad, state, KEYS_FILL);
  const expected = "fa89397dd6ca422513aeadba3f124b5540324c4ad4b6db434394307a17c833ab";
  assert.equal(hex(bytes.slice(scratchpad, scratchpad + 32)), expected);
});

test("BLAKE2b is another implementation's, at every length around its blocks", () => {
  const { bytes, fixed, slot } = machine;
  const { scratchpad, state, work } = slot;
  for (const length of [0, 1, 64, 127, 128, 129, 255, 256, 257, 2176]) {
    const data = Uint8Array.from({ length }, (_, i) => 7 * i);
    bytes.set(data, scratchpad);
    for (const dkLen of [32, 64]) {
      fixed.blake2b(state, dkLen, scratchpad, length, work);
      assert.equal(hex(bytes.slice(state, state + dkLen)), hex(blake2b(data, { dkLen })));
    }
  }
});

type Product = (a: bigint, b: bigint) => bigint;

/** The products as compiled programs compute them in place. */
function inPlace(): Record<string, Product> {
  const functions = [false, true].map((isSigned) => {
    const body = createCode();
    emitHighProduct(body, [0, 1], { isSigned, middle: 2, low: 3 });
    const locals = [[2, I64]] as const;
    return { name: isSigned ? "signed" : "unsigned", parameters: [I64, I64], results: [I64], locals, body };
  });
  const module = new WebAssembly.Module(writeModule({ hasSharedMemory: true, imports: [], functions }));
  const { memory } = machine;
  return new WebAssembly.Instance(module, { env: { memory } }).exports as Record<string, Product>;
}

test("high halves of products, in place and by the fixed functions", () => {
  const { mulHigh, mulHighSigned } = machine.exports as Record<string, Product>;
  const { signed, unsigned } = inPlace();
  const [a, b] = [0xbc550e96ba88a72bn, 0xf5391fa9f18d6273n];
  assert.equal(BigInt.asUintN(64, mulHigh!(a, b)), 0xb4676d31d2b34883n);
  assert.equal(BigInt.asUintN(64, mulHighSigned!(a, b)), 0x02d93ef1269d3ee5n);
  const edges = [0n, 1n, 2n, 0xffffffffn, 0x100000000n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n, a, b];
  for (const x of edges)
    for (const y of edges) {
      const high = BigInt.asIntN(64, (x * y) >> 64n);
      const highSigned = (BigInt.asIntN(64, x) * BigInt.asIntN(64, y)) >> 64n;
      assert.deepEqual([mulHigh!(x, y), unsigned!(x, y)], [high, high]);
      assert.deepEqual([mulHighSigned!(x, y), signed!(x, y)], [highSigned, highSigned]);
    }
});

/** What CryptoNight leaves in its memory, which passwords are hashed in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { cnSlowHash } from "../src/hash/cryptonight.ts";

const { Memory } = WebAssembly;
const created: InstanceType<typeof Memory>[] = [];
Object.assign(WebAssembly, {
  ["Memory"]: class extends Memory {
    constructor(size: ConstructorParameters<typeof Memory>[0]) {
      super(size);
      created.push(this);
    }
  },
});

for (const options of [
  { variant: 0 },
  { variant: 1 },
  { variant: 2 },
  { variant: 4, height: 1_806_260 },
] as const)
  test(`nothing of what was hashed stays in memory, variant ${options.variant}`, () => {
    const left = [1, 2].map((byte) => {
      cnSlowHash(new Uint8Array(64).fill(byte), options);
      return created.map(({ buffer }) => Buffer.from(buffer.slice(0)));
    });
    assert.ok(left[0]!.length > 0);
    for (const [i, memory] of left[0]!.entries()) assert.ok(memory.equals(left[1]![i]!), `memory ${i}`);
  });

import assert from "node:assert/strict";
import { test } from "node:test";
import { toHex, writePortable } from "@anulo/protocol";
import { daemon, serializeCounts } from "../src/index.ts";

const { result } = daemon.outputs.getOutputDistribution;

const perBlock = Uint32Array.from({ length: 10_000 }, (_, i) =>
  i % 7 === 0 ? i * 400_000 : i % 5 === 0 ? i : i % 256,
);

const forms = [
  { binary: false, compress: false, encoding: "decimal" },
  { binary: true, compress: false, encoding: "packed" },
  { binary: true, compress: true, encoding: "compressed" },
] as const;

const bytesOf = (response: Parameters<typeof result.writePortable>[0]) => {
  const { value } = result.writePortable(response) as unknown as {
    value: Parameters<typeof writePortable>[0];
  };
  return toHex(writePortable(value));
};

/** For texts so long that to look for where they differ takes minutes. */
const assertSame = (actual: string, expected: string, what: string) => assert.ok(actual === expected, what);

// Closes the class of responses of the chain's length that are written in one go.
test("a distribution written in slices is the one written from a list of numbers", async () => {
  for (const isCumulative of [false, true]) {
    for (const length of [0, 1, 4096, 4097, perBlock.length]) {
      for (const { binary, compress, encoding } of forms) {
        const counts = perBlock.subarray(0, length);
        const base = 3_000_000_000;
        let sum = base;
        const numbers = Array.from(counts, (count) => {
          sum += count;
          return isCumulative ? sum : count;
        });
        const fields = { amount: 0n, base, binary, compress, start_height: 0 };
        const expected = { distributions: [{ ...fields, distribution: numbers }] };
        const written = async (isPortable: boolean) => {
          const form = { encoding, isPortable };
          const distribution = await serializeCounts({ perBlock: counts, base, isCumulative }, form);
          return { distributions: [{ ...fields, distribution }] };
        };
        const what = `${length} numbers, ${encoding}`;
        for (const dialect of ["contract", "upstream"] as const)
          assertSame(
            result.write(await written(false), dialect, ""),
            result.write(expected, dialect, ""),
            what,
          );
        if (binary) assertSame(bytesOf(await written(true)), bytesOf(expected), what);
      }
    }
  }
});

/** The same wherever a text is cut into pieces. */
const joined = ({ length, form }: Awaited<ReturnType<typeof serializeCounts>>) => ({
  length,
  form: "pieces" in form ? Buffer.concat(form.pieces) : form,
});

test("a distribution written in parts is the one written at once", async () => {
  for (const { encoding } of forms) {
    for (const isPortable of encoding === "decimal" ? [false] : [false, true]) {
      for (const isCumulative of [false, true]) {
        const form = { encoding, isPortable };
        const whole = await serializeCounts({ perBlock, base: 5, isCumulative }, form);
        let before: Awaited<ReturnType<typeof serializeCounts>> | undefined;
        let base = 5;
        let from = 0;
        for (const to of [0, 1, 2, 4999, perBlock.length, perBlock.length]) {
          const part = perBlock.subarray(from, to);
          before = await serializeCounts({ perBlock: part, base, isCumulative }, form, { before });
          base += part.reduce((sum, count) => sum + count, 0);
          from = to;
        }
        assert.deepEqual(joined(before!), joined(whole));
      }
    }
  }
});

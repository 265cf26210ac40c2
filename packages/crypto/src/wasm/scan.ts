import type { Backend, TagMatches } from "../backend.ts";
import { checkLength, countElements, wipe } from "../bytes.ts";
import type { Kernel, Pointer } from "./kernel.ts";
import type { Memory } from "./memory.ts";
import { checkFactors, pairedLength } from "./points.ts";

type ScanFunctions = Pick<
  Backend,
  | "deriveBatch"
  | "matchViewTags"
  | "viewTags"
  | "derivationScalars"
  | "outputSpendKeys"
  | "subaddressSpendKeys"
>;

/** Of a secret that matches an output: two numbers of 32 bits, and the derivation. */
const MATCH_BYTES = 40;

function readMatches(bytes: Uint8Array): TagMatches {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length / MATCH_BYTES;
  const [secrets, outputs] = [new Uint32Array(count), new Uint32Array(count)];
  const derivations = new Uint8Array(32 * count);
  for (let i = 0; i < count; i++) {
    const at = MATCH_BYTES * i;
    secrets[i] = view.getUint32(at, true);
    outputs[i] = view.getUint32(at + 4, true);
    derivations.set(bytes.subarray(at + 8, at + MATCH_BYTES), 32 * i);
  }
  return { secrets, outputs, derivations };
}

/** Whether a number is one of the 2^32 indices of accounts and addresses. */
function isIndex(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= 0xffffffff;
}

/** The wallet's batches. Everything is wiped after each call: derivations are secrets too. */
export function createScanFunctions(kernel: Kernel, memory: Memory): ScanFunctions {
  const wiping = <Result>(compute: () => Result): Result => {
    memory.begin();
    try {
      return compute();
    } finally {
      kernel.wipe();
    }
  };
  const putIndices = (indices: Uint32Array): Pointer =>
    memory.put(new Uint8Array(indices.buffer, indices.byteOffset, indices.byteLength));
  const countPairs = (derivations: Uint8Array, indices: Uint32Array): number => {
    const n = countElements("derivations", derivations);
    if (n !== indices.length) throw new RangeError("as many output indices as derivations expected");
    return n;
  };
  return {
    deriveBatch(secret, publicKeys) {
      checkLength("secret", secret, 32);
      checkFactors(secret);
      const n = countElements("public keys", publicKeys);
      return wiping(() => {
        const [out, valid] = [memory.room(pairedLength(n)), memory.room(n)];
        kernel.deriveBatch(out, valid, memory.put(secret), memory.put(publicKeys), n);
        return { derivations: memory.read(out, 32 * n), valid: memory.read(valid, n) };
      });
    },
    matchViewTags(secrets, { publicKeys, counts, indices, tags }) {
      const m = countElements("secrets", secrets);
      checkFactors(secrets);
      const n = countElements("public keys", publicKeys);
      const outputs = counts.reduce((sum, count) => sum + count, 0);
      if (counts.length !== n || indices.length !== outputs || tags.length !== outputs)
        throw new RangeError("outputs of each key expected");
      return wiping(() => {
        const matches = memory.room(MATCH_BYTES * m * outputs);
        const [own, keys] = [memory.put(secrets), memory.put(publicKeys)];
        const lists = [counts, indices, tags].map(putIndices) as [Pointer, Pointer, Pointer];
        const count = kernel.matchForMany(matches, own, m, keys, n, ...lists);
        const packed = memory.read(matches, MATCH_BYTES * count);
        const result = readMatches(packed);
        wipe(packed);
        return result;
      });
    },
    viewTags(derivations, outputIndices) {
      const n = countPairs(derivations, outputIndices);
      return wiping(() => {
        const out = memory.room(n);
        kernel.viewTags(out, memory.put(derivations), putIndices(outputIndices), n);
        return memory.read(out, n);
      });
    },
    derivationScalars(derivations, outputIndices) {
      const n = countPairs(derivations, outputIndices);
      return wiping(() => {
        const out = memory.room(32 * n);
        kernel.derivationScalars(out, memory.put(derivations), putIndices(outputIndices), n);
        return memory.read(out, 32 * n);
      });
    },
    outputSpendKeys(outputKeys, derivations, outputIndices) {
      const n = countPairs(derivations, outputIndices);
      if (outputKeys.length !== derivations.length)
        throw new RangeError("as many derivations as keys expected");
      return wiping(() => {
        const [out, valid] = [memory.room(pairedLength(n)), memory.room(n)];
        const [keys, shared] = [memory.put(outputKeys), memory.put(derivations)];
        kernel.outputSpendKeys(out, valid, keys, shared, putIndices(outputIndices), n);
        return { points: memory.read(out, 32 * n), valid: memory.read(valid, n) };
      });
    },
    subaddressSpendKeys({ viewSecret, spendPublic, major, fromMinor, count }) {
      checkLength("view secret", viewSecret, 32);
      checkLength("spend public key", spendPublic, 32);
      const indices = count > 0 ? [major, fromMinor, fromMinor + count - 1] : [major, fromMinor];
      if (!indices.every(isIndex)) throw new RangeError("subaddress indices have 32 bits");
      return wiping(() => {
        const out = memory.room(pairedLength(count));
        const [secret, base] = [memory.put(viewSecret), memory.put(spendPublic)];
        if (!kernel.subaddressSpendKeys(out, secret, base, major, fromMinor, count)) return undefined;
        const keys = memory.read(out, 32 * count);
        if (major === 0 && fromMinor === 0 && count > 0) keys.set(spendPublic); // the main address
        return keys;
      });
    },
  };
}

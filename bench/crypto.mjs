/**
 * Crypto beside monerod's own code: `npm run bench -- crypto`.
 *
 * Ours: median of the CPU time of one thread. Theirs: the minimum that `performance_tests` (package monero-tests)
 * reports in the same run, so that a busy machine never flatters us. Without that program only our figures are
 * printed. ANULO_CRYPTO=fallback|reference measures another backend.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { backend } from "../packages/crypto/dist/src/engine.js";
import {
  commit,
  deriveBatch,
  hashToPoint,
  keccak256,
  proveBulletproofPlus,
  publicKeyOf,
  randomScalar,
  scalarMult,
  signClsag,
  verifyBulletproofsPlus,
  verifyClsag,
  viewTagBatch,
} from "../packages/crypto/dist/src/index.js";

const NATIVE = "/usr/lib/monero/tests/bin/performance_tests";
const BATCH = 512;

/** Smallest time in µs of the native tests whose names match, by name. */
function nativeTimes(filter) {
  if (!existsSync(NATIVE)) return {};
  const { stdout } = spawnSync(NATIVE, ["--stats", "--filter", filter], { cwd: tmpdir(), encoding: "utf8" });
  const unit = { ns: 0.001, µs: 1, ms: 1000 };
  const lines = [...stdout.matchAll(/^test_(.+) \(\d+ calls\) - OK:.*\(min (\d+) (ns|µs|ms)/gm)];
  return Object.fromEntries(lines.map(([, name, value, scale]) => [name, Number(value) * unit[scale]]));
}

/** Median CPU time of a call in µs, over ≥ 15 samples of ≥ 20 ms each, after warming up. */
function medianTime(call) {
  const start = process.cpuUsage();
  let warm = 0;
  do {
    call();
    warm += 1;
  } while (elapsed(start) < 200_000);
  const calls = Math.max(1, Math.ceil((20_000 * warm) / elapsed(start)));
  const samples = Array.from({ length: 15 }, () => {
    const before = process.cpuUsage();
    for (let i = 0; i < calls; i++) call();
    return elapsed(before) / calls;
  });
  return samples.sort((a, b) => a - b)[7];
}

function elapsed(since) {
  const { user, system } = process.cpuUsage(since);
  return user + system;
}

function randomKeys(n) {
  return Array.from({ length: n }, () => publicKeyOf(randomScalar()));
}

/** A valid CLSAG over a ring of 16. */
function clsagCase() {
  const [secretKey, secretMask, pseudoMask] = [randomScalar(), randomScalar(), randomScalar()];
  const pseudoOut = commit(pseudoMask, 5n);
  const ring = randomKeys(16).map((key) => ({ key, commitment: commit(randomScalar(), 7n) }));
  ring[3] = {
    key: publicKeyOf(secretKey),
    commitment: commit(backend.scalar.add(secretMask, pseudoMask), 5n),
  };
  const message = randomBytes(32);
  const { proof, keyImage } = signClsag({ message, ring, pseudoOut, secretKey, secretMask, realIndex: 3 });
  return { message, ring, pseudoOut, proof, keyImage };
}

function must(value) {
  if (!value) throw new Error("a valid proof was refused");
}

const viewSecret = randomScalar();
const publicKeys = new Uint8Array(randomKeys(BATCH).flatMap((key) => [...key]));
const indices = new Uint32Array(BATCH);
const clsag = clsagCase();
const proofs = Array.from({ length: 64 }, () =>
  proveBulletproofPlus([1n, 2n ** 63n], [randomScalar(), randomScalar()]),
);
const point = randomKeys(1)[0];
const page = randomBytes(16384);

const batchOf = (count) => `aggregated_bulletproof_plus<true, 2, 1, 1, 0, ${count}>`;
/** The native suite has no batch of 32: it lies on the line between its 4 and its 64. */
const nativeBatchOf32 = (t) => t[batchOf(4)] + ((t[batchOf(64)] - t[batchOf(4)]) * (32 - 4)) / (64 - 4);

/** name, what we do, what it is worth in the native suite, target of the ratio on Node ≥ 22 and before. */
const cases = [
  {
    name: "wallet scan: derivation + view tag, per output",
    run: () => viewTagBatch(deriveBatch({ viewSecret, publicKeys }).derivations, indices),
    per: BATCH,
    filter: "*is_out_to_acc*",
    native: (t) => t.is_out_to_acc - t.is_out_to_acc_precomp, // + derive_view_tag, below its clock's 1 µs
    target: [0.45, 0.5],
  },
  {
    name: "CLSAG verification, ring 16",
    run: () => must(verifyClsag(clsag)),
    filter: "*sig_clsag<16, 2, 2>*",
    native: (t) => t["sig_clsag<16, 2, 2>"] / 2,
    target: [0.45, 0.45],
  },
  {
    name: "Bulletproofs+ verification, 2 outputs",
    run: () => must(verifyBulletproofsPlus(proofs.slice(0, 1))),
    filter: "*bulletproof_plus<true, 2>*",
    native: (t) => t["bulletproof_plus<true, 2>"],
    target: [0.5, 0.5],
  },
  {
    name: "Bulletproofs+ verification, batch of 4 × 2 outputs",
    run: () => must(verifyBulletproofsPlus(proofs.slice(0, 4))),
    filter: `*${batchOf(4)}*`,
    native: (t) => t[batchOf(4)],
    target: [0.5, 0.5],
  },
  {
    name: "Bulletproofs+ verification, batch of 32 × 2 outputs",
    run: () => must(verifyBulletproofsPlus(proofs.slice(0, 32))),
    filter: "*aggregated_bulletproof_plus<true, 2, 1, 1, 0, *",
    native: nativeBatchOf32,
    target: [0.45, 0.45],
  },
  {
    name: "Bulletproofs+ verification, batch of 64 × 2 outputs",
    run: () => must(verifyBulletproofsPlus(proofs)),
    filter: `*${batchOf(64)}*`,
    native: (t) => t[batchOf(64)],
    target: [0.45, 0.45],
  },
  {
    name: "Bulletproofs+ proof, 2 outputs",
    run: () => proveBulletproofPlus([1n, 2n ** 63n], [viewSecret, viewSecret]),
    filter: "*bulletproof_plus<false, 2>*",
    native: (t) => t["bulletproof_plus<false, 2>"],
    target: [0.9, 0.9],
  },
  {
    name: "scalar × point, constant time",
    run: () => scalarMult(viewSecret, point),
    filter: "*crypto_ops<op_scalarmultKey>*",
    native: (t) => t["crypto_ops<op_scalarmultKey>"],
    target: [1, 1],
  },
  {
    name: "scalar × base point, constant time",
    run: () => publicKeyOf(viewSecret),
    filter: "*crypto_ops<op_scalarmultBase>*",
    native: (t) => t["crypto_ops<op_scalarmultBase>"],
    target: [1, 1],
  },
  { name: "hash to point", run: () => hashToPoint(point) },
  {
    name: "keccak-256 of 16 KiB",
    run: () => keccak256(page),
    filter: "*cn_fast_hash<16384>*",
    native: (t) => t["cn_fast_hash<16384>"],
    target: [1.4, 1.4],
  },
];

const isOldEngine = Number(process.versions.v8.split(".")[0]) < 11 || process.versions.v8.startsWith("11.3");
/** A row of the table for each case; without the native program only our figures. */
export function measure() {
  console.log(`backend ${backend.name}, Node ${process.version}`);
  return cases.map(({ name, run, per = 1, filter, native, target }) => ({
    name,
    unit: "µs",
    ours: medianTime(run) / per,
    native: native ? native(nativeTimes(filter)) : Number.NaN,
    atMost: target?.[isOldEngine ? 1 : 0],
  }));
}

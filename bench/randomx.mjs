/**
 * RandomX beside the reference library, hash by hash in turn: `npm run bench -- randomx`. With ANULO_BENCH=full also
 * full mode, whose two datasets take two minutes of CPU time and 4.4 GiB.
 *
 * Medians of the CPU time of a process of its own, which the choice of V8's compilers needs. Without the library only
 * our figures are printed.
 */
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import {
  createRandomXCache,
  createRandomXDataset,
  createRandomXVm,
  loadNativeRandomX,
  useSplitTiering,
} from "../packages/crypto/dist/src/index.js";
import { median } from "./timing.mjs";

const HASHES = 40;

/** CPU time in ms of the whole process while a task runs, its other threads included. */
async function cpuTime(task) {
  const before = process.cpuUsage();
  await task();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Median times of both sides over the same blobs in a version; each goes first every other time. */
async function compareHashes(vm, reference, version = 1) {
  const times = { ours: [], native: [] };
  for (let i = 0; i < HASHES; i++) {
    const blob = randomBytes(76);
    const ours = async () => times.ours.push(await cpuTime(() => vm.hash(blob, version)));
    const native = async () => reference && times.native.push(await cpuTime(() => reference.hash(blob)));
    for (const run of i % 2 ? [ours, native] : [native, ours]) await run();
  }
  return { unit: "ms", ours: median(times.ours), native: median(times.native) };
}

/** Both sides make something of the same kind; both times in ms. */
async function compareMaking(make, makeNative) {
  let [made, reference] = [undefined, undefined];
  const ours = await cpuTime(async () => {
    made = await make();
  });
  const native = await cpuTime(async () => {
    reference = await makeNative?.();
  });
  return { made, reference, row: { unit: "ms", ours, native: makeNative ? native : Number.NaN } };
}

async function measureHere() {
  useSplitTiering();
  const loaded = await loadNativeRandomX();
  const native = "missing" in loaded ? undefined : loaded;
  const key = randomBytes(32);
  const cache = await compareMaking(() => createRandomXCache(key), native && (() => native.createCache(key)));
  const lightVm = createRandomXVm(cache.made);
  const light = await compareHashes(lightVm, cache.reference && native.createVm(cache.reference));
  const rows = [
    { name: "RandomX cache of a key", ...cache.row, atMost: 3 },
    { name: "RandomX light, per hash", ...light, atMost: 1.5 },
    { name: "RandomX 2 light, per hash", ...(await compareHashes(lightVm, undefined, 2)) },
  ];
  if (process.env.ANULO_BENCH !== "full") return rows;
  const dataset = await compareMaking(
    () => createRandomXDataset(cache.made),
    native && (() => native.createDataset(cache.reference, { threads: 2 })),
  );
  const fullVm = createRandomXVm(dataset.made);
  const full = await compareHashes(fullVm, dataset.reference && native.createVm(dataset.reference));
  rows.push({ name: "RandomX dataset of a key", ...dataset.row, atMost: 1.2 });
  rows.push({ name: "RandomX full, per hash", ...full, atMost: 6 });
  rows.push({ name: "RandomX 2 full, per hash", ...(await compareHashes(fullVm, undefined, 2)) });
  return rows;
}

const self = fileURLToPath(import.meta.url);

/** The rows of the table, measured in a process of its own. */
export function measure() {
  const { status, stdout, stderr } = spawnSync(process.execPath, [self], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the measurement failed: ${stderr}`);
  return JSON.parse(stdout).map((row) => ({ ...row, native: row.native ?? Number.NaN }));
}

if (process.argv[1] === self) console.log(JSON.stringify(await measureHere()));

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const engine = JSON.stringify(new URL("../src/engine.js", import.meta.url).href);

/** Runs a script in a process of its own: V8's flags are for all of a process. */
function run(script: string) {
  const args = ["--input-type=module", "--eval", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { stdout, stderr };
}

// V8 writes a complaint about a flag that this version does not know, and goes on.
test("this version of Node.js knows the flags of V8 that are set at the start and once a service is in use", () => {
  const script = `
    import { optimizeInUse, setHeapGrowth, tuneEngine } from ${engine};
    tuneEngine();
    setHeapGrowth("least");
    setHeapGrowth("usual");
    const { onRead } = optimizeInUse();
    for (let i = 0; i < 1000; i++) onRead();
    console.log("set");
  `;
  assert.deepEqual(run(script), { stdout: "set\n", stderr: "" });
});

test("functions are optimised soon from the 300th call on that reads", () => {
  const script = `
    import { syncBuiltinESMExports } from "node:module";
    import v8 from "node:v8";
    let flags = 0;
    v8.setFlagsFromString = () => flags++;
    syncBuiltinESMExports();
    const { optimizeInUse } = await import(${engine});
    const { onRead } = optimizeInUse();
    for (let i = 1; i < 300; i++) onRead();
    const before = flags;
    onRead();
    const then = flags;
    for (let i = 0; i < 1000; i++) onRead();
    console.log(before, then > 0, flags === then);
  `;
  assert.deepEqual(run(script), { stdout: "0 true true\n", stderr: "" });
});

test("functions are optimised soon while a wallet scans many blocks, and late after it unless the service is in use", () => {
  const script = `
    import { syncBuiltinESMExports } from "node:module";
    import v8 from "node:v8";
    const flags = [];
    v8.setFlagsFromString = (flag) => flags.push(flag);
    syncBuiltinESMExports();
    const { optimizeInUse, tuneEngine } = await import(${engine});
    const optimized = (step) => {
      flags.length = 0;
      step();
      return flags.filter((flag) => !flag.includes("space") && !flag.includes("-no-")).join(" ");
    };
    const late = optimized(tuneEngine);
    const { onRead, onLongScan } = optimizeInUse();
    const soon = optimized(() => onLongScan(true));
    const after = optimized(() => onLongScan(false));
    for (let i = 0; i < 300; i++) onRead();
    const inUse = optimized(() => onLongScan(true)) + optimized(() => onLongScan(false));
    console.log(soon !== late, after === late, inUse === "");
  `;
  assert.deepEqual(run(script), { stdout: "true true true\n", stderr: "" });
});

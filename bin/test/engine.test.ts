import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

// V8 writes a complaint about a flag that this version does not know, and goes on.
test("this version of Node.js knows the flags of V8 that are set at the start and once a service is in use", () => {
  const script = `
    import { optimizeInUse, setHeapGrowth, tuneEngine } from ${JSON.stringify(new URL("../src/engine.js", import.meta.url).href)};
    tuneEngine();
    setHeapGrowth("least");
    setHeapGrowth("usual");
    const onRead = optimizeInUse();
    for (let i = 0; i < 1000; i++) onRead();
    console.log("set");
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
  });
  assert.deepEqual({ stdout, stderr }, { stdout: "set\n", stderr: "" });
});

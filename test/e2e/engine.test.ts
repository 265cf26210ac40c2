import assert from "node:assert/strict";
import { test } from "node:test";
import { call, startDaemon, startWallet, until } from "@anulo/testkit";

/** A module that prints the flags of V8 as a program sets them, one a line. */
const recordFlags = `data:text/javascript,${encodeURIComponent(`
  import { syncBuiltinESMExports } from "node:module";
  import v8 from "node:v8";
  v8.setFlagsFromString = (flag) => process.stderr.write("flag " + flag + "\\n");
  syncBuiltinESMExports();
`)}`;
const env = { NODE_OPTIONS: `--import ${recordFlags}` };
const CALLS = 300;

const flagsOf = ({ output }: { output(): string }) =>
  [...output().matchAll(/^flag (.*)$/gm)].map(([, flag]) => flag);

/** The flags that a program set at its start, and those that it has set after so many calls that read. */
async function flagsOfUse(program: { readonly url: string; output(): string }, method: string) {
  const atStart = flagsOf(program);
  for (let i = 0; i < CALLS; i++) await call(program.url, method);
  // What a program prints may arrive after its answer.
  await until(async () => flagsOf(program).length > atStart.length, 60_000);
  return { atStart, inUse: flagsOf(program).slice(atStart.length) };
}

test("a node and a wallet service have functions optimised late, and soon once they are in use", async () => {
  const daemon = await startDaemon({ kind: "ours" }, { env });
  const wallet = await startWallet({ kind: "ours" }, { daemonPort: daemon.port, env });
  try {
    for (const [program, method] of [
      [daemon, "get_block_count"],
      [wallet, "get_version"],
    ] as const) {
      const { atStart, inUse } = await flagsOfUse(program, method);
      const nameOf = (flag = "") => flag.split("=")[0];
      const set = new Set(inUse.map(nameOf));
      assert.ok(set.size > 0, `${method}: ${inUse}`);
      for (const name of set)
        assert.ok(
          atStart.some((flag) => nameOf(flag) === name),
          name,
        );
    }
  } finally {
    await wallet.stop();
    await daemon.stop();
  }
});

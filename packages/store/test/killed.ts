import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Engine, openWalletStore } from "../src/index.ts";
import {
  generations,
  keysOfGeneration,
  ROWS,
  secrets,
  tables,
  WALLETS,
  wrappingKey,
} from "./forever-tables.ts";
import { bytes, collect, text, walletId } from "./harness.ts";

/** A process that applies changes to the engine at `where`, and the last generation of each wallet it has told of. */
export interface Writer {
  readonly told: readonly number[];
  /** Resolves once it has told of so many more changes. */
  tells(count: number): Promise<void>;
  kill(): Promise<void>;
}

export function startWriter(where: string, folder: string): Writer {
  const program = fileURLToPath(new URL("./apply-forever.js", import.meta.url));
  const child = spawn(process.execPath, [program, where, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const told = Array.from({ length: WALLETS }, () => 0);
  const lines = createInterface({ input: child.stdout });
  const exited = once(child, "exit");
  let count = 0;
  let awaited: { count: number; resolve: () => void } | undefined;
  lines.on("line", (line) => {
    const [number, generation] = line.split(" ").map(Number);
    told[number!] = generation!;
    if (++count >= (awaited?.count ?? Number.POSITIVE_INFINITY)) awaited?.resolve();
  });
  return {
    told,
    async tells(more) {
      const reached = new Promise<void>((resolve) => {
        awaited = { count: count + more, resolve };
      });
      const ended = exited.then(([code]) => assert.fail(`the writer ended by itself with ${code}`));
      await Promise.race([reached, ended]);
    },
    async kill() {
      const drained = once(lines, "close");
      child.kill("SIGKILL");
      await exited;
      await drained;
    },
  };
}

/** Checks that each wallet has all that was told, whole changes only; `told` grows to what it has. */
export async function checkWritten(engine: Engine, folder: string, told: number[]): Promise<void> {
  for (let number = 0; number < WALLETS; number++) {
    const opened = await openWalletStore({ engine, wallet: walletId(number), tables, wrappingKey, folder });
    // Killed between taking a wallet and noting that, it has told of no change of it yet.
    assert.ok(
      opened.kind === "continued" || (opened.kind !== "rolledBack" && told[number] === 0),
      opened.kind,
    );
    const { store } = opened;
    const last = text(await store.read(secrets, bytes("last")));
    const generation = Number(last ?? 0);
    assert.ok(
      generation === told[number] || generation === told[number]! + 1,
      `${generation}, told ${told[number]}`,
    );
    const rows = await collect(store.range(generations));
    assert.equal(rows.length, generation === 0 ? 0 : ROWS);
    assert.ok(rows.every(({ value }) => text(value) === last));
    const { now, before } = keysOfGeneration(generation);
    assert.equal(text(await store.read(secrets, now)), last);
    assert.equal(await store.read(secrets, before), undefined);
    assert.equal((await collect(store.range(secrets))).length, generation === 0 ? 0 : 2);
    told[number] = generation;
    await store.close();
  }
}

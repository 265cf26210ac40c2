/** A process that changes wallets until it is killed, and says what it has been told is applied. */
import { openWalletStore } from "../src/index.ts";
import {
  generations,
  keysOfGeneration,
  ROWS,
  secrets,
  tables,
  WALLETS,
  wrappingKey,
} from "./forever-tables.ts";
import { bytes, walletId } from "./harness.ts";
import { openEngine } from "./open-engine.ts";

const [where = "", folder = ""] = process.argv.slice(2);
const engine = await openEngine(where);

async function applyForever(number: number): Promise<void> {
  const opened = await openWalletStore({ engine, wallet: walletId(number), tables, wrappingKey, folder });
  if (opened.kind === "rolledBack") throw new Error("the store has lost what was witnessed");
  const { store } = opened;
  const last = await store.read(secrets, bytes("last"));
  for (let generation = last === undefined ? 1 : Number(Buffer.from(last)) + 1; ; generation++) {
    const value = bytes(`${generation}`);
    const rows = Array.from({ length: ROWS }, (_, i) => ({
      table: generations,
      key: bytes(`row ${i}`),
      value,
    }));
    const { now, before } = keysOfGeneration(generation);
    await store.apply({
      puts: [...rows, { table: secrets, key: bytes("last"), value }, { table: secrets, key: now, value }],
      deletes: [{ table: secrets, key: before }],
    });
    process.stdout.write(`${number} ${generation}\n`);
  }
}

await Promise.all(Array.from({ length: WALLETS }, (_, number) => applyForever(number)));

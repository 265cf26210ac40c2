/** A process that appends to an event log until it is killed, and says which changes it has been told are durable. */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { openLmdbEngine } from "@anulo/store";
import { openEventLog } from "../src/index.ts";
import { key, source } from "./harness.ts";

const SOURCES = 3;
const MAX_EVENTS = 4;
const LARGE = 5_000;

const [folder = ""] = process.argv.slice(2);
const engine = openLmdbEngine(join(folder, "engine", "events.mdb"));
const log = await openEventLog({ engine, folder: join(folder, "beside"), key, leaseMs: 400 });

/** As many events as the number of the change says, so that a source that begins again tells the same. */
const eventsOf = (change: number) =>
  Array.from({ length: change % 50 === 7 ? LARGE : change % MAX_EVENTS }, (_, i) => ({
    type: "x",
    change,
    i,
  }));

async function appendForever(number: number): Promise<void> {
  const cursor = (await log.cursorOf(source(number))) ?? 0;
  // One that is told already is told again now and then.
  for (let change = Math.max(1, cursor - randomInt(3)); ; change++) {
    await log.append({ source: source(number), wallet: `w${number}`, change, events: eventsOf(change) });
    process.stdout.write(`${number} ${change}\n`);
  }
}

await Promise.all(Array.from({ length: SOURCES }, (_, number) => appendForever(number)));

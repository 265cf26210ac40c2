/** A process that is a member of a fleet, with both clocks in the test's hand. */
import { type Logger, silent } from "@anulo/rpc";
import { Membership } from "../src/fleet/membership.ts";
import { Database } from "./fleet-database.ts";

/** A process with a clock of its own. */
class Process {
  nowMs = 0;
  ended = 0;
  /** What its log says above the level of details. */
  readonly lines: (readonly [string, Readonly<Record<string, unknown>>?])[] = [];
  readonly membership: Membership;

  constructor(database: Database) {
    const note = (...line: (typeof this.lines)[number]) => void this.lines.push(line);
    const log: Logger = { ...silent, error: note, warn: note, info: note, in: () => log };
    this.membership = new Membership({
      leases: database.open(),
      address: "here:1",
      settings: "",
      log,
      elapsed: () => this.nowMs,
      onEnded: () => {
        this.ended += 1;
      },
    });
  }
}

export async function pass(ms: number, database: Database, ...processes: readonly Process[]): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    database.nowMs += 1000;
    for (const process of processes) {
      process.nowMs += 1000;
      await process.membership.tick();
    }
  }
}

export function start() {
  const database = new Database();
  const [a, b] = [new Process(database), new Process(database)];
  return { database, a, b };
}

/** A process that appends to an event log and sends it to a webhook until it is killed. */
import { join } from "node:path";
import { openLmdbEngine } from "@anulo/store";
import { openEventLog, openWebhooks } from "../src/index.ts";
import { addEvents, key } from "./harness.ts";

const EVENTS_PER_RUN = 100;

const [folder = "", url = ""] = process.argv.slice(2);
const engine = openLmdbEngine(join(folder, "engine", "events.mdb"));
const log = await openEventLog({ engine, folder: join(folder, "beside"), key, leaseMs: 400 });
const hooks = await openWebhooks({ log, allowsPrivate: true });
if (hooks.list().length === 0) await hooks.add({ url, after: 0 });
for (let added = 0; added < EVENTS_PER_RUN; added++) await addEvents(log, 1);

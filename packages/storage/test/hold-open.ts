import { openStore } from "../src/open-store.ts";

/** Has a database open until killed, and writes nothing. */
await openStore({ path: process.argv[2]!, network: "regtest" });
process.stdout.write("open\n");
setInterval(() => {}, 1_000_000);

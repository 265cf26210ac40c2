import { openStore } from "../src/open-store.ts";

/** Opens a database of an earlier schema and kills itself after the given number of commits of the migration. */
const [, , path, commits] = process.argv;
let seen = 0;
const onMigration = () => {
  seen += 1;
  if (seen > Number(commits)) process.kill(process.pid, "SIGKILL");
};
// The first commit only marks the file, so that the count starts at the one after it.
const store = await openStore({ path: path!, network: "regtest", onMigration });
await store.close();

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openWebhooks } from "../src/index.ts";
import { lmdbPlace, openLog, until } from "./harness.ts";
import { startReceiver } from "./receiver.ts";

const KILLS = 4;
/** Events that a service delivers before it waits for its progress to be durable, and the one that is under way. */
const MAX_REPEATED = 65;

test("killed at any moment it sends every event, in order; what is sent again has the same id", async () => {
  const place = lmdbPlace();
  const root = place.folder.slice(0, place.folder.lastIndexOf("/"));
  const receiver = await startReceiver();
  const program = fileURLToPath(new URL("./send-forever.js", import.meta.url));
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const before = receiver.received.length;
      const child = spawn(process.execPath, [program, root, receiver.url], { stdio: "inherit" });
      const exited = once(child, "exit");
      await until(() => receiver.received.length >= before + 1 + 23 * kill);
      child.kill("SIGKILL");
      assert.deepEqual(await exited, [null, "SIGKILL"]);
    }
    const log = await openLog(place);
    const hooks = await openWebhooks({ log, allowsPrivate: true });
    assert.equal(hooks.list().length, 1);
    await until(() => hooks.list()[0]?.sequence === log.last);
    await hooks.close();
    const ids = receiver.received.map(({ id }) => id);
    const distinct = [...new Set(ids)];
    assert.deepEqual(
      distinct,
      Array.from({ length: log.last }, (_, i) => `${log.id}_${i + 1}`),
    );
    assert.ok(ids.length - distinct.length <= KILLS * MAX_REPEATED, "something was sent again without need");
    await log.close();
  } finally {
    await receiver.stop();
    await place.stop();
  }
});

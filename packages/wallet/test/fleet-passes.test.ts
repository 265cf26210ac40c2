import assert from "node:assert/strict";
import { test } from "node:test";
import { Passes } from "@anulo/rpc";
import { Router } from "../src/fleet/router.ts";

const LONG_MS = 60_000;

test("numbers of the members' passes are not forgotten, those of former members may be", (t) => {
  const passes = new Passes(new Uint8Array(32));
  const useMembers = t.mock.method(passes, "useMembers");
  const address = "127.0.0.1:1";
  const member = (process: string) => ({ process, address, owned: 0, silentMs: 0 });
  let members = [member("a"), member("b")];
  const router = new Router({
    membership: () => ({
      ...{ process: "a", address, members, owned: 0, isSure: true },
      isHere: () => false,
      isHandingOver: () => false,
    }),
    leases: { ownerOf: async () => undefined },
    passes,
    restricted: false,
    elapsed: () => 0,
    aliveMs: LONG_MS,
  });
  t.after(() => router.close());
  router.update();
  members = [member("a"), member("c")];
  router.update();
  assert.deepEqual(
    useMembers.mock.calls.map(({ arguments: [ids] }) => [...ids]),
    [
      ["a", "b"],
      ["a", "c"],
    ],
  );
});

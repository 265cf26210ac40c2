import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openSiege, siegeAttacks } from "@anulo/testkit";

const linuxOnly = { skip: process.platform === "linux" ? false : "needs /proc" } as const;
let siege: Awaited<ReturnType<typeof openSiege>>;

before(async () => {
  if (!linuxOnly.skip) siege = await openSiege({ isShort: true, isTimed: false });
});
after(() => siege?.close());

for (const attack of siegeAttacks) {
  // Each closes the class of attacks it names.
  test(`${attack.name}: ${attack.does}`, linuxOnly, async (t) => {
    const report = await siege.run(attack);
    t.diagnostic(`${attack.stands}: ${JSON.stringify(report.figures?.attackers ?? report.remark ?? "")}`);
    assert.deepEqual(report.failures, []);
  });
}

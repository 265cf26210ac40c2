import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultLimits } from "../src/index.ts";
import { type Admission, CallerShare } from "../src/server/caller-share.ts";
import { divideLimits } from "../src/server/limits.ts";

const MiB = 2 ** 20;
const call = { requestBytes: MiB, memoryBytes: MiB, rows: 10, responseBytes: 8 * MiB };

// Closes: limits of an address that a stranger with IPv6 passes by, who has more of them than there are of IPv4.
test("64 bits of IPv6 count as one address, however many of them are used", async () => {
  const limits = { heldBytes: 32 * MiB, heldBytesPerAddress: 16 * MiB, requestsPerAddress: 2 };
  const { strangers } = divideLimits({ ...defaultLimits, ...limits });
  const share = new CallerShare({ ...strangers, ...limits }, { isForStrangers: true });
  const callers = [1, 2, 3].map((i) => share.open(`2001:db8:1:2::${i}`));
  const admissions = callers.slice(0, 2).map((caller) => share.admit(caller, call) as Admission);
  const waiting = share.admit(callers[2]!, call);
  assert.ok(waiting instanceof Promise);
  assert.ok((await share.admit(share.open("2001:db8:1:3::1"), call)) !== undefined);
  admissions[0]!.hold.release();
  assert.ok((await waiting) !== undefined);
  assert.deepEqual(
    callers.map((caller) => share.begin(caller)),
    [true, true, false],
  );
});

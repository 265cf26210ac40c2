import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { MaybePromise } from "@anulo/limits";
import { writePortable } from "@anulo/protocol";
import fc from "fast-check";
import {
  type Call,
  daemonMethods,
  defaultLimits,
  type Implemented,
  silent,
  walletMethods,
} from "../src/index.ts";
import { answerBinaryPath } from "../src/server/binary-path.ts";
import { CallerShare } from "../src/server/caller-share.ts";
import { answerJsonRpc } from "../src/server/json-rpc.ts";
import { answerPlainPath } from "../src/server/plain-path.ts";
import { RequestBudget } from "../src/server/request-budget.ts";

/** Every handler answers the zero value of its result, so that what is tested is reading and writing. */
const bind = (calls: readonly Call[]): Implemented<object>[] =>
  calls.map((call) => ({ call, handler: () => call.result.absent() as never }));

const all = bind([...Object.values(daemonMethods), ...Object.values(walletMethods)]);
const methods = new Map(
  all.filter(({ call }) => call.transport === "jsonRpc").map((one) => [one.call.name, one]),
);
const paths = all.filter(({ call }) => call.transport === "json");
const binaries = all.filter(({ call }) => call.transport === "binary");
const errors: unknown[] = [];
const log = {
  ...silent,
  error: (_event: string, fields?: Readonly<Record<string, unknown>>) => errors.push(fields),
};
const rules = { context: () => ({}), log };
const share = new CallerShare(defaultLimits, { isForStrangers: false });
const caller = share.open("");
const calls = { byName: methods, memoryBytes: 2 ** 27, limits: defaultLimits };

const dialect = fc.constantFrom("contract" as const, "upstream" as const);
const fieldNames = [
  ...new Set(all.flatMap(({ call }) => Object.keys((call.params.describe().properties as object) ?? {}))),
];
const value = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.bigInt(-(2n ** 65n), 2n ** 65n).map(String),
  fc.constantFrom(null, [], "", "1", -1, 1.5, true, {}, [1, "a"], [[1]], [{}]),
);
const record = fc
  .dictionary(fc.constantFrom(...fieldNames), value, { maxKeys: 8 })
  .map((v) => JSON.stringify(v));
const body = fc.oneof(
  fc.string(),
  fc.json(),
  record,
  record.map((text) => text.slice(0, -1)),
);

async function holds(run: () => Promise<{ status: number }>): Promise<void> {
  errors.length = 0;
  const { status } = await run();
  assert.ok(status === 200 || status === 400, `HTTP ${status}`);
  assert.deepEqual(errors, []);
}

describe("any request", () => {
  type Request = Parameters<typeof answerJsonRpc>[2];
  /** Answers a request that has all to itself, and takes nothing once it is answered. */
  async function within<T>(
    of: Request["dialect"],
    answer: (request: Request) => MaybePromise<T>,
  ): Promise<T> {
    const budget = new RequestBudget(caller, 0);
    const request = {
      ...{ dialect: of, restricted: false, mayAct: true, remoteAddress: "", id: "1", name: undefined },
      ...{ caller, budget },
    };
    const result = await answer(request);
    budget.end();
    caller.request.resize(0);
    assert.equal(share.heldBytes, 0);
    return result;
  }

  it("of a method is answered without an exception", async () => {
    const named = fc
      .tuple(fc.constantFrom(...methods.keys()), record, fc.json())
      .map(([method, params, id]) => `{"method":"${method}","id":${id},"params":${params}}`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(body, named), dialect, (text, d) =>
        holds(() => within(d, (request) => answerJsonRpc(calls, Buffer.from(text), request, rules))),
      ),
      { numRuns: 1000 },
    );
  });

  it("of a plain path is answered without an exception", async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), body, dialect, (found, text, d) =>
        holds(() => within(d, (request) => answerPlainPath(found, Buffer.from(text), request, rules))),
      ),
      { numRuns: 1000 },
    );
  });

  it("of a binary path is answered without an exception", async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.constantFrom(...binaries).chain(({ call }) => {
        const entry = call.params.writePortable(call.params.absent()) as {
          value: Parameters<typeof writePortable>[0];
        };
        const whole = writePortable(entry.value);
        return fc
          .tuple(fc.nat(whole.length - 1), fc.nat(255))
          .map(([at, byte]) => whole.map((old, i) => (i === at ? byte : old)));
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...binaries), bytes, (found, given) =>
        holds(() => within("contract", (request) => answerBinaryPath(found, given, request, rules))),
      ),
      { numRuns: 1000 },
    );
  });
});

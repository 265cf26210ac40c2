import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import fc from "fast-check";
import { textOfBytes, textSteps } from "../src/body-text.ts";
import {
  BadJson,
  createRpcServer,
  daemon,
  defaultLimits,
  implementFor,
  list,
  method,
  object,
  parseJson,
  type RequestInfo,
  text,
  uint32,
  wallet,
  zero,
} from "../src/index.ts";
import { jsonSteps } from "../src/json-parser.ts";
import { BadParams } from "../src/server/call.ts";
import { CallerShare } from "../src/server/caller-share.ts";
import { parseBody, readLongParams } from "../src/server/long-request.ts";
import { CallerLeft, RequestBudget } from "../src/server/request-budget.ts";

const STEP_BYTES = 256 * 1024;

/** The result of all steps, and how many there were. */
function runAll<T>(steps: Generator<void, T>): { value: T; pauses: number } {
  for (let pauses = 0; ; pauses++) {
    const step = steps.next();
    if (step.done === true) return { value: step.value, pauses };
  }
}

describe("a long body", () => {
  it("becomes the same text in steps, whatever lies where they meet", () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc.string({ unit: "binary", maxLength: 3 }).map((text) => Buffer.from(text)),
      fc.constantFrom("c3", "e282", "f09f98", "80808080", "f09f9880").map((hex) => Buffer.from(hex, "hex")),
    );
    const filler = Buffer.alloc(STEP_BYTES - 4, "x");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const bytes = Buffer.concat([filler, ...pieces, Buffer.from("ü")]);
        assert.equal(runAll(textSteps(bytes)).value, textOfBytes(bytes));
      }),
      { numRuns: 60 },
    );
    assert.equal(runAll(textSteps(Buffer.alloc(4 * STEP_BYTES))).pauses, 4);
  });

  it("is parsed with pauses wherever its values are, and into the same", () => {
    const items = Array.from({ length: 500 }, (_, i) => `{"a":${i},"b":"\\n${i}"}`).join();
    for (const text of [
      `{"a":[${items}]}`,
      `{"a":{"b":{"c":[${items}]}},"d":[1]}`,
      `{"a":[{"b":[${items}]},{"b":[${items}]}]}`,
      `{${Array.from({ length: 500 }, (_, i) => `"name ${i}":[${i}]`).join()}}`,
    ]) {
      const counts: number[] = [];
      const { value, pauses } = runAll(jsonSteps(text, 5000, (values) => void counts.push(values)));
      assert.deepEqual(value.object, parseJson(text));
      assert.ok(pauses > text.length / 2048, `${pauses} pauses`);
      assert.equal(counts.length, pauses);
      assert.deepEqual(
        [...counts].sort((a, b) => a - b),
        counts,
      );
      assert.ok(counts.at(-1)! > 0.9 * value.values);
    }
  });

  it("has no text, number or space that takes long in one step", () => {
    const most = 2 ** 20;
    const textOf = (letters: string) => `{"a":"${letters}"}`;
    assert.ok(parseJson(textOf(`\\n${"x".repeat(most - 10)}`)));
    for (const letters of [`\\n${"x".repeat(most)}`, "\\n".repeat(most)])
      assert.throws(() => parseJson(textOf(letters)), {
        name: "BadJson",
        message: "text with escapes too long",
      });
    assert.equal((parseJson(textOf("x".repeat(2 * most))).a as string).length, 2 * most);
    assert.ok(parseJson(`{"a":${" ".repeat(most)}1}`));
    assert.throws(() => parseJson(`{"a":${" ".repeat(most + 1)}1}`), { message: "too many spaces" });
    assert.ok(parseJson(`{"a":${"0".repeat(2 ** 16 - 1)}}`));
    assert.throws(() => parseJson(`{"a":${"0".repeat(2 ** 16)}}`), { message: "number too long" });
    assert.throws(() => parseJson(`{"a":${"t".repeat(most)}}`), BadJson);
  });
});

/** A request with a body of this size on a port whose requests may hold `heldBytes`. */
function openRequest(bodyBytes: number, heldBytes: number = 2 ** 30, rowsRead = () => 0) {
  const limits = { ...defaultLimits, heldBytes };
  const share = new CallerShare(limits, { isForStrangers: false, rowsRead });
  const caller = share.open("192.0.2.1");
  const request = { caller, budget: new RequestBudget(caller, bodyBytes) } as unknown as RequestInfo;
  return { share, caller, request, body: new Uint8Array(bodyBytes) };
}

const still = new Int32Array(new SharedArrayBuffer(4));

/** Steps of which each is longer than a slice. */
function* longSteps(count: number, onStep: (step: number) => void): Generator<void, string> {
  for (let step = 1; step <= count; step++) {
    Atomics.wait(still, 0, 0, 5);
    onStep(step);
    yield;
  }
  return "done";
}

describe("a text with escapes", () => {
  it("is what the standard makes of it, however long the pieces between them are", () => {
    const pieces = ["", "x", "y".repeat(32), "z".repeat(33), "é".repeat(5000), "\\u00e9\\ud83d\\ude00"];
    const escaped = pieces.flatMap((piece) => [piece, "\\n", piece, '\\"']).join("");
    for (const text of [escaped, escaped.repeat(20), "\\t".repeat(10_000), `${"\\r".repeat(4095)}w`])
      assert.equal(parseJson(`{"a":"${text}"}`).a, JSON.parse(`"${text}"`));
  });
});

describe("parsing a body", () => {
  it("lets others go first in each pause where it is long", async () => {
    const { request, body } = openRequest(100_000);
    let turns = 0;
    const seen: number[] = [];
    const look = () => {
      turns++;
      if (seen.length < 4) setImmediate(look);
    };
    setImmediate(look);
    const parsed = parseBody(body, request, () => longSteps(4, () => void seen.push(turns)));
    assert.ok(parsed instanceof Promise);
    assert.equal(await parsed, "done");
    assert.deepEqual([...new Set(seen)], seen);
  });

  it("is done at once where it is short", () => {
    const { request, body } = openRequest(1000);
    assert.equal(
      parseBody(body, request, () => longSteps(2, () => {})),
      "done",
    );
  });

  it("reserves the memory of its values as they come", async () => {
    const { caller, share, request, body } = openRequest(100_000, 2 ** 20);
    const held: number[] = [];
    const parse = (onValues: (values: number) => void) =>
      longSteps(4, (step) => {
        held.push(share.heldBytes);
        onValues(5000 * step);
      });
    await assert.rejects(async () => await parseBody(body, request, parse), {
      name: "OverBudget",
      of: "port",
    });
    // The body, its text and its values; half of what all requests may hold is for responses.
    assert.deepEqual(held, [200_000, 200_000 + 64 * 5000]);
    caller.leave();
    assert.equal(share.heldBytes, 0);
  });

  it("is not held against the rows that the call before read", async () => {
    let rows = 0;
    const { caller, request, body } = openRequest(100_000, 2 ** 30, () => rows);
    caller.rows.begin(10);
    rows += 11;
    assert.throws(() => caller.rows.pause(), { name: "OverBudget", of: "rows" });
    assert.equal(await parseBody(body, request, () => longSteps(2, () => {})), "done");
  });

  it("ends when its caller leaves", async () => {
    const { caller, request, body } = openRequest(100_000);
    let last = 0;
    const parsed = parseBody(body, request, () =>
      longSteps(10, (step) => {
        last = step;
        if (step === 2) caller.leave();
      }),
    );
    await assert.rejects(async () => await parsed, CallerLeft);
    assert.equal(last, 2);
  });
});

describe("params", () => {
  const length = 2000;
  /** A number of which every five-hundredth takes longer than a slice. */
  let reads = 0;
  const slow = {
    ...uint32,
    read(...args: Parameters<typeof uint32.read>) {
      reads++;
      const value = uint32.read(...args);
      if (value % 500 === 0) Atomics.wait(still, 0, 0, 5);
      return value;
    },
  };
  const call = method({
    name: "sum",
    summary: "",
    params: object({
      values: list(slow),
      others: list(uint32),
      records: list(object({ value: uint32 })),
      name: zero(text),
    }),
    result: object({}),
  });
  const values = Array.from({ length }, (_, i) => i);

  it("with long lists are read with pauses", async () => {
    const { request } = openRequest(10);
    const read = readLongParams(call, { values, others: [1, 2], name: "x" }, request);
    assert.ok(read instanceof Promise);
    assert.deepEqual(await read, { values, others: [1, 2], records: [], name: "x" });
    assert.equal(reads, length);
    await assert.rejects(
      async () => await readLongParams(call, { values: [...values, "x"] }, request),
      BadParams,
    );
  });

  it("count as left out where a long list has no records, and records are declared", async () => {
    const { request } = openRequest(10);
    const read = await readLongParams(call, { records: values, name: "x" }, request);
    assert.deepEqual(read, { values: [], others: [], records: [], name: "x" });
    const records = values.map((value) => ({ value }));
    assert.deepEqual(await readLongParams(call, { records, name: "x" }, request), {
      values: [],
      others: [],
      records,
      name: "x",
    });
  });

  it("with short lists are read at once", () => {
    const { request } = openRequest(10);
    const short = values.slice(0, 1024);
    assert.deepEqual(readLongParams(call, { values: short }, request), {
      values: short,
      others: [],
      records: [],
      name: "",
    });
  });
});

/** A service that keeps what its handlers receive. */
async function start(t: TestContext) {
  const received: unknown[] = [];
  const keep = (params: unknown) => void received.push(params);
  const calls = [
    ...implementFor<RequestInfo>()(
      { getOuts: daemon.outputs.getOuts },
      {
        getOuts: (params) => {
          keep(params);
          return { outs: [] };
        },
      },
    ),
    ...implementFor<RequestInfo>()(
      { importKeyImages: wallet.coldSigning.importKeyImages, getHeight: daemon.blocks.getBlockCount },
      {
        importKeyImages: (params) => {
          keep(params);
          return { height: 1, spent: 0n, unspent: 0n };
        },
        getHeight: () => ({ count: 7 }),
      },
    ),
  ];
  const server = await createRpcServer({
    calls,
    listen: [{ host: "127.0.0.1", port: 0 }],
    context: (request) => request,
    dialect: "contract",
    limits: { requestBytes: 2 ** 24 },
  });
  t.after(() => server.stop());
  const post = async (path: string, body: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(`${server.urls[0]}${path}`, { method: "POST", body: text });
    return { status: response.status, text: await response.text() };
  };
  return { received, post };
}

const outputs = (count: number) => Array.from({ length: count }, (_, index) => ({ amount: 0, index }));
const images = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ key_image: i.toString(16).padStart(64, "0"), signature: "" }));

describe("a long request", () => {
  it("reaches its handler whole, on plain paths, in messages and in batches", async (t) => {
    const { received, post } = await start(t);
    for (const count of [10, 5000]) {
      assert.equal((await post("/get_outs", { outputs: outputs(count), get_txid: true })).status, 200);
      const [params] = received.splice(0) as [{ outputs: unknown[]; get_txid: boolean }];
      assert.equal(params.get_txid, true);
      assert.deepEqual(
        params.outputs,
        outputs(count).map(({ index }) => ({ amount: 0n, index: BigInt(index) })),
      );
      const message = {
        id: 1,
        method: "import_key_images",
        params: { offset: 3, signed_key_images: images(count) },
      };
      for (const body of [message, [message, { id: 2, method: "get_block_count" }]]) {
        const { text } = await post("/json_rpc", body);
        assert.match(text, Array.isArray(body) ? /"count": 7/ : /"unspent": 0/);
        assert.deepEqual(received.splice(0), [{ offset: 3, signed_key_images: images(count) }]);
      }
    }
  });

  it("is refused as a short one is", async (t) => {
    const { received, post } = await start(t);
    for (const count of [10, 5000]) {
      const bad = [...outputs(count), { amount: 0, index: "x" }];
      assert.equal((await post("/get_outs", { outputs: bad })).status, 400);
      assert.equal(
        (await post("/get_outs", `${JSON.stringify({ outputs: outputs(count) }).slice(0, -2)},5]}`)).status,
        400,
      );
      const signed_key_images = [...images(count), { key_image: 5, signature: [] }];
      const { text } = await post("/json_rpc", {
        id: 1,
        method: "import_key_images",
        params: { signed_key_images },
      });
      assert.match(text, /"code": -32602/);
      const open = JSON.stringify({
        id: 1,
        method: "import_key_images",
        params: { signed_key_images },
      }).slice(0, -4);
      assert.match((await post("/json_rpc", open)).text, /"code": -32700/);
    }
    assert.deepEqual(received, []);
  });
});

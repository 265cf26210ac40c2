import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createDigestClient } from "../src/client/digest-client.ts";
import {
  BadRequest,
  createRpcServer,
  daemon,
  HttpError,
  implementFor,
  implementResourcesFor,
  openRpcDocument,
  queryNumber,
  queryText,
  RpcError,
  type RpcServerOptions,
  resource,
} from "../src/index.ts";
import { readQuery } from "../src/server/query-string.ts";
import { exchange, type RawAnswer } from "./raw-http.ts";

const query = {
  after: queryNumber({ absent: 0 }),
  limit: queryNumber({ min: 1, max: 1000 }),
  type: queryText({ longest: 8, pattern: /^[a-z_é€ ]+$/ }),
};

const declared = {
  events: resource({ path: "/events", query, summary: "Events." }),
  long: resource({
    path: "/long",
    query: { bytes: queryNumber({ absent: 0 }) },
    summary: "Text as long as one asks for.",
    cost: { requestBytes: 10, memoryBytes: 1000, rows: 1, responseBytes: 1000 },
  }),
  owned: resource({ path: "/owned", access: "unrestricted", summary: "For the owner." }),
  refusing: resource({ path: "/refusing", query: { how: queryText({ longest: 10 }) }, summary: "Refuses." }),
  needing: resource({ path: "/needing", needs: ["openWallet"], summary: "Wants an open wallet." }),
};

type Context = { readonly name: string | undefined };
type Options = Partial<RpcServerOptions<Context>>;

async function start(t: TestContext, options: Options = {}) {
  const seen: unknown[] = [];
  const resources = implementResourcesFor<Context>()(declared, {
    events: ({ name }, asked, { accept, lastEventId }) => {
      seen.push({ name, asked, accept, lastEventId });
      return { json: { amount: 18_446_744_073_709_551_615n, after: asked.after } };
    },
    long: (_, { bytes }) => ({ text: "x".repeat(bytes), type: "text/plain; version=0.0.4" }),
    owned: async () => ({ status: 503, json: { ready: false } }),
    refusing: (_, { how }) => {
      if (how === "rpc") throw new RpcError(-7, "not now");
      if (how === "http") throw new HttpError(410, { code: -8, message: "gone", data: { oldest: 5 } });
      throw new Error("secret");
    },
    needing: () => ({ json: null }),
  });
  const released: Context[] = [];
  const server = await createRpcServer<Context>({
    calls: implementFor<Context>()(
      { getHeight: daemon.blocks.getHeight },
      { getHeight: () => ({ hash: "", height: 7 }) },
    ),
    resources,
    prefix: "/wallets",
    listen: [
      { host: "127.0.0.1", port: 0 },
      { host: "127.0.0.1", port: 0, restricted: true },
    ],
    context: ({ name }) => ({ name }),
    release: (context) => void released.push(context),
    isMet: () => false,
    ...options,
  });
  t.after(() => server.stop(0));
  const [open, restricted] = server.urls as [string, string];
  return { open, restricted, seen, released };
}

/** Sends the target exactly as it is written. */
function get(
  url: string,
  target: string,
  headers: readonly string[] = [],
  method = "GET",
): Promise<RawAnswer> {
  const lines = [`Host: ${new URL(url).host}`, ...headers].map((line) => `${line}\r\n`).join("");
  const bytes = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, "latin1");
  return exchange(url, bytes, { head: method === "HEAD" });
}

const textOf = ({ body }: RawAnswer): string => body.toString();
const jsonOf = (answer: RawAnswer) =>
  JSON.parse(textOf(answer)) as { error: { code: number; message: string } };

describe("a query", () => {
  it("gives declared values, decoded once, and what is absent where they are not given", () => {
    assert.deepEqual(readQuery("", query), { after: 0, limit: undefined, type: undefined });
    const text = "type=a%20%E2%82%AC&after=9007199254740991&limit=1000";
    assert.deepEqual(readQuery(text, query), { after: 2 ** 53 - 1, limit: 1000, type: "a €" });
    assert.deepEqual(readQuery("%61fter=7", query), { after: 7, limit: undefined, type: undefined });
    const anyText = { text: queryText({ longest: 100 }) };
    assert.deepEqual(readQuery("text=a=b?c/d%2526%26", anyText), { text: "a=b?c/d%26&" });
    assert.deepEqual(readQuery("", {}), {});
  });

  it("refuses everything else, naming what it is about", () => {
    const refused: [string, RegExp][] = [
      ["after=1&after=1", /^after: given twice/],
      ["after=1&%61fter=1", /^after: given twice/],
      ["other=1", /^other: not a parameter/],
      ["__proto__=1", /^__proto__: not a parameter/],
      ["constructor=1", /^constructor: not a parameter/],
      ["=1", /^: not a parameter/],
      [`${"n".repeat(3000)}=1`, /^n{32}…: not a parameter/],
      ["after", /name=value/],
      ["&", /name=value/],
      ["after=1&", /name=value/],
      ["&after=1", /name=value/],
      ["after=%", /^after: not UTF-8/],
      ["after=%zz", /^after: not UTF-8/],
      ["type=%ff", /^type: not UTF-8/],
      ["type=%c0%af", /^type: not UTF-8/],
      ["%ff=1", /not UTF-8/],
      ["type=a+b", /percent-encoded/],
      ["type=a b", /percent-encoded/],
      ["type=\u00e9", /percent-encoded/],
      ["type=a#b", /percent-encoded/],
      [`type=${"a".repeat(4096)}`, /longer than 4096/],
      ...[
        "",
        "-1",
        "+1",
        "1e3",
        "0x10",
        "01",
        "1.0",
        "%201",
        "1%00",
        "NaN",
        "9007199254740992",
        "9".repeat(400),
      ].map((text): [string, RegExp] => [
        `after=${text}`,
        text === "+1" ? /percent/ : /^after: not a number from 0/,
      ]),
      ["limit=0", /^limit: not a number from 1 to 1000/],
      ["limit=1001", /^limit: not a number from 1 to 1000/],
      ["type=", /^type: not 1 to 8 characters/],
      ["type=aaaaaaaaa", /^type: not 1 to 8 characters/],
      ["type=a%0a", /^type: does not match/],
    ];
    for (const [text, message] of refused) {
      assert.throws(
        () => readQuery(text, query),
        (error) => {
          assert.ok(error instanceof BadRequest, text);
          assert.match([...error.path, error.message].join(": "), message, text);
          return true;
        },
      );
    }
  });
});

describe("a resource", () => {
  it("is answered to GET as exact JSON that nobody stores, for the service and for what a path names", async (t) => {
    const { open, seen, released } = await start(t);
    const headers = ["Accept: application/json", "Last-Event-ID: abc_5"];
    const answer = await get(open, "/events?after=3&type=a", headers);
    assert.equal(answer.http, 200);
    assert.equal(answer.headers.get("Content-Type"), "application/json");
    assert.equal(answer.headers.get("Cache-Control"), "no-store");
    assert.match(textOf(answer), /^\{\s*"amount": 18446744073709551615,\s*"after": 3\s*\}$/);
    assert.equal((await get(open, "/wallets/a%20b/events?")).http, 200);
    assert.deepEqual(seen, [
      {
        name: undefined,
        asked: { after: 3, limit: undefined, type: "a" },
        accept: "application/json",
        lastEventId: "abc_5",
      },
      {
        name: "a b",
        asked: { after: 0, limit: undefined, type: undefined },
        accept: undefined,
        lastEventId: undefined,
      },
    ]);
    assert.deepEqual(released, [{ name: undefined }, { name: "a b" }]);
    const head = await get(open, "/events", [], "HEAD");
    assert.deepEqual([head.http, textOf(head)], [200, ""]);
    assert.ok(Number(head.headers.get("Content-Length")) > 0);
  });

  it("may be text, or say that something is not ready", async (t) => {
    const { open } = await start(t);
    const text = await get(open, "/long?bytes=3");
    assert.deepEqual([text.http, textOf(text)], [200, "xxx"]);
    assert.equal(text.headers.get("Content-Type"), "text/plain; version=0.0.4");
    const notReady = await get(open, "/owned");
    assert.deepEqual([notReady.http, jsonOf(notReady)], [503, { ready: false }]);
  });

  it("refuses a bad query with 400, before anything runs", async (t) => {
    const { open, seen } = await start(t);
    const answer = await get(open, "/events?limit=0");
    assert.equal(answer.http, 400);
    assert.equal(answer.headers.get("Content-Type"), "application/json");
    const { error } = jsonOf(answer);
    assert.deepEqual(error, { code: -32602, message: "limit: not a number from 1 to 1000" });
    assert.equal((await get(open, "/owned?x=1")).http, 400);
    assert.deepEqual(seen, []);
  });

  it("is unknown at any other path, which is answered as before", async (t) => {
    const { open, restricted, seen } = await start(t);
    for (const path of [
      ...["/event", "/events/", "//events", "/events%3Fafter=1", "/%65vents", "/get_height?x=1"],
      ...[
        "/wallets/a",
        "/wallets//events",
        "/wallets/%ff/events",
        "/wallets/a?/events",
        "/wallets/a?x=/events",
      ],
    ]) {
      const answer = await get(open, path);
      assert.deepEqual([answer.http, textOf(answer)], [404, ""], path);
    }
    assert.equal((await get(restricted, "/owned")).http, 404);
    assert.equal((await get(restricted, "/events")).http, 200);
    assert.match(textOf(await get(open, "/get_height")), /"height": 7/);
    assert.equal(seen.length, 1);
  });

  it("answers no other method, and says which it does", async (t) => {
    const { open, seen } = await start(t);
    for (const method of ["POST", "PUT", "DELETE"]) {
      const answer = await get(open, "/events", [], method);
      assert.equal(answer.http, 405);
      assert.equal(answer.headers.get("Allow"), "GET, HEAD");
      assert.equal(jsonOf(answer).error.code, -32600);
    }
    assert.deepEqual(seen, []);
  });

  it("tells why it is refused, and nothing of what fails inside", async (t) => {
    const { open, released } = await start(t);
    const rpc = await get(open, "/refusing?how=rpc");
    assert.deepEqual([rpc.http, jsonOf(rpc)], [400, { error: { code: -7, message: "not now" } }]);
    const http = await get(open, "/refusing?how=http");
    assert.deepEqual(
      [http.http, jsonOf(http)],
      [410, { error: { code: -8, message: "gone", data: { oldest: 5 } } }],
    );
    const bug = await get(open, "/refusing");
    assert.deepEqual([bug.http, jsonOf(bug)], [500, { error: { code: -32603, message: "Internal error" } }]);
    const need = await get(open, "/needing");
    assert.deepEqual([need.http, jsonOf(need)], [400, { error: { code: -13, message: "No wallet file" } }]);
    assert.equal(released.length, 4);
  });

  it("costs no more than it is declared to", async (t) => {
    const { open } = await start(t);
    assert.equal((await get(open, "/long?bytes=1000")).http, 200);
    const tooLong = await get(open, "/long?bytes=1001");
    assert.deepEqual([tooLong.http, textOf(tooLong)], [500, ""]);
    assert.equal((await get(open, "/long", ["Content-Length: 11"])).http, 413);
  });

  it("wants the login that calls want, for the whole target", async (t) => {
    const login = { user: "user", password: "secret" };
    const { open, seen } = await start(t, { login });
    const asked = await get(open, "/events?after=1");
    assert.equal(asked.http, 401);
    const client = createDigestClient(login);
    assert.ok(client.accept(asked.headers.get("WWW-authenticate")!.split(" || ")));
    const authorization = `Authorization: ${client.authorization("GET", "/events?after=1")}`;
    assert.equal((await get(open, "/events?after=2", [authorization])).http, 401);
    assert.deepEqual(seen, []);
    const right = `Authorization: ${client.authorization("GET", "/events?after=1")}`;
    assert.equal((await get(open, "/events?after=1", [right])).http, 200);
  });

  it("is not for web pages but those that were allowed", async (t) => {
    const { open, seen } = await start(t, { origins: ["https://allowed.example"] });
    const foreign = [
      ["Origin: https://evil.example"],
      ["Sec-Fetch-Site: cross-site"],
      ["Sec-Fetch-Site: same-site"],
    ];
    for (const headers of foreign) assert.equal((await get(open, "/events", headers)).http, 403);
    const rebound = Buffer.from("GET /events HTTP/1.1\r\nHost: evil.example.com\r\n\r\n");
    assert.equal((await exchange(open, rebound)).http, 403);
    assert.deepEqual(seen, []);
    const allowed = await get(open, "/events", [
      "Origin: https://allowed.example",
      "Sec-Fetch-Site: cross-site",
    ]);
    assert.equal(allowed.http, 200);
    assert.equal(allowed.headers.get("Access-Control-Allow-Origin"), "https://allowed.example");
  });

  it("is told of by the OpenRPC document, and declared once", async (t) => {
    const document = openRpcDocument([], { title: "t", version: "1" }, { resources: [declared.events] });
    assert.deepEqual(document["x-resources"], [
      {
        path: "/events",
        summary: "Events.",
        query: [
          { name: "after", schema: { type: "integer", minimum: 0, maximum: 2 ** 53 - 1 } },
          { name: "limit", schema: { type: "integer", minimum: 1, maximum: 1000 } },
          { name: "type", schema: { type: "string", minLength: 1, maxLength: 8, pattern: "^[a-z_é€ ]+$" } },
        ],
      },
    ]);
    const height = resource({ path: "/get_height", summary: "Twice." });
    const resources = implementResourcesFor<Context>()({ height }, { height: () => ({ json: 1 }) });
    await assert.rejects(start(t, { resources }), /declared twice: \/get_height/);
    await assert.rejects(start(t, { resources: [...resources, ...resources] }), /declared twice/);
  });
});

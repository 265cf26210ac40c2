import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { createDigestClient } from "../src/client/digest-client.ts";
import { createDigestAuth, digestResponse } from "../src/digest-auth.ts";
import { createRpcServer, daemon, implementFor, type RpcServer } from "../src/index.ts";
import { goldenSteps, type Step } from "./golden.ts";
import { exchange, requestBytes } from "./raw-http.ts";

const login = { user: "user", password: "secret" };

function session(now?: () => number) {
  const auth = createDigestAuth(login, now);
  const check = (authorization: string | undefined, url = "/json_rpc") =>
    auth.check({ method: "POST", url, authorization });
  return { auth, check };
}

describe("digest authentication", () => {
  for (const [index, algorithm] of ["MD5", "MD5-sess"].entries()) {
    it(`accepts ${algorithm} and each counter value once`, () => {
      const { auth, check } = session();
      const client = createDigestClient(login);
      assert.ok(client.accept([auth.challenge(false)[index]!]));
      const headers = Array.from({ length: 5 }, () => client.authorization("POST", "/json_rpc")!);
      assert.match(headers[0]!, new RegExp(`algorithm=${algorithm}$`));
      for (const at of [2, 0, 4, 1, 3]) assert.equal(check(headers[at]), "ok", `use ${at}`);
      for (const header of headers) assert.equal(check(header), "stale");
    });
  }

  /** Uses a nonce with the counter values given, in order, and reports the verdicts. */
  function verdictsOf(counts: readonly number[]): string[] {
    const { auth, check } = session();
    const client = createDigestClient(login);
    client.accept(auth.challenge(false));
    const headers = new Map<number, string>();
    for (let count = 1; count <= Math.max(...counts); count++)
      headers.set(count, client.authorization("POST", "/json_rpc")!);
    return counts.map((count) => check(headers.get(count)));
  }

  it("remembers each of the last 64 counter values, and takes none older", () => {
    // Closes: a login that was listened to is sent again.
    const all = Array.from({ length: 200 }, (_, i) => i + 1);
    assert.deepEqual(verdictsOf([...all, ...all]), [...all.map(() => "ok"), ...all.map(() => "stale")]);
    // 63 behind the highest is the last that is still remembered.
    assert.deepEqual(verdictsOf([100, 37, 37, 36]), ["ok", "ok", "stale", "stale"]);
    assert.deepEqual(verdictsOf([64, 1, 1]), ["ok", "ok", "stale"]);
    assert.deepEqual(verdictsOf([65, 1, 2]), ["ok", "stale", "ok"]);
    // A jump of any width forgets what falls out of the window, and nothing in it.
    for (const ahead of [1, 62, 63, 64, 65, 127, 128, 129]) {
      const next = 10 + ahead;
      assert.deepEqual(verdictsOf([10, next, 10, next]), ["ok", "ok", "stale", "stale"], `${ahead}`);
      assert.deepEqual(verdictsOf([10, next, 9]), ["ok", "ok", ahead + 1 < 64 ? "ok" : "stale"], `${ahead}`);
    }
  });

  it("never takes a counter of 0, which no client begins with", () => {
    const { auth, check } = session();
    const nonce = /nonce="([^"]+)"/.exec(auth.challenge(false)[0])![1]!;
    const headerOf = (nc: string) => {
      const fields = { nonce, uri: "/json_rpc", qop: "auth", nc, cnonce: "c", algorithm: "MD5" };
      const response = digestResponse(fields, { login, method: "POST" });
      return (
        `Digest username="user",realm="monero-rpc",nonce="${nonce}",uri="/json_rpc",qop=auth,nc=${nc},` +
        `cnonce="c",response="${response}",algorithm=MD5`
      );
    };
    assert.equal(check(headerOf("00000000")), "stale");
    assert.equal(check(headerOf("00000001")), "ok");
    assert.equal(check(headerOf("ffffffff")), "ok");
    assert.equal(check(headerOf("ffffffff")), "stale");
  });

  it("takes no login again that it has forgotten among thousands of others", () => {
    // Closes: a login that was listened to is sent again, after others have pushed its nonce out.
    let time = 1_000_000;
    const { auth, check } = session(() => time);
    const headers = Array.from({ length: 4097 }, () => {
      const client = createDigestClient(login);
      client.accept(auth.challenge(false));
      time++;
      return client.authorization("POST", "/json_rpc")!;
    });
    for (const header of headers) assert.equal(check(header), "ok");
    for (const header of headers) assert.equal(check(header), "stale");
  });

  it("takes new logins after the clock was set back, though it has forgotten some", (t) => {
    t.mock.timers.enable({ apis: ["Date"], now: 1_700_000_000_000 });
    const { auth, check } = session();
    const logIn = () => {
      const client = createDigestClient(login);
      client.accept(auth.challenge(false));
      return check(client.authorization("POST", "/json_rpc"));
    };
    for (let i = 0; i < 4097; i++) logIn();
    t.mock.timers.reset();
    t.mock.timers.enable({ apis: ["Date"], now: 1_600_000_000_000 });
    const begin = performance.now();
    while (performance.now() - begin < 2);
    assert.equal(logIn(), "ok");
  });

  it("accepts a client without a nonce of its own, and one that does not count", () => {
    const { auth, check } = session();
    const md5 = (text: string) => createHash("md5").update(text).digest("hex");
    const secret = md5("user:monero-rpc:secret");
    const target = md5("POST:/json_rpc");
    const headerOf = (nonce: string, middle: string, rest: string) =>
      `Digest algorithm=MD5,nonce="${nonce}",realm="monero-rpc",` +
      `response="${md5(`${secret}:${nonce}:${middle}${target}`)}",uri="/json_rpc",username="user"${rest}`;
    const freshNonce = () => /nonce="([^"]+)"/.exec(auth.challenge(false)[0])![1]!;
    const counted = freshNonce();
    for (const nc of ["00000001", "00000002"])
      assert.equal(check(headerOf(counted, `${nc}::auth:`, `,qop=auth,nc=${nc}`)), "ok");
    assert.equal(check(headerOf(counted, "00000003::auth:", ",qop=auth")), "refused");
    const uncounted = headerOf(freshNonce(), "", "");
    assert.equal(check(uncounted), "ok");
    assert.equal(check(uncounted), "stale");
  });

  it("accepts a client that names the whole address, of this path alone", () => {
    const { auth, check } = session();
    const client = createDigestClient(login);
    client.accept(auth.challenge(false));
    assert.equal(check(client.authorization("POST", "http://127.0.0.1:18083/json_rpc")), "ok");
    assert.equal(check(client.authorization("POST", "http://127.0.0.1:18083/other")), "refused");
  });

  it("refuses another method, address, password, user or no credentials", () => {
    const { auth, check } = session();
    const client = createDigestClient(login);
    client.accept(auth.challenge(false));
    const header = client.authorization("POST", "/json_rpc")!;
    assert.equal(check(header, "/other"), "refused");
    assert.equal(auth.check({ method: "GET", url: "/json_rpc", authorization: header }), "refused");
    assert.equal(check(header.replace('username="user"', 'username="resu"')), "refused");
    assert.equal(check(header.replace(/response="./, 'response="g')), "refused");
    assert.equal(check(undefined), "refused");
    assert.equal(check("Basic dXNlcjpzZWNyZXQ="), "refused");
    assert.equal(check("Digest "), "refused");
    assert.equal(check(`${header}, nonce="x"`), "refused");
    assert.equal(check(header), "ok");
  });

  it("calls a nonce of another server or an old one stale", () => {
    let time = 1_000_000;
    const { auth, check } = session(() => time);
    const client = createDigestClient(login);
    client.accept(session(() => time).auth.challenge(false));
    assert.equal(check(client.authorization("POST", "/json_rpc")), "stale");
    client.accept(auth.challenge(true));
    assert.equal(check(client.authorization("POST", "/json_rpc")), "ok");
    time += 10 * 60 * 1000;
    assert.equal(check(client.authorization("POST", "/json_rpc")), "ok", "to the last millisecond");
    time += 1;
    assert.equal(check(client.authorization("POST", "/json_rpc")), "stale");
  });
});

describe("recorded login of the node", () => {
  let server: RpcServer;
  before(async () => {
    const { blocks, network } = daemon;
    const implement = implementFor<object>();
    server = await createRpcServer({
      calls: [
        ...implement({ getBlockCount: blocks.getBlockCount }, { getBlockCount: () => ({ count: 1 }) }),
        ...implement(
          { getLimit: network.getLimit },
          { getLimit: () => ({ limit_down: 8192, limit_up: 2048 }) },
        ),
      ],
      listen: [{ host: "127.0.0.1", port: 0 }],
      dialect: "upstream",
      login,
      context: () => ({}),
    });
  });
  after(() => server.stop());

  const challengesOf = (header: string) => header.split(" || ");

  async function send(step: Step, authorization?: string) {
    const { http = "POST", path = "", headers = {}, text = "" } = step.request;
    const all = { ...headers, ...(authorization && { Authorization: authorization }) };
    return await exchange(
      server.urls[0]!,
      requestBytes({ method: http, path, headers: all, body: Buffer.from(text) }),
    );
  }

  for (const step of goldenSteps("node_login")) {
    it(`answers ${step.id}`, async () => {
      const credentials = step.request.login;
      let answer = await send(step);
      if (credentials !== undefined) {
        const client = createDigestClient({ user: credentials[0], password: credentials[1] });
        const challenges = challengesOf(answer.headers.get("WWW-authenticate")!);
        client.accept([challenges[step.request.challenge ?? 0]!]);
        answer = await send(step, client.authorization("POST", step.request.path!));
      }
      if (step.request.new_connection) {
        assert.equal(answer.http, 200, "a nonce is good on any connection");
        return;
      }
      assert.equal(answer.http, step.answer.http);
      assert.equal(answer.reason, step.answer.reason);
      const pattern = (value = "") => value.replace(/nonce="[^"]*"/g, 'nonce=""');
      const name = "WWW-authenticate";
      assert.equal(pattern(answer.headers.get(name)), pattern(step.answer.headers?.[name]));
      if (step.answer.http === 401) assert.equal(answer.body.toString(), step.answer.text);
    });
  }
});

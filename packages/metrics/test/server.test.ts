import assert from "node:assert/strict";
import { request } from "node:http";
import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { type TestContext, test } from "node:test";
import { type MetricsServerOptions, type MetricTable, startMetricsServer } from "../src/index.ts";

interface Source {
  height: number;
  rejected: Map<string, number>;
  listeners: ((seconds: number) => void)[];
}

const metrics: MetricTable<Source> = {
  height: { type: "gauge", help: "Height.", read: ({ height }) => (height < 0 ? undefined : height) },
  rejected_total: {
    type: "counter",
    help: "Rejected.",
    labels: ["reason"],
    read: ({ rejected, height }) =>
      height < 0 ? undefined : Array.from(rejected, ([reason, value]) => ({ labels: { reason }, value })),
  },
  call_seconds: {
    type: "histogram",
    help: "Calls.",
    labels: ["call"],
    buckets: [1, 2],
    follow: ({ listeners }, observe) => listeners.push((seconds) => observe(seconds, { call: "x" })),
  },
};

async function start(t: TestContext, options: Partial<MetricsServerOptions<Source>> = {}) {
  const source: Source = { height: 7, rejected: new Map(), listeners: [] };
  const server = await startMetricsServer({
    host: "127.0.0.1",
    port: 0,
    metrics,
    source,
    checks: {},
    readiness: { freshMs: 0 },
    ...options,
  });
  t.after(server.stop);
  const ask = (path: string, { method = "GET", headers = {} } = {}) =>
    new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
      const asked = request(`${server.url}${path}`, { method, headers, agent: false }, (response) => {
        let body = "";
        response.on("data", (bytes: Buffer) => {
          body += bytes;
        });
        response.on("end", () => resolve({ status: response.statusCode, body }));
      });
      asked.on("error", reject);
      asked.end();
    });
  const values = async () => {
    const { body } = await ask("/metrics");
    const lines = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    return new Map(lines.map((line) => line.split(/ (?=[^ ]*$)/) as [string, string]));
  };
  return { source, ask, values, url: server.url };
}

test("every collection reads the values as they are then", async (t) => {
  const { source, values } = await start(t);
  assert.equal((await values()).get("height"), "7");
  source.height = 9;
  source.rejected.set("BAD", 2);
  for (const listener of source.listeners) listener(1.5);
  const later = await values();
  assert.equal(later.get("height"), "9");
  assert.equal(later.get('rejected_total{reason="BAD"}'), "2");
  assert.equal(later.get('call_seconds_bucket{le="1",call="x"}'), "0");
  assert.equal(later.get('call_seconds_bucket{le="2",call="x"}'), "1");
  source.rejected.set("BAD", 3);
  assert.equal((await values()).get('rejected_total{reason="BAD"}'), "3");
  source.height = -1;
  const last = await values();
  assert.equal(last.has('rejected_total{reason="BAD"}'), false);
  assert.equal(last.has("height"), false, "a gauge without a value reports none");
});

test("readiness is what the checks say when they are asked", async (t) => {
  let reason: string | undefined;
  const { ask, values } = await start(t, { checks: { store: () => reason, disk: async () => undefined } });
  assert.deepEqual(await ask("/readyz"), {
    status: 200,
    body: '{"status":"ready","checks":{"store":"ok","disk":"ok"}}\n',
  });
  reason = "away";
  const { status, body } = await ask("/readyz");
  assert.deepEqual([status, JSON.parse(body).checks], [503, { store: "away", disk: "ok" }]);
  const { values: metricValues } = { values: await values() };
  assert.equal(metricValues.get('anulo_ready{check="store"}'), "0");
  assert.equal(metricValues.get('anulo_ready{check="disk"}'), "1");
});

test("a check that throws or does not answer in time has failed", async (t) => {
  const checks = {
    throws: () => {
      throw new Error("broken");
    },
    hangs: () => new Promise<undefined>(() => {}),
  };
  const { ask } = await start(t, { checks, readiness: { timeoutMs: 5 } });
  const { status, body } = await ask("/readyz");
  assert.equal(status, 503);
  assert.deepEqual(JSON.parse(body).checks, { throws: "broken", hangs: "no answer within 5 ms" });
});

test("many questions in a moment run the checks once", async (t) => {
  let runs = 0;
  let now = 0;
  const checks = {
    count: () => {
      runs++;
      return undefined;
    },
  };
  const { ask } = await start(t, { checks, readiness: { freshMs: 1000, now: () => now } });
  await Promise.all([ask("/readyz"), ask("/readyz")]);
  now = 999;
  await ask("/readyz");
  assert.equal(runs, 1);
  now = 1000;
  await ask("/readyz");
  assert.equal(runs, 2);
});

test("health is lost with a fault that ends the service", async (t) => {
  let fault: string | undefined;
  const { ask } = await start(t, { fault: () => fault });
  assert.equal((await ask("/healthz")).status, 200);
  fault = "the disk failed";
  assert.deepEqual(await ask("/healthz"), { status: 503, body: '{"status":"the disk failed"}\n' });
});

test("web pages and names that are made to mean this machine are refused", async (t) => {
  const { ask } = await start(t);
  const statusFor = async (headers: Record<string, string>) => (await ask("/metrics", { headers })).status;
  assert.equal(await statusFor({ host: "rebound.example:80" }), 403);
  assert.equal(await statusFor({ origin: "http://page.example" }), 403);
  assert.equal(await statusFor({ "sec-fetch-site": "cross-site" }), 403);
  assert.equal(await statusFor({ host: "localhost:80" }), 200);
  assert.equal(await statusFor({ "sec-fetch-site": "none" }), 200);
});

test("only GET and HEAD are answered, and only the three paths", async (t) => {
  const { ask } = await start(t);
  assert.equal((await ask("/metrics", { method: "POST" })).status, 405);
  assert.equal((await ask("/")).status, 404);
  assert.deepEqual(await ask("/healthz", { method: "HEAD" }), { status: 200, body: "" });
});

test("readers that send and read nothing more do not keep others out", async (t) => {
  const long = "x".repeat(1_000_000);
  const { ask, url } = await start(t, { fault: () => long, slowMs: 50 });
  const { hostname, port } = new URL(url);
  const requests = "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".repeat(64);
  for (let i = 0; i < 32; i++) {
    const socket = connect(Number(port), hostname).pause();
    t.after(() => socket.destroy());
    socket.on("error", () => {});
    socket.write(requests);
  }
  const isAnswered = () =>
    ask("/").then(
      ({ status }) => status === 404,
      () => false,
    );
  let tries = 0;
  while (!(await isAnswered())) {
    assert.ok(++tries < 400, "never answered");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
});

test("one address has a part of the connections", async (t) => {
  const { url } = await start(t, { slowMs: 600_000 });
  const { hostname, port } = new URL(url);
  const outcomes = await Promise.all(
    Array.from({ length: 9 }, () => {
      const socket = connect(Number(port), hostname);
      t.after(() => socket.destroy());
      socket.write("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
      return new Promise<string>((resolve) => {
        socket.on("data", () => resolve("answered"));
        socket.on("error", () => {}).on("close", () => resolve("closed"));
      });
    }),
  );
  assert.equal(outcomes.filter((outcome) => outcome === "closed").length, 1);
});

test("metrics are collected once for many questions in a moment", async (t) => {
  let now = 0;
  const { source, values } = await start(t, { readiness: { freshMs: 1000, now: () => now } });
  assert.equal((await values()).get("height"), "7");
  source.height = 9;
  now = 999;
  assert.equal((await values()).get("height"), "7");
  now = 1000;
  assert.equal((await values()).get("height"), "9");
});

test("a check that hangs is not begun again by the next question", async (t) => {
  let begun = 0;
  const hangs = () => {
    begun++;
    return new Promise<undefined>(() => {});
  };
  const { ask } = await start(t, { checks: { hangs }, readiness: { freshMs: 0, timeoutMs: 5 } });
  for (let i = 0; i < 3; i++) assert.equal((await ask("/readyz")).status, 503);
  assert.equal(begun, 1);
});

const outside = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal, family }) => !internal && family === "IPv4")?.address;

test("on other addresses, too, no name is answered that a page could have chosen", {
  skip: outside === undefined && "this machine has no address of a network",
}, async (t) => {
  const { ask } = await start(t, { host: outside! });
  const statusFor = async (host: string) => (await ask("/metrics", { headers: { host } })).status;
  for (const host of ["rebound.example.org:80", "evil.org", "a.local.evil.org"])
    assert.equal(await statusFor(host), 403, host);
  for (const host of [outside!, "localhost:1", "anulo:9180", "node.lan", "a.internal:1"])
    assert.equal(await statusFor(host), 200, host);
});

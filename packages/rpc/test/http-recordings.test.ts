import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  createRpcServer,
  daemon,
  type Implemented,
  implementFor,
  type RpcServer,
  wallet,
} from "../src/index.ts";
import { exactJson, goldenSteps, type Step, unmark } from "./golden.ts";
import { exchange, requestBytes } from "./raw-http.ts";

/** Requests whose framing is broken: the original guesses, we close the connection. */
const deliberate = new Set(["http:negative length", "http:LF line ends", "http:method 5", "http:method {}"]);

const implement = implementFor<object>();
const { blocks, network } = daemon;

const nodeCalls: Implemented<object>[] = [
  ...implement({ getBlockCount: blocks.getBlockCount }, { getBlockCount: () => ({ count: 1 }) }),
  ...implement({ getLimit: network.getLimit }, { getLimit: () => ({ limit_down: 32_768, limit_up: 8192 }) }),
];

function languagesOf(steps: readonly Step[]) {
  const { result } = steps[0]!.answer.json as { result: { languages: string[]; languages_local: string[] } };
  return implement({ getLanguages: wallet.files.getLanguages }, { getLanguages: () => result });
}

function sent(step: Step): { bytes: Buffer; head: boolean; halfClose: boolean } {
  const { http = "POST", path = "", headers = {}, text = "", hex, half_close } = step.request;
  const body = hex === undefined ? Buffer.from(text, "utf8") : Buffer.from(hex, "hex");
  const bytes = http === "RAW" ? body : requestBytes({ method: http, path, headers, body });
  return { bytes, head: http === "HEAD", halfClose: half_close === true };
}

async function replay(url: string, step: Step): Promise<void> {
  const { bytes, ...options } = sent(step);
  const answer = await exchange(url, bytes, options);
  const { http, reason, headers = {}, json } = step.answer;
  assert.equal(answer.http, http);
  if (http === 0) return;
  assert.equal(answer.reason, reason);
  for (const [name, value] of Object.entries(headers)) {
    if (name === "Last-Modified") assert.match(answer.headers.get(name) ?? "", /^\w{3}, .* GMT$/);
    else assert.equal(answer.headers.get(name), value, name);
  }
  assert.deepEqual([...answer.headers.keys()].sort(), Object.keys(headers).sort());
  if (json !== undefined) assert.deepEqual(exactJson(answer.body.toString("latin1")), latin(json));
}

/** What a JSON value looks like when its UTF-8 bytes are read one by one, as raw bytes are recorded. */
function latin(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? `\0${member}` : member));
  if (text.includes("\u00ff\u00fe")) return value;
  return JSON.parse(Buffer.from(text, "utf8").toString("latin1"), unmark);
}

for (const group of ["node_http", "wallet_http"]) {
  describe(`recorded requests of ${group}`, () => {
    const steps = goldenSteps(group);
    let server: RpcServer;
    before(async () => {
      server = await createRpcServer({
        calls: group === "node_http" ? nodeCalls : languagesOf(steps),
        listen: [{ host: "127.0.0.1", port: 0 }],
        dialect: "upstream",
        limits: { requestBytes: group === "node_http" ? 2 ** 20 : 2 ** 26 },
        context: () => ({}),
      });
    });
    after(() => server.stop());

    for (const step of steps) {
      if (deliberate.has(step.id) || step.request.body_bytes !== undefined) continue;
      it(`answers ${step.id} as recorded`, () => replay(server.urls[0]!, step));
    }

    it("answers a method that is no text with -32600", async () => {
      const body = Buffer.from('{"id":"0","method":5}');
      const bytes = requestBytes({ method: "POST", path: "/json_rpc", headers: {}, body });
      const answer = await exchange(server.urls[0]!, bytes);
      assert.equal(JSON.parse(answer.body.toString()).error.code, -32600);
    });

    it("reads 900 kB and refuses what is above the limit", async () => {
      const big = (length: number) => {
        const body = Buffer.from(`{"id":"0","method":"x","params":{"x":"${"x".repeat(length)}"}}`);
        return requestBytes({ method: "POST", path: "/json_rpc", headers: {}, body });
      };
      const answer = await exchange(server.urls[0]!, big(900_000));
      assert.equal(JSON.parse(answer.body.toString()).error.code, -32601);
      const refused = await exchange(server.urls[0]!, big(3_000_000));
      assert.equal(refused.http, group === "node_http" ? 0 : 200);
    });
  });
}

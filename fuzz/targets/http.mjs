import assert from "node:assert/strict";
import { Duplex } from "node:stream";
import { parseAnswer } from "../../packages/rpc/dist/src/client/answer-json.js";
import { BadNameAnswer, readTextAnswer } from "../../packages/rpc/dist/src/client/dns/text-message.js";
import { createDigestAuth, digestResponse } from "../../packages/rpc/dist/src/digest-auth.js";
import { BadJson, formatJson } from "../../packages/rpc/dist/src/json.js";
import { parseJson } from "../../packages/rpc/dist/src/json-parser.js";
import { CallerShare } from "../../packages/rpc/dist/src/server/caller-share.js";
import { BadFraming, createBodyReader } from "../../packages/rpc/dist/src/server/http/body-reader.js";
import { HttpConnection } from "../../packages/rpc/dist/src/server/http/connection.js";
import { parseRequestHead } from "../../packages/rpc/dist/src/server/http/request-head.js";
import { ResponseBatch } from "../../packages/rpc/dist/src/server/http/response-batch.js";
import { defaultLimits } from "../../packages/rpc/dist/src/server/limits.js";
import { debianCorpus, text } from "../corpus.mjs";

const jsonTexts = [
  '{"jsonrpc":"2.0","id":"0","method":"get_block","params":{"height":18446744073709551615,"x":[1,2],"y":1.5e3}}',
  '{"a":"\\u00fc\\n\\"","b":{"c":[{"d":true},{"d":null}]},"e":-5}',
];
const heads = [
  "POST /json_rpc HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 10",
  "GET /get_info HTTP/1.0\r\nConnection: keep-alive, close\r\nOrigin: http://a.b",
  "POST /x.bin HTTP/1.1\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\nAuthorization: Digest a=b",
];
const chunks = "3\r\nabc\r\nA;x=1\r\n0123456789\r\n0\r\nTrailer: 1\r\n\r\nNEXT";

/** Of `a.b`: one text of two strings; a name it stands for, and that one's text. */
const nameAnswers = [
  "123481a00001000100000000016101620000100001c00c001000010000003c00080361626303646566",
  "123481a00001000200000000016101620000100001c00c000500010000003c00050163016400c021001000010000003c00020178",
];

class FakeSocket extends Duplex {
  remoteAddress = "127.0.0.1";
  _read() {}
  _write(_chunk, _encoding, done) {
    done();
  }
  setTimeout() {}
  setKeepAlive() {}
}

const limits = { ...defaultLimits, headerBytes: 1000, heldBytes: 200_000 };
const service = {
  limits,
  requestBytesOf: () => 1000,
  screen: ({ method }) =>
    method === "OPTIONS" ? { head: "HTTP/1.1 200 OK\r\n\r\n", body: "", closes: false } : undefined,
  answer: async (_head, body) => ({
    head: "HTTP/1.1 200 OK\r\n\r\n",
    body: String(body.length),
    closes: false,
  }),
  closed: () => {},
};

const login = { user: "user", password: "password" };
const auth = createDigestAuth(login);

function authorization() {
  const [challenge] = auth.challenge(false);
  const nonce = /nonce="([^"]*)"/.exec(challenge)[1];
  const fields = { nonce, uri: "/json_rpc", qop: "auth", nc: "00000001", cnonce: "abc", algorithm: "MD5" };
  const response = digestResponse(fields, { login, method: "POST" });
  return `Digest username="user",realm="monero-rpc",nonce="${nonce}",uri="/json_rpc",qop=auth,nc=00000001,cnonce="abc",algorithm=MD5,response="${response}"`;
}

export const targets = {
  json: {
    seeds: () => [...text(...jsonTexts), ...debianCorpus("load-from-json")],
    refusals: [BadJson],
    run(bytes) {
      const value = parseJson(bytes);
      const written = formatJson(value);
      assert.equal(formatJson(parseJson(Buffer.from(written, "latin1"))), written);
    },
  },
  "request-head": {
    seeds: () => text(...heads),
    run(bytes) {
      const head = parseRequestHead(bytes.toString("latin1"));
      assert.ok(head === undefined || head.length === undefined || Number.isSafeInteger(head.length));
    },
  },
  "chunked-body": {
    seeds: () => text(chunks),
    refusals: [BadFraming],
    run(bytes) {
      const head = parseRequestHead("POST / HTTP/1.1\r\nTransfer-Encoding: chunked");
      const reader = createBodyReader(head, { maxBytes: 4096, keep: true });
      for (let at = 0; at < bytes.length && !reader.isTooLarge(); at += 7)
        reader.take(bytes.subarray(at, at + 7));
      assert.ok(reader.body().length <= 4096 + 7);
    },
  },
  "http-connection": {
    seeds: () => text(...heads.map((head) => `${head}\r\n\r\n{"a":1}   `), `${heads[2]}\r\n\r\n${chunks}`),
    async run(bytes) {
      const socket = new FakeSocket({ allowHalfOpen: true });
      const share = new CallerShare(limits, { isForStrangers: false });
      const opening = { ...service, open: (address) => share.open(address) };
      new HttpConnection(socket, opening, new ResponseBatch());
      socket.push(bytes.subarray(0, bytes.length / 2));
      socket.push(bytes.subarray(bytes.length / 2));
      socket.push(null);
      // Each request behind another one is answered in a turn of its own.
      for (let turn = 0; turn < 4 || (turn < 100 && share.heldBytes > 0); turn++)
        await new Promise((resolve) => setImmediate(resolve));
      socket.destroy();
      assert.equal(share.heldBytes, 0);
    },
  },
  "digest-login": {
    seeds: () => text(authorization(), authorization()),
    run(bytes) {
      const value = bytes.toString("latin1");
      auth.check({ method: "POST", url: "/json_rpc", authorization: value });
    },
  },
  "client-answer": {
    seeds: () => [...text(...jsonTexts), ...debianCorpus("http-client")],
    refusals: [BadJson],
    run(bytes) {
      parseAnswer(bytes);
    },
  },
  "name-answer": {
    seeds: () => nameAnswers.map((hex) => Buffer.from(hex, "hex")),
    refusals: [BadNameAnswer],
    run(bytes) {
      const { texts } = readTextAnswer(bytes, { name: "a.b", id: 0x1234 });
      assert.ok(texts.length <= 64 && texts.every((each) => each.length <= 4096));
    },
  },
};

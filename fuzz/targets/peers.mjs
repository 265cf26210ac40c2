import assert from "node:assert/strict";
import { messages } from "../../packages/node/dist/src/peers/messages.js";
import { BadAddress, parsePeerAddress } from "../../packages/p2p/dist/src/address.js";
import { banAll, createBans } from "../../packages/p2p/dist/src/bans.js";
import * as commands from "../../packages/p2p/dist/src/commands.js";
import { BadFrame, notificationFrame, requestFrame } from "../../packages/p2p/dist/src/levin/frame.js";
import { FrameReader } from "../../packages/p2p/dist/src/levin/frame-reader.js";
import { readLists, writeLists } from "../../packages/p2p/dist/src/lists-file.js";
import { readMessage } from "../../packages/p2p/dist/src/messages.js";
import { PeerFault } from "../../packages/p2p/dist/src/peer.js";
import { BadBytes, writePortable } from "../../packages/protocol/dist/src/index.js";
import { debianCorpus, recordedBlocks, recordedTransactions, text } from "../corpus.mjs";

const number = (value, type = "uint64") => ({ type, value: BigInt(value) });
const bytes = (value) => ({ type: "string", value });
const object = (fields) => new Map(Object.entries(fields));
const nested = (fields) => ({ type: "object", value: object(fields) });

const syncData = {
  current_height: number(500),
  cumulative_difficulty: number(500),
  cumulative_difficulty_top64: number(0),
  top_id: bytes(new Uint8Array(32)),
  top_version: number(16, "uint8"),
  pruning_seed: number(0, "uint32"),
};
const nodeData = {
  network_id: bytes(new Uint8Array(16)),
  my_port: number(18080, "uint32"),
  peer_id: number(12345),
  support_flags: number(1, "uint32"),
  rpc_port: number(0, "uint16"),
};
const address = {
  type: number(1, "uint8"),
  addr: nested({ m_ip: number(0x0100007f, "uint32"), m_port: number(18080, "uint16") }),
};
const peers = {
  type: "object",
  values: [
    object({ adr: { type: "object", value: object(address) }, id: number(7), last_seen: number(1, "int64") }),
  ],
};
const entry = {
  block: bytes(recordedBlocks[0]),
  txs: { type: "string", values: recordedTransactions.slice(0, 2) },
  pruned: { type: "bool", value: false },
};

const payloads = [
  { node_data: nested(nodeData), payload_data: nested(syncData) },
  { node_data: nested(nodeData), payload_data: nested(syncData), local_peerlist_new: peers },
  { payload_data: nested(syncData), local_peerlist_new: peers },
  { status: bytes(Buffer.from("OK")), peer_id: number(5) },
  { support_flags: number(1, "uint32") },
  { b: nested(entry), current_blockchain_height: number(400) },
  { txs: { type: "string", values: recordedTransactions.slice(0, 3) }, _: bytes(new Uint8Array(9)) },
  { blocks: bytes(new Uint8Array(64)), prune: { type: "bool", value: true } },
  { blocks: { type: "object", values: [object(entry)] }, current_blockchain_height: number(9) },
  { block_ids: bytes(new Uint8Array(96)) },
  {
    start_height: number(1),
    total_height: number(9),
    cumulative_difficulty: number(9),
    cumulative_difficulty_top64: number(0),
    m_block_ids: bytes(new Uint8Array(64)),
    m_block_weights: bytes(new Uint8Array(16)),
    first_block: bytes(recordedBlocks[1]),
  },
  {
    block_hash: bytes(new Uint8Array(32)),
    current_blockchain_height: number(5),
    missing_tx_indices: bytes(new Uint8Array(16)),
  },
  { hashes: bytes(new Uint8Array(64)) },
].map((fields) => writePortable(object(fields)));

const shapes = Object.values(commands)
  .filter((it) => typeof it === "object" && "request" in it)
  .flatMap(({ name, cost, request, response }) => [
    { name, cost, payload: request },
    { name, cost, payload: response },
  ]);

/** Each message reads the payload or says whose fault it is. */
function readAll(declared, input) {
  for (const message of declared) {
    try {
      readMessage(message, input);
    } catch (error) {
      if (!(error instanceof PeerFault)) throw error;
    }
  }
}

export const targets = {
  "levin-frames": {
    seeds: () => [
      ...debianCorpus("levin"),
      requestFrame(1001, payloads[0]),
      notificationFrame(2002, payloads[6]),
      Buffer.concat([requestFrame(1003, payloads[3]), notificationFrame(2010, payloads[12])]),
    ],
    refusals: [BadFrame],
    run(input) {
      const reader = new FrameReader(() => 65_536);
      for (let at = 0; at < input.length; at += 1000) {
        reader.push(input.subarray(at, at + 1000));
        while (reader.next() !== undefined);
        assert.ok(reader.bufferedBytes <= 256 * 1024 + 2000);
      }
    },
  },
  "peer-messages": {
    seeds: () => payloads.slice(0, 5),
    run(input) {
      readAll(shapes, input);
    },
  },
  "chain-messages": {
    seeds: () => payloads.slice(5),
    run(input) {
      readAll(Object.values(messages), input);
    },
  },
  "peer-lists": {
    seeds: () => [writeLists(new Map()), ...payloads.slice(2, 3)],
    refusals: [BadBytes],
    run: (input) => readLists(input),
  },
  "peer-address": {
    seeds: () =>
      text(
        "127.0.0.1:18080",
        "[::1]:5",
        "zbjkbsxc5munw3qusl7j2hpcmikhqocdf4pqhnhtpzw5nt5jrmofptid.onion:18083",
        "s3l6ke4ed3df466khuebb4poienoingwof7oxtbo6j4n56sghe3a.b32.i2p:18085",
        "node.example:18080",
      ),
    refusals: [BadAddress],
    run: (input) => parsePeerAddress(input.toString("utf8"), 18080),
  },
  "ban-list": {
    seeds: () => text("1.2.3.4\n5.6.0.0/16 # why\n\n::1\n", "a.b.c.d/33\n255.255.255.255/0\n"),
    run(input) {
      const bans = createBans(() => 1000);
      banAll(bans, input.toString("utf8"));
      for (const host of ["1.2.3.4", "::1", "x"]) bans.secondsLeft(host);
      bans.list();
    },
  },
};

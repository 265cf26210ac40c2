import assert from "node:assert/strict";
import { Subscriptions } from "../../packages/rpc/dist/src/zmq/subscriptions.js";
import { zmqLimits } from "../../packages/rpc/dist/src/zmq/zmq-limits.js";
import {
  BadZmtp,
  commandFrame,
  frame,
  greeting,
  readCommand,
  readProperties,
  readyFrame,
} from "../../packages/rpc/dist/src/zmq/zmtp.js";
import { ZmtpReader } from "../../packages/rpc/dist/src/zmq/zmtp-reader.js";

const subscription = (prefix) => frame(0, Buffer.concat([Buffer.of(1), Buffer.from(prefix)]));
const seeds = [
  [greeting(), readyFrame("SUB"), subscription("json-minimal-chain_main")],
  [greeting(), readyFrame("XSUB"), commandFrame("SUBSCRIBE", Buffer.from("json-")), subscription("")],
  [
    greeting(),
    readyFrame("SUB"),
    commandFrame("PING", Buffer.alloc(4)),
    commandFrame("CANCEL", Buffer.from("x")),
  ],
  [greeting(), readyFrame("SUB"), frame(1, Buffer.from("a")), frame(0, Buffer.alloc(300))],
].map((parts) => Buffer.concat(parts));

/** What a subscriber's bytes mean, given in pieces; the same for all pieces, and never more than its limits. */
function read(input, pieceBytes) {
  const reader = new ZmtpReader(zmqLimits.receivedFrameBytes);
  const subscriptions = new Subscriptions(zmqLimits.subscriptions);
  const seen = [];
  for (let at = 0; at < input.length; at += pieceBytes) {
    for (const { isCommand, hasMore, body } of reader.read(input.subarray(at, at + pieceBytes))) {
      assert.ok(body.length <= zmqLimits.receivedFrameBytes);
      if (isCommand) {
        const { name, data } = readCommand(body);
        if (name === "READY") readProperties(data);
        seen.push(name);
      } else if (body[0] === 1) subscriptions.add(body.subarray(1));
      seen.push(`${hasMore} ${Buffer.from(body).toString("hex")}`);
    }
  }
  assert.ok(subscriptions.size <= zmqLimits.subscriptions.count);
  return seen;
}

/** The same as text, where the bytes are refused. */
function outcome(input, pieceBytes) {
  try {
    return read(input, pieceBytes).join("\n");
  } catch (error) {
    if (error instanceof BadZmtp) return "refused";
    throw error;
  }
}

export const targets = {
  "zmtp-bytes": {
    seeds: () => seeds,
    refusals: [BadZmtp],
    run(input) {
      assert.equal(outcome(input, 7), outcome(input, input.length || 1));
      read(input, input.length || 1);
    },
  },
};

import { lstatSync, unlinkSync } from "node:fs";
import { BadEndpoint, type Logger, parseZmqEndpoint, type ZmqEndpoint } from "@anulo/rpc";
import { BadUsage, type FlagTable, throwUsage, type Values } from "./flags.ts";
import { isAddress, isLoopback } from "./rpc-flags.ts";

const noRpc = "RPC over ZeroMQ is not implemented, use that over HTTP";

/** Flags about ZeroMQ, with the original's names. Source: command_line_args.h. */
export const zmqFlags = {
  "zmq-pub": {
    kind: "each",
    value: "tcp://IP:PORT|ipc://PATH",
    help: "publish news of chain and pool over ZeroMQ here",
  },
  "no-zmq": { kind: "switch", help: "publish nothing over ZeroMQ" },
  "zmq-rpc-bind-ip": { kind: "text", value: "ADDRESS", noEffect: noRpc },
  "zmq-rpc-bind-port": { kind: "number", value: "PORT", noEffect: noRpc },
  "restricted-zmq-rpc": { kind: "switch", noEffect: noRpc },
  "confirm-zmq-rpc-external-bind": { kind: "switch", noEffect: noRpc },
} as const satisfies FlagTable;

type Flags = Values<typeof zmqFlags>;

/** An address that the original rejects is rejected too. Source: daemon.cpp `verify_zmq_rpc_bind`. */
function checkRpcAddress(flags: Flags): void {
  const address = flags["zmq-rpc-bind-ip"]?.replace(/^\[(.*)\]$/, "$1") ?? "";
  if (address === "") return;
  if (!isAddress(address)) throw new BadUsage("Invalid IP address given for --zmq-rpc-bind-ip");
  if (isLoopback(address) || flags["confirm-zmq-rpc-external-bind"]) return;
  throw new BadUsage(
    "--zmq-rpc-bind-ip permits inbound unencrypted external connections. " +
      "Consider SSH tunnel or SSL proxy instead. Override with --confirm-zmq-rpc-external-bind",
  );
}

function parseEndpoint(text: string): ZmqEndpoint {
  try {
    return parseZmqEndpoint(text);
  } catch (error) {
    return throwUsage("--zmq-pub", BadEndpoint, error);
  }
}

/** Removes the socket that a killed node left, since no program could listen on it again. */
function removeLeftover(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) unlinkSync(path);
}

/** The addresses at which events are published. Throws BadUsage. */
export function publishAtOf(flags: Flags, log: Logger): readonly ZmqEndpoint[] {
  const texts = flags["zmq-pub"];
  if (flags["no-zmq"]) {
    if (texts.length > 0) log.warn("--zmq-pub has no effect because --no-zmq was specified");
    return [];
  }
  checkRpcAddress(flags);
  return texts.map(parseEndpoint);
}

/** Removes leftover socket files. Source: libzmq also removes existing ones. */
export function removeLeftoverSockets(endpoints: readonly ZmqEndpoint[]): void {
  for (const endpoint of endpoints) if (endpoint.kind === "ipc") removeLeftover(endpoint.path);
}

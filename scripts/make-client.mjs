/**
 * Writes the data of @anulo/client about the calls, from their declarations: types of params and results, and what is
 * needed at run time (name, transport, whether a call may be repeated, the shape of its result).
 */
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { shapeOf } from "./client/shapes.mjs";
import { CallTypes } from "./client/types.mjs";
import { root } from "./sources.mjs";

const folder = join(root, "packages/client/src/generated");
const compiled = join(root, "packages/rpc/dist/.tsbuildinfo");

/** What a result in JSON cannot hold: bytes, which no JSON of a browser keeps. The packed forms are not requested. */
const withoutPackedForms = {
  getOutputDistribution: {
    leftOut: ["binary", "compress"],
    fixed: { binary: false },
    replaced: {
      "distributions[]": {
        shape: "{amount:n,base:i,start_height:i,distribution~:[i]}",
        type: "{ amount: bigint; base: number; start_height: number; distribution: number[] }",
      },
    },
  },
};

const header = "// Written by scripts/make-client.mjs from the declarations of @anulo/rpc.\n";

/** Calls that JSON carries. */
const jsonCalls = (group) =>
  Object.entries(group).filter(([, call]) => call.transport !== "binary" && !call.name.endsWith(".bin"));

/** `r`: it changes nothing; `k`: it makes a payment and takes an idempotency key; `l`: its params are a list. */
function flagsOf({ name, reads, params }) {
  const isPayment = params.fields?.idempotency_key !== undefined && name !== "get_intent";
  return `${reads ? "r" : ""}${isPayment ? "k" : ""}${params.kind === "list" ? "l" : ""}`;
}

function serviceModule(group, { calls: name, table }) {
  const types = new CallTypes();
  const members = [];
  const rows = [];
  for (const [key, call] of jsonCalls(group)) {
    const special = withoutPackedForms[key];
    const params = types.params(call.params, { key, ...special });
    const result = types.result(call.result, { key, ...special });
    members.push(`  /** ${call.summary} */\n  ${key}: { params: ${params}; result: ${result} };`);
    const row = [call.name, flagsOf(call), shapeOf(call.result, { key, ...special })];
    rows.push(`  ${key}: ${JSON.stringify(special?.fixed ? [...row, special.fixed] : row)},`);
  }
  return `${header}
import type { CallRow } from "../call-table.ts";

${types.records()}
/** Params and result of each call. */
export interface ${name} {
${members.join("\n")}
}

export const ${table}: Readonly<Record<keyof ${name}, CallRow>> = {
${rows.join("\n")}
};
`;
}

function codesModule(walletCodes, protocolErrors) {
  const protocol = {
    PARSE: protocolErrors.parse.code,
    INVALID_REQUEST: protocolErrors.invalidRequest.code,
    METHOD_NOT_FOUND: protocolErrors.methodNotFound.code,
    INVALID_PARAMS: protocolErrors.invalidParams.code,
    INTERNAL: protocolErrors.internal.code,
    LIMIT_EXCEEDED: protocolErrors.limitExceeded.code,
    NOT_IMPLEMENTED: protocolErrors.notImplemented.code,
  };
  const list = (codes) =>
    Object.entries(codes)
      .map(([kind, code]) => `  ${kind}: ${code},`)
      .join("\n");
  return `${header}
/** Codes by which both services refuse calls that they do not understand. */
export const protocolErrorCodes = {
${list(protocol)}
} as const;

/** Codes of the wallet service. */
export const walletErrorCodes = {
${list(walletCodes)}
} as const;
`;
}

function eventTypesModule({ paymentEventTypes, transferEventTypes, stateEventTypes }) {
  const list = (types) => types.map((type) => `  "${type}",\n`).join("");
  return `${header}
/** Types of events about incoming payments. */
export const paymentEventTypes = [
${list(paymentEventTypes)}] as const;

/** Types of events about outgoing transactions. */
export const transferEventTypes = [
${list(transferEventTypes)}] as const;

/** Types of events about a wallet itself. */
export const stateEventTypes = [
${list(stateEventTypes)}] as const;

/** Types of all events of a wallet: a browser listens to a stream type by type. */
export const walletEventTypes = [...paymentEventTypes, ...transferEventTypes, ...stateEventTypes] as const;
`;
}

/** Whether a file had to be written. */
function write(name, text) {
  const path = join(folder, name);
  const current = statSync(path, { throwIfNoEntry: false }) && readFileSync(path, "utf8");
  if (current === text) return false;
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, text);
  return true;
}

/** Writes the files that are not as they have to be; true where there was one. */
export async function makeClient() {
  const rpc = await import("../packages/rpc/dist/src/index.js");
  const { daemonMethods, walletMethods, protocolErrors } = rpc;
  const { refusalCodes } = await import("../packages/wallet/dist/src/refusal.js");
  const files = [
    write("node-calls.ts", serviceModule(daemonMethods, { calls: "NodeCalls", table: "nodeCalls" })),
    write("wallet-calls.ts", serviceModule(walletMethods, { calls: "WalletCalls", table: "walletCalls" })),
    write("error-codes.ts", codesModule(refusalCodes, protocolErrors)),
    write("event-types.ts", eventTypesModule(rpc)),
  ];
  return files.includes(true);
}

/** Whether the declarations have been compiled since. */
export function isClientCurrent() {
  const changed = statSync(compiled, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const buildMs = statSync(join(folder, "../../dist/.made"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return buildMs > changed;
}

/** Remembers that the files are as the declarations of this moment want them. */
export function noteClientMade() {
  mkdirSync(join(folder, "../../dist"), { recursive: true });
  writeFileSync(join(folder, "../../dist/.made"), "");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isWritten = await makeClient();
  if (isWritten) console.log("packages/client/src/generated was not current, and is now");
  process.exit(isWritten && process.argv.includes("--check") ? 1 : 0);
}

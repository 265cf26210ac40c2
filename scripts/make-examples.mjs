// Writes packages/rpc/src/generated/examples.ts: one example of each call, as it was recorded of monerod and
// monero-wallet-rpc 0.18.5.3, or, where they have no such call or refuse it, of a devnet of ours. Needs a build.
// Long lists are cut to their first elements, long texts to their beginning. Of binary calls the fields are shown, with
// bytes as hexadecimal. Every call has one: it fails where one is missing.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv } from "ajv";
import { recordOurs } from "./examples/record-ours.mjs";
import { root } from "./sources.mjs";

const rpc = await import(join(root, "packages/rpc/dist/src/index.js"));
const { parseJson } = await import(join(root, "packages/rpc/dist/src/json-parser.js"));
const { loadGoldenText } = await import(join(root, "packages/testkit/dist/src/fixtures.js"));

/** A value that has to be hexadecimal stays so when it is cut. */
const HEX = /^[0-9a-f]+$/;
const MAX_ELEMENTS = 2;
const MAX_TEXT_LENGTH = 200;
const BEGINNING_LENGTH = 64;
/** Of the recorded answers of a call the longest is shown that is not longer than this, as it says most. */
const BEST_LENGTH = 1_800;

const groups = {
  node: ["node_read", "node_restricted", "node_write"],
  wallet: ["wallet_read", "wallet_send", "wallet_files", "wallet_cold", "wallet_multisig", "wallet_none"],
};

function recordedSteps(group) {
  const recording = loadGoldenText(group, "0.18.5");
  return recording.steps.map((step) => ({ ...step, from: `${group} ${step.id}` }));
}

function cutLong(value) {
  if (Array.isArray(value)) return value.slice(0, MAX_ELEMENTS).map(cutLong);
  if (typeof value === "string" && value.length > MAX_TEXT_LENGTH)
    return value.slice(0, BEGINNING_LENGTH) + (HEX.test(value) ? "" : "…");
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, cutLong(member)]));
}

/** As readers without big integers see it. */
const plainOf = (value) =>
  JSON.parse(JSON.stringify(value, (_, member) => (typeof member === "bigint" ? Number(member) : member)));
const ajv = new Ajv({ strict: false, validateFormats: false });
const isValid = (schema, value) => ajv.validate(plainOf(schema), plainOf(value));

/** What a recorded request asks of a call, and what was answered; undefined for an error. */
function exchangeOf(call, { request: { path, body }, answer: { json } }) {
  const names = [call.name, ...call.aliases];
  if (call.transport !== "jsonRpc")
    return names.includes(path) && json !== undefined ? { params: body ?? {}, result: json } : undefined;
  if (path !== "/json_rpc" || !names.includes(body?.method) || json?.result === undefined) return undefined;
  return { params: body.params ?? (call.params.kind === "list" ? [] : {}), result: json.result };
}

/** An exchange as an example in both dialects; undefined where it does not fit the declaration. */
function exampleOf(call, { params, result, error, from }) {
  const fits = (section, dialect, value) =>
    isValid(call[section].describe({ of: section === "params" ? "request" : "answer", dialect }), value);
  if (error !== undefined) {
    const { code, message } = error;
    return { call: call.name, from, params: cutLong(params), error: { code, message } };
  }
  let contract;
  try {
    if (call.name.endsWith(".bin")) contract = result;
    else {
      const text = call.result.write(call.result.read(result, { of: "answer" }), "contract", "");
      contract = parseJson(`{"value":${Buffer.from(text, "latin1").toString("utf8")}}`).value;
    }
  } catch {
    return undefined;
  }
  const example = { params: cutLong(params), result: cutLong(contract) };
  if (!fits("params", "contract", example.params) || !fits("result", "contract", example.result))
    return undefined;
  const upstream = cutLong(result);
  const isSame = rpc.formatJson(upstream) === rpc.formatJson(example.result);
  return {
    call: call.name,
    from,
    ...example,
    ...(!isSame && fits("result", "upstream", upstream) && { upstream }),
  };
}

/** Calls whose recorded answers lack a field that the contract has. */
const callsOfOurs = new Set(["incoming_transfers", "/get_transaction_pool"]);

const lengthOf = ({ params, result }) => rpc.formatJson([params, result]).length;

/** The recorded example that says most without being long; of equal ones the first. */
function best(examples) {
  const isShort = (example) => lengthOf(example) <= BEST_LENGTH;
  // A step that has something special says so after a colon.
  const isUsual = ({ from }) => (from.includes(":") ? 0 : 1);
  const isSuccess = ({ result }) => (result.status ?? "OK") === "OK" && result.good !== false;
  const paramsRank = (example) => (Object.keys(example.params).length > 0 ? 1 : 0);
  return examples.toSorted(
    (a, b) =>
      Number(isSuccess(b)) - Number(isSuccess(a)) ||
      Number(isShort(b)) - Number(isShort(a)) ||
      paramsRank(b) - paramsRank(a) ||
      isUsual(b) - isUsual(a) ||
      (isShort(a) ? lengthOf(b) - lengthOf(a) : lengthOf(a) - lengthOf(b)),
  )[0];
}

/** What is formatted has a character for each byte. */
const oneLine = (value) =>
  JSON.stringify(Buffer.from(rpc.formatJson(value).replace(/\r?\n\s*/g, ""), "latin1").toString("utf8"));

function textOf({ call, from, params, result, error, upstream }) {
  const parts = [
    `call: ${JSON.stringify(call)}`,
    `from: ${JSON.stringify(from)}`,
    `params: ${oneLine(params)}`,
    ...(error === undefined ? [`result: ${oneLine(result)}`] : [`error: ${oneLine(error)}`]),
    ...(upstream === undefined ? [] : [`upstream: ${oneLine(upstream)}`]),
  ];
  return `  { ${parts.join(", ")} },\n`;
}

async function examplesOf(service, calls, ours) {
  const steps = groups[service].flatMap(recordedSteps);
  const texts = [];
  const absent = [];
  for (const call of calls) {
    const recorded = steps.flatMap((step) => {
      const exchange = exchangeOf(call, step);
      const example = exchange && exampleOf(call, { ...exchange, from: step.from });
      return example === undefined ? [] : [example];
    });
    const own = ours.filter((it) => it.service === service && it.call === call.name);
    const fitting = own
      .map((it) => exampleOf(call, { ...it, from: "devnet" }))
      .filter((it) => it !== undefined);
    const example = callsOfOurs.has(call.name) ? fitting[0] : (best(recorded) ?? fitting[0]);
    if (example === undefined) absent.push(call.name);
    else texts.push(textOf(example));
  }
  if (absent.length > 0) throw new Error(`${service}: no example of ${absent.join(", ")}`);
  console.log(`# ${service}: an example of each of ${calls.length} calls`);
  return texts.join("");
}

const ours = await recordOurs();
const node = await examplesOf("node", Object.values(rpc.daemonMethods), ours);
const wallet = await examplesOf("wallet", Object.values(rpc.walletMethods), ours);
const text = `// Written by scripts/make-examples.mjs: recorded calls and what was answered, as JSON texts.
// biome-ignore-all format: as it was written

import type { ExampleText } from "../reference/examples.ts";

export const nodeExamples: readonly ExampleText[] = [
${node}];

export const walletExamples: readonly ExampleText[] = [
${wallet}];
`;
writeFileSync(join(root, "packages/rpc/src/generated/examples.ts"), text);
console.log(`# ${text.length} characters`);
process.exit(0);

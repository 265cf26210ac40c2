// Every call of both services as pages, one for each subject, and one for the errors of each service.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { services } from "../rpc-services.mjs";
import { root } from "../sources.mjs";
import { escapeHtml, idOf, wide, withCode } from "./html.mjs";

const rpc = await import(pathToFileURL(join(root, "packages/rpc/dist/src/index.js")).href);
const loaders = { node: rpc.loadNodeReference, wallet: rpc.loadWalletReference };
const dialects = {
  upstream: "upstream dialect",
  both: "both dialects",
};

/** What a value is, in a few words. */
function typeOf(schema) {
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  if (schema.type === "object") return "object";
  if (schema.type === "string" && schema.pattern?.includes("a-fA-F")) return "hex";
  if (schema.type === undefined) return "any";
  if (schema.type !== "integer" || schema.maximum === undefined) return schema.type;
  const bits = { 255: 8, 65535: 16, 4294967295: 32 }[schema.maximum] ?? 64;
  return `integer, ${bits} bits`;
}

/** Rows of a table: a field each, those within records after them. */
function rowsOf(properties, required, names = []) {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = [...names, name];
    const inner = schema.type === "array" ? schema.items : schema;
    const notes = [
      schema["x-upstream"] && `${typeOf(schema["x-upstream"])} in the upstream dialect`,
      schema["x-omitted-when-empty"] &&
        `left out when empty in the ${dialects[schema["x-omitted-when-empty"]]}`,
      schema.default !== undefined && `\`${rpc.formatJson(schema.default)}\` if left out`,
      required === undefined
        ? undefined
        : !required.includes(name) && schema.default === undefined && "may be left out",
    ].filter(Boolean);
    const row = [
      `<code>${escapeHtml(path.join("."))}</code>`,
      escapeHtml(typeOf(schema)),
      withCode(schema.description ?? ""),
    ];
    const note = notes.length > 0 ? ` <span class="note">${notes.map(withCode).join("; ")}</span>` : "";
    const rest = inner?.properties ? rowsOf(inner.properties, inner.required, path) : [];
    return [`<tr><td>${row[0]}</td><td>${row[1]}</td><td>${row[2]}${note}</td></tr>`, ...rest];
  });
}

function fieldTable(label, properties, required) {
  const rows = rowsOf(properties, required);
  if (rows.length === 0) return "<p>None.</p>";
  const head = "<thead><tr><th>Name</th><th>Type</th><th>Meaning</th></tr></thead>";
  return wide(label, `<table>${head}<tbody>${rows.join("")}</tbody></table>`);
}

/** What is formatted has a character for each byte. */
const textOf = (value) => Buffer.from(rpc.formatJson(value), "latin1").toString("utf8");

const sample = (value) =>
  `<pre tabindex="0"><code>${escapeHtml(textOf(value).replaceAll("\r\n", "\n"))}</code></pre>`;

function exampleOf(call, { params, result, error, upstream }) {
  const isMethod = call.transport === "jsonRpc";
  const request = isMethod ? { jsonrpc: "2.0", id: 0, method: call.name, params } : params;
  const answer = (value) => (isMethod ? { id: 0, jsonrpc: "2.0", result: value } : value);
  const response = error === undefined ? answer(result) : { error, id: 0, jsonrpc: "2.0" };
  const note = call.name.endsWith(".bin")
    ? " Both are portable storage: shown are their fields, with bytes as hexadecimal."
    : "";
  return [
    `<h4>Example</h4><p>POST <code>${escapeHtml(isMethod ? "/json_rpc" : call.name)}</code>${note}</p>${sample(request)}`,
    `<p>Response</p>${sample(response)}`,
    upstream === undefined ? "" : `<p>Response in the upstream dialect</p>${sample(answer(upstream))}`,
  ].join("");
}

const uses = {
  jsonRpc: "Method of <code>/json_rpc</code>",
  json: "Path: JSON in, JSON out",
  binary: "Path: portable storage in, portable storage out",
};

/** What of a call is no field. */
function factsOf(call, described) {
  const facts = [
    ["Called as", uses[call.transport]],
    call.aliases.length > 0 && [
      "Also called",
      call.aliases.map((name) => `<code>${escapeHtml(name)}</code>`).join(", "),
    ],
    call.dialect && ["Dialect", `${call.dialect} only`],
    ["Restricted ports", call.access === "unrestricted" ? "no" : "yes"],
    call.scope && ["Scope of a token", `<code>${call.scope}</code>`],
    call.needs.length > 0 && ["Needs", call.needs.map((need) => `<code>${need}</code>`).join(", ")],
    ["Changes something", call.reads ? "no" : "yes"],
    described["x-not-implemented"] && ["State", "not implemented yet"],
  ];
  return `<dl class="facts">${facts
    .filter(Boolean)
    .map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`)
    .join("")}</dl>`;
}

/** A call's section. */
function callHtml(call, { described, reference, key, id }) {
  const params =
    call.params.kind === "list"
      ? `<p>A list: ${withCode(described.params[0].description ?? "")}</p>`
      : fieldTable(
          `Params of ${call.name}`,
          Object.fromEntries(described.params.map(({ name, schema }) => [name, schema])),
          described.params.filter(({ required }) => required).map(({ name }) => name),
        );
  const { schema, description = "" } = described.result;
  const result = schema.properties
    ? fieldTable(`Result of ${call.name}`, schema.properties)
    : `<p>${escapeHtml(typeOf(schema))}. ${withCode(description)}</p>`;
  const names = rpc.errorNamesOf(call, reference.errors);
  const own = names.filter((name) => reference.errors[name].calls || reference.errors[name].need);
  const errors = own.map((name) => {
    const { code, message } = reference.errors[name];
    return `<li><a href="${key}-errors.html#${name.toLowerCase()}"><code>${code}</code></a> ${withCode(message)}</li>`;
  });
  const examples = (reference.examples.get(call.name) ?? []).map((example) => exampleOf(call, example));
  return [
    `<section class="call"><h2 id="${escapeHtml(id)}"><code>${escapeHtml(call.name)}</code></h2>`,
    `<p>${withCode(call.summary)}</p>${factsOf(call, described)}`,
    `<h3>Params</h3>${params}<h3>Result</h3>${result}`,
    call.transport === "jsonRpc"
      ? `<h3>Errors</h3>${errors.length > 0 ? `<ul>${errors.join("")}</ul>` : ""}<p>${errors.length > 0 ? "And t" : "T"}he <a href="${key}-errors.html">errors of every call</a>.</p>`
      : `<h3>Errors</h3><p>A <code>status</code> other than <code>OK</code> says what went wrong; HTTP 400 that the request does not fit.</p>`,
    ...examples,
    "</section>",
  ].join("\n");
}

const wordsOf = ({ params, result }, call) =>
  [call.summary, ...call.aliases, rpc.formatJson([params, result]).replace(/[^a-z_]+/gi, " ")].join(" ");

function subjectPage(subject, { key, reference, handlers }) {
  const calls = Object.values(subject.calls);
  const document = rpc.openRpcDocument(
    calls.map((call) => ({ call, handler: handlers.get(call) })),
    { title: "", version: "" },
    { reference },
  );
  const described = new Map([...document.methods, ...document["x-paths"]].map((it) => [it.name, it]));
  const used = new Map();
  const parts = calls.map((call) => ({
    call,
    described: described.get(call.name),
    id: idOf(call.name, used),
  }));
  const title = `${key === "node" ? "Node" : "Wallet service"}: ${subject.description.replace(/\.$/, "")}`;
  return {
    address: `reference/${key}-${subject.name}.html`,
    group: key === "node" ? "Calls of the node" : "Calls of the wallet service",
    title,
    sections: [
      { id: "", heading: title, text: "" },
      ...parts.map(({ call, described: it, id }) => ({ id, heading: call.name, text: wordsOf(it, call) })),
    ],
    html: [
      `<h1>${escapeHtml(title)}</h1>`,
      `<ul class="calls">${parts.map(({ call, id }) => `<li><a href="#${escapeHtml(id)}"><code>${escapeHtml(call.name)}</code></a> ${withCode(call.summary)}</li>`).join("")}</ul>`,
      ...parts.map((part) => callHtml(part.call, { ...part, reference, key })),
    ].join("\n"),
  };
}

function errorsPage(key, { errors, title: service }) {
  const title = `${service}: errors`;
  const entries = Object.entries(errors);
  const rows = entries.map(
    ([name, { code, message, when }]) =>
      `<tr id="${name.toLowerCase()}"><td><code>${code}</code></td><td>${withCode(message)}</td><td>${withCode(when)}</td></tr>`,
  );
  const head = "<thead><tr><th>Code</th><th>Meaning</th><th>When, and what to do</th></tr></thead>";
  return {
    address: `reference/${key}-errors.html`,
    group: key === "node" ? "Calls of the node" : "Calls of the wallet service",
    title,
    sections: [
      { id: "", heading: title, text: "" },
      ...entries.map(([name, { code, message, when }]) => ({
        id: name.toLowerCase(),
        heading: `${code} ${name}`,
        text: `${message} ${when}`,
      })),
    ],
    html: `<h1>${escapeHtml(title)}</h1><p>What a JSON-RPC error says by its code.</p>${wide(title, `<table>${head}<tbody>${rows.join("")}</tbody></table>`)}`,
  };
}

/** The pages of the calls and errors of both services. */
export async function referencePages() {
  const pages = [];
  for (const { key, calls } of await services()) {
    const reference = await loaders[key]();
    const handlers = new Map((calls ?? []).map(({ call, handler }) => [call, handler]));
    for (const subject of reference.subjects) pages.push(subjectPage(subject, { key, reference, handlers }));
    pages.push(errorsPage(key, reference));
  }
  return pages;
}

// Every call of the two interface documents is declared: names, aliases, inputs and outputs at any depth; and every
// declared call has a handler or is listed as not yet implemented. `packages/rpc/contract.json` lists the documents.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { services } from "./rpc-services.mjs";
import { root } from "./sources.mjs";

const contract = JSON.parse(readFileSync(join(root, "packages/rpc/contract.json"), "utf8"));

/** Names of all fields of a described value. */
function fieldsOf(schema, names = new Set()) {
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    names.add(name);
    fieldsOf(property, names);
  }
  if (schema.items) fieldsOf(schema.items, names);
  return names;
}

function problemsOf(entry, calls) {
  const isMethod = entry.transport === "jsonRpc";
  const call = calls.find(
    ({ name, transport }) => name === entry.name && (transport === "jsonRpc") === isMethod,
  );
  if (!call) return [`${entry.name} is not declared`];
  const params = fieldsOf(call.params.describe());
  const result = fieldsOf(call.result.describe());
  return [
    ...entry.aliases.filter((alias) => !call.aliases.includes(alias)).map((alias) => `alias ${alias}`),
    ...entry.inputs.filter((name) => !params.has(name)).map((name) => `input ${name}`),
    ...entry.outputs.filter((name) => !result.has(name)).map((name) => `output ${name}`),
  ].map((lacking) => `${entry.name} lacks ${lacking}`);
}

const problems = [];
for (const { key, title, declared, calls } of await services()) {
  problems.push(...contract[key].flatMap((entry) => problemsOf(entry, declared)));
  const works = calls?.filter(({ handler }) => handler !== undefined).length;
  const state = calls ? `${works} work, ${calls.length - works} not yet` : "no handlers found";
  console.log(
    `rpc coverage: ${title}: ${contract[key].length} calls of the contract, ${declared.length} declared, ${state}`,
  );
  for (const call of declared) {
    if (calls && !calls.some((implemented) => implemented.call === call))
      problems.push(`${call.name} has no handler`);
  }
}
for (const problem of problems) console.log(problem);
console.log(`rpc coverage: ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

// Every field of every call has a description, every description belongs to a field, and each call is of one subject:
// what the OpenRPC document and the documentation site are made of. Needs a build.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { services } from "./rpc-services.mjs";
import { root } from "./sources.mjs";

const rpc = await import(pathToFileURL(join(root, "packages/rpc/dist/src/index.js")).href);
const references = { node: await rpc.loadNodeReference(), wallet: await rpc.loadWalletReference() };
const isSentence = (text) => text.length > 3 && /^["`0-9A-Z]/.test(text) && text.endsWith(".");

let fields = 0;
const problems = [];
for (const { key, declared } of await services()) {
  const { descriptions, errors, subjects } = references[key];
  const used = new Set();
  for (const call of declared) {
    if (!isSentence(call.summary)) problems.push(`${call.name}: its summary is no sentence`);
    const count = subjects.filter(({ calls }) => Object.values(calls).includes(call)).length;
    if (count !== 1) problems.push(`${call.name} is of ${count} subjects`);
    for (const { field, key: description } of rpc.fieldsOfCall(call, descriptions)) {
      fields++;
      if (description === undefined) problems.push(`${field} has no description`);
      else used.add(description);
    }
  }
  for (const [name, text] of Object.entries(descriptions)) {
    if (!used.has(name)) problems.push(`the description of ${name} belongs to no field`);
    if (!isSentence(text)) problems.push(`the description of ${name} is no sentence`);
  }
  const names = new Set(declared.map(({ name }) => name));
  for (const [error, { message, when, calls = [] }] of Object.entries(errors)) {
    if (![message, when].every(isSentence)) problems.push(`${error}: no sentence`);
    for (const name of calls) if (!names.has(name)) problems.push(`${error}: ${name} is not declared`);
  }
}
for (const problem of problems) console.log(problem);
console.log(`rpc descriptions: ${fields} fields, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);

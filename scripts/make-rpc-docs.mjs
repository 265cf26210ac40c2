// Writes the table of calls into README.md between its markers, from the declarations and the handlers bound to them.
// --check: writes nothing and fails when the table is out of date.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { services } from "./rpc-services.mjs";
import { root } from "./sources.mjs";

const file = join(root, "README.md");
const begin = "<!-- rpc calls: written by scripts/make-rpc-docs.mjs -->";
const end = "<!-- end of rpc calls -->";

/** Calls that have a handler but don't do all they will, and what is missing. */
const inPart = new Map([["/update", "answers that nothing could be looked up"]]);

function stateOf(call, calls) {
  if (calls?.find((candidate) => candidate.call === call)?.handler === undefined) return "not yet";
  return inPart.has(call.name) ? `in part: ${inPart.get(call.name)}` : "works";
}

function row(call, calls) {
  const names = [call.name, ...call.aliases].map((name) => `\`${name}\``).join(", ");
  const scope = call.scope === undefined ? "" : ` ${call.scope} |`;
  return `| ${names} |${scope} ${stateOf(call, calls)} | ${call.summary} |`;
}

function table({ title, groups, calls = [] }) {
  const rows = Object.values(groups).flatMap((group) => Object.values(group).map((call) => row(call, calls)));
  const count = (state) => rows.filter((text) => text.includes(`| ${state}`)).length;
  const [works, parts] = [count("works"), count("in part")];
  const counted = `${works} of ${rows.length} calls work${parts > 0 ? `, ${parts} in part` : ""}`;
  const heading = `### ${title[0].toUpperCase()}${title.slice(1)}: ${counted}`;
  const isScoped = Object.values(groups).some((group) => Object.values(group).some(({ scope }) => scope));
  const header = isScoped
    ? ["| Call | Scope | State | What it does |", "|---|---|---|---|"]
    : ["| Call | State | What it does |", "|---|---|---|"];
  return [heading, "", ...header, ...rows].join("\n");
}

const text = (await services()).map(table).join("\n\n");
const readme = readFileSync(file, "utf8");
const from = readme.indexOf(begin);
const to = readme.indexOf(end);
if (from === -1 || to < from) {
  console.error(`make-rpc-docs: README.md lacks the markers\n${begin}\n${end}`);
  process.exit(1);
}
const page = `${readme.slice(0, from + begin.length)}\n\n${text}\n\n${readme.slice(to)}`;
if (process.argv.includes("--check")) {
  if (page !== readme) console.error("make-rpc-docs: the table in README.md is out of date");
  process.exit(page === readme ? 0 : 1);
}
writeFileSync(file, page);

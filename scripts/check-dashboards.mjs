// Checks the dashboards and alerts in operate/ against the metrics that both services declare: every expression can be
// read, every metric in it exists, and so does every label; every metric is shown somewhere. Needs a build.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { operateExpressions } from "./operate-files.mjs";
import { parsePromql } from "./promql.mjs";
import { root } from "./sources.mjs";

const load = (file) => import(pathToFileURL(join(root, "packages", file)).href);

/** Labels that Prometheus gives every sample it collects. */
const ofEverySample = ["instance", "job"];

/** Names of samples with their labels, as Prometheus stores them. */
async function samples() {
  const { nodeMetrics } = await load("node/dist/src/monitor/metrics.js");
  const { walletMetrics } = await load("wallet/dist/src/monitor/metrics.js");
  const { serverMetrics, processMetrics } = await load("metrics/dist/src/index.js");
  const declared = { ...nodeMetrics, ...walletMetrics, ...serverMetrics };
  const declarations = new Map([["up", []]]);
  for (const [name, { type, labels = [] }] of Object.entries(declared)) {
    if (type === "histogram") {
      declarations.set(`${name}_bucket`, [...labels, "le"]);
      for (const part of ["sum", "count"]) declarations.set(`${name}_${part}`, labels);
    } else declarations.set(name, labels);
  }
  for (const [name, labels] of await processMetrics()) declarations.set(name, labels);
  return { declarations, own: Object.keys(declared) };
}

const problems = [];
const { declarations, own } = await samples();
const used = new Set();

function check(where, text) {
  const { selectors, groups } = parsePromql(text);
  const labelsOf = ({ name }) => [...(declarations.get(name) ?? []), ...ofEverySample];
  for (const selector of selectors) {
    used.add(selector.name);
    if (!declarations.has(selector.name)) problems.push(`${where}: no metric ${selector.name}`);
    for (const { label } of selector.matchers)
      if (!labelsOf(selector).includes(label))
        problems.push(`${where}: ${selector.name} has no label ${label}`);
  }
  for (const { labels, selectors: below } of groups)
    for (const label of labels)
      for (const selector of below)
        if (!labelsOf(selector).includes(label))
          problems.push(`${where}: ${selector.name} has no label ${label}`);
}

const expressions = operateExpressions();
for (const { where, text } of expressions) {
  try {
    check(where, text);
  } catch (error) {
    problems.push(`${where}: ${error.message}`);
  }
}
const isUsed = (name) => used.has(name) || used.has(`${name}_bucket`);
for (const name of own) if (!isUsed(name)) problems.push(`no dashboard or alert uses ${name}`);
for (const problem of new Set(problems)) console.error(problem);
console.log(
  `dashboards: ${expressions.length} expressions over ${used.size} series, ${problems.length} problems`,
);
process.exit(problems.length === 0 ? 0 : 1);

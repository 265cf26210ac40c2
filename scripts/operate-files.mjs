// What the files in operate/ ask of metrics: each expression with the file and panel or alert it stands in.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./sources.mjs";

const folder = join(root, "operate");

/** Every expression of the dashboards and alerts, as { where, text, service }; throws for an alert without what it needs. */
export function operateExpressions() {
  return [...dashboards(), ...alerts()];
}

function dashboards() {
  return readdirSync(join(folder, "grafana"))
    .filter((file) => file.endsWith(".json"))
    .flatMap((file) => {
      const { panels } = JSON.parse(readFileSync(join(folder, "grafana", file), "utf8"));
      return panels
        .filter(({ type }) => type !== "row")
        .flatMap(({ title, targets }) => {
          if (!(targets?.length > 0)) throw new Error(`${file}: ${title} asks for nothing`);
          return targets.map(({ expr }) => ({ where: `${file}: ${title}`, text: expr }));
        });
    });
}

/** The alerts are written in one layout, so that nothing more than this is needed to read them. */
const rule =
  / {6}- alert: (?<name>\w+)\n {8}expr: (?<expr>[^\n]+)\n {8}for: \d+[smhd]\n {8}labels:\n {10}severity: (?:warning|critical)\n {8}annotations:\n {10}summary: "[^"\n]+"\n/y;
const group = / {2}- name: [\w-]+\n {4}rules:\n/y;

function alerts() {
  const text = readFileSync(join(folder, "prometheus/alerts.yml"), "utf8");
  const files = [];
  let at = text.indexOf("groups:\n") + "groups:\n".length;
  while (at < text.length) {
    group.lastIndex = at;
    if (group.test(text)) at = group.lastIndex;
    rule.lastIndex = at;
    const match = rule.exec(text);
    if (match === null) throw new Error(`alerts.yml: no alert: ${text.slice(at, at + 80)}`);
    at = rule.lastIndex;
    files.push({ where: `alerts.yml: ${match.groups.name}`, text: match.groups.expr });
  }
  const names = files.map(({ where }) => where);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new Error(`${twice} stands twice`);
  return files;
}

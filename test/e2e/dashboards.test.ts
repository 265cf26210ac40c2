import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { call, type ExactObject } from "@anulo/devnet";
import { startMetricsServer } from "@anulo/metrics";
import { createNode, nodeMetrics, nodeReadiness } from "@anulo/node";
import { createCallTally } from "@anulo/rpc";
import { createWalletService, walletMetrics } from "@anulo/wallet";

type Selector = {
  readonly name: string;
  readonly matchers: readonly { readonly label: string; readonly sign: string; readonly value: string }[];
};
type Parsed = { readonly selectors: readonly Selector[] };

/** The scripts by which `npm run check` reads dashboards and alerts. */
async function scripts() {
  const load = (file: string) => import(new URL(`../../../scripts/${file}`, import.meta.url).href);
  const { parsePromql } = (await load("promql.mjs")) as { parsePromql: (text: string) => Parsed };
  const { operateExpressions } = (await load("operate-files.mjs")) as {
    operateExpressions: () => { readonly where: string; readonly text: string }[];
  };
  return { parsePromql, operateExpressions };
}

type Series = { readonly name: string; readonly labels: ReadonlyMap<string, string> };

async function collect(url: string): Promise<Series[]> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return lines.map((line) => {
    const [, name = "", labels = ""] = /^(\w+)(?:\{(.*)\})? \S+$/.exec(line) ?? [];
    assert.notEqual(name, "", line);
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(
      ([, label, value]) => [label!, value!] as const,
    );
    return { name, labels: new Map(pairs) };
  });
}

/** Whether Prometheus would find the series, whatever instance and job it gives it. */
function matches({ name, labels }: Series, selector: Selector): boolean {
  if (name !== selector.name) return false;
  return selector.matchers.every(({ label, sign, value }) => {
    if (label === "instance" || label === "job") return true;
    const own = labels.get(label) ?? "";
    const isEqual = sign.endsWith("~") ? new RegExp(`^(?:${value})$`).test(own) : own === value;
    return sign.startsWith("!") ? !isEqual : isEqual;
  });
}

/** A node and a wallet service with all that can be watched of them, each with its metrics. */
async function startWatched(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), "anulo-dashboards-"));
  const stops: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
  t.after(async () => {
    for (const stop of stops.reverse()) await stop();
  });
  const nodeCalls = createCallTally();
  const node = createNode({
    network: "regtest",
    fixedDifficulty: 1n,
    verifyThreads: 0,
    onCall: nodeCalls.onCall,
  });
  await node.start();
  stops.push(() => node.stop());
  const [nodeUrl = ""] = node.urls;
  const walletCalls = createCallTally();
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory: folder,
    daemon: { url: nodeUrl },
    trustedDaemon: true,
    network: "mainnet",
    store: { location: join(folder, "ledgers.mdb"), folder },
    // Nobody publishes events there.
    eventLog: { folder, natsAddress: "nats://127.0.0.1:1" },
    onCall: walletCalls.onCall,
  });
  stops.push(() => service.stop());
  const { monitor } = node;
  const wallet = service.createMonitor();
  const onLoopback = { host: "127.0.0.1", port: 0 };
  const nodeWatch = await startMetricsServer({
    ...onLoopback,
    metrics: nodeMetrics,
    source: { node: monitor, calls: nodeCalls, server: monitor.server },
    checks: nodeReadiness(monitor),
  });
  stops.push(nodeWatch.stop);
  const walletWatch = await startMetricsServer({
    ...onLoopback,
    metrics: walletMetrics,
    source: { wallet, calls: walletCalls, server: wallet.server },
    checks: wallet.checks,
  });
  stops.push(walletWatch.stop);
  return { nodeUrl, walletUrl: service.url, watched: [nodeWatch.url, walletWatch.url] };
}

test("every panel and every alert has data on a private chain", async (t) => {
  const { nodeUrl, walletUrl, watched } = await startWatched(t);
  const ask = (method: string, params: ExactObject = {}) => call(walletUrl, method, params);
  await ask("create_wallet", { filename: "w", language: "English" });
  const { address } = await ask("get_address");
  await call(nodeUrl, "generateblocks", { amount_of_blocks: 3, wallet_address: String(address) });
  await ask("refresh");
  await fetch(`${nodeUrl}/send_raw_transaction`, {
    method: "POST",
    body: '{"tx_as_hex":"00","do_sanity_checks":false}',
  });
  const { blob } = await call(nodeUrl, "get_block", { height: 2 });
  // Of a hard fork that does not exist.
  const wrong = `7f${String(blob).slice(2)}`;
  await assert.rejects(call(nodeUrl, "submit_block", [wrong] as unknown as ExactObject));
  await assert.rejects(ask("get_attribute", { key: "none" }));

  const series = (await Promise.all(watched.map(collect))).flat();
  const { parsePromql, operateExpressions } = await scripts();
  const expressions = operateExpressions();
  assert.ok(expressions.length > 90);
  const without = expressions.flatMap(({ where, text }) =>
    parsePromql(text)
      .selectors.filter(({ name }) => name !== "up")
      .filter((selector) => !series.some((one) => matches(one, selector)))
      .map(({ name }) => `${where}: ${name}`),
  );
  assert.deepEqual(without, []);
  const values = new Set(series.flatMap(({ labels }) => [...labels.values()]));
  for (const secret of [String(address), "w"]) assert.ok(!values.has(secret), "a label names a wallet");
});

test("what is no expression of ours is refused", async () => {
  const { parsePromql } = await scripts();
  const bad = [
    "",
    "rate(a)",
    "rate(a[5m]",
    "sum by (x (a)",
    "a{b=c}",
    'a{b="c}',
    "a b",
    "a +",
    "unknown(a)",
    "a # b",
  ];
  for (const text of bad) assert.throws(() => parsePromql(text), Error, text);
  const { selectors } = parsePromql('sum by (le) (rate(a_bucket{b="c", d!~"e|f"}[5m])) / b > 0.5');
  assert.deepEqual(
    selectors.map(({ name }) => name),
    ["a_bucket", "b"],
  );
});

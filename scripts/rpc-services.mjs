// The declarations of both services and, where a package exports them, the handlers bound to them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./sources.mjs";

async function load(name) {
  const file = join(root, "packages", name, "dist/src/index.js");
  return existsSync(file) ? await import(pathToFileURL(file).href) : {};
}

/** An export that is a list of implemented calls, or a function that gives one. */
function callsOf(exported) {
  return typeof exported === "function" ? exported() : exported;
}

/** Both services: key in contract.json, title, declared calls, and implemented calls if their package tells. */
export async function services() {
  const [rpc, node, wallet] = await Promise.all(["rpc", "node", "wallet"].map(load));
  return [
    {
      key: "node",
      title: "node service",
      groups: rpc.daemon,
      declared: Object.values(rpc.daemonMethods),
      calls: callsOf(node.nodeCalls),
    },
    {
      key: "wallet",
      title: "wallet service",
      groups: rpc.wallet,
      declared: Object.values(rpc.walletMethods),
      calls: callsOf(wallet.walletCalls),
    },
  ];
}

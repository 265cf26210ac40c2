// The declarations of both services and the handlers bound to them; needs a build.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { root } from "./sources.mjs";

async function load(file) {
  const path = join(root, "packages", file);
  return existsSync(path) ? await import(pathToFileURL(path).href) : {};
}

/** Both services: key in contract.json, title, declared calls, and the calls with their handlers. */
export async function services() {
  const rpc = await load("rpc/dist/src/index.js");
  const { nodeInterface } = await load("node/dist/src/rpc/calls.js");
  const { walletHandlers } = await load("wallet/dist/src/rpc/handlers.js");
  return [
    {
      key: "node",
      title: "node service",
      groups: rpc.daemon,
      declared: Object.values(rpc.daemonMethods),
      calls: nodeInterface?.().calls,
    },
    {
      key: "wallet",
      title: "wallet service",
      groups: rpc.wallet,
      declared: Object.values(rpc.walletMethods),
      calls: walletHandlers,
    },
  ];
}

// Calls that the original programs lack, as a wallet service of ours on a devnet answers them.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../sources.mjs";

const { startDevnet } = await import(join(root, "packages/devnet/dist/src/index.js"));
const { createWalletService } = await import(join(root, "packages/wallet/dist/src/index.js"));
const { parseJson } = await import(join(root, "packages/rpc/dist/src/json-parser.js"));

/** In their order: each is asked of a service that has done those before. */
function callsOf({ alice, seed }) {
  const destinations = [{ address: alice, amount: 1_000_000_000_000 }];
  const webhook = { url: "https://shop.example/hook", wallets: ["shop"], events: ["payment_confirmed"] };
  return [
    ["restore_deterministic_wallet", { filename: "shop", password: "", seed, restore_height: 0 }],
    ["refresh", {}],
    ["list_wallets", { limit: 10 }],
    ["get_default_fee_priority", {}],
    ["transfer", { destinations, idempotency_key: "order-17" }],
    ["incoming_transfers", { transfer_type: "all", account_index: 0 }],
    ["get_intent", { idempotency_key: "order-17" }],
    ["list_intents", { limit: 10 }],
    ["make_integrated_address", {}],
    ["split_integrated_address", ({ integrated_address }) => ({ integrated_address })],
    ["set_subaddress_lookahead", { major_idx: 3, minor_idx: 50, password: "" }],
    ["add_webhook", webhook],
    ["list_webhooks", {}],
    ["enable_webhook", ({ webhook_id }) => ({ webhook_id })],
    ["list_dead_letters", ({ webhook_id }) => ({ webhook_id })],
    ["replay_dead_letters", ({ webhook_id }) => ({ webhook_id })],
    ["remove_webhook", ({ webhook_id }) => ({ webhook_id })],
    ["create_token", { name: "till", scopes: ["read", "receive"], wallets: ["shop"], valid_for: 86_400 }],
    ["list_tokens", {}],
    ["revoke_token", ({ token_id }) => ({ token_id })],
    ["tag_accounts", { tag: "shops", accounts: [0] }],
    ["set_account_tag_description", { tag: "shops", description: "All shops" }],
    [
      "setup_background_sync",
      {
        background_sync_type: "custom-background-password",
        wallet_password: "",
        background_cache_password: "another",
      },
    ],
    ["start_background_sync", {}],
    ["stop_background_sync", { wallet_password: "" }],
  ];
}

async function ask(url, token, { method, params }) {
  const response = await fetch(`${url}/json_rpc`, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: "0", method, params }),
    headers: { Authorization: `Bearer ${token}` },
  });
  const { result, error } = parseJson(await response.text());
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}

/** Returns what was asked and answered, as { service, call, params, result }. */
export async function recordOurs() {
  const folder = mkdtempSync(join(tmpdir(), "anulo-examples-"));
  const net = await startDevnet({ seed: 1, wallets: { shop: [], alice: [] } });
  try {
    await net.fund({ shop: [2_000_000_000_000n, 3_000_000_000_000n] });
    const firstTokenFile = join(folder, "first");
    const service = await createWalletService({
      listen: [{ host: "127.0.0.1", port: 0 }],
      walletDirectory: folder,
      daemon: { url: net.nodeUrl },
      trustedDaemon: true,
      refreshPeriod: 0,
      access: { folder: join(folder, ".anulo-access"), firstTokenFile, isOnlyWay: true },
      eventLog: { folder: join(folder, "events") },
    });
    const token = readFileSync(firstTokenFile, "utf8").trim();
    const recorded = [];
    const answers = {};
    const { alice, shop } = net.wallets;
    for (const [method, input] of callsOf({ alice: alice.address, seed: shop.mnemonic })) {
      const params = typeof input === "function" ? input(answers) : input;
      const result = await ask(service.url, token, { method, params });
      recorded.push({ service: "wallet", call: method, params, result });
      for (const name of ["webhook_id", "token_id", "integrated_address"])
        if (result[name] !== undefined) answers[name] = result[name];
    }
    await service.stop();
    const pool = parseJson(await (await fetch(`${net.nodeUrl}/get_transaction_pool`)).text());
    recorded.push({ service: "node", call: "/get_transaction_pool", params: {}, result: pool });
    return recorded;
  } finally {
    await net.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

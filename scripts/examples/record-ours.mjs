// Calls that the original programs lack or refuse, as a node and a wallet service of ours on a devnet answer them.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../sources.mjs";

const { startDevnet } = await import(join(root, "packages/devnet/dist/src/index.js"));
const { createClient, daemonMethods, formatJson } = await import(
  join(root, "packages/rpc/dist/src/index.js")
);
const { createWalletService } = await import(join(root, "packages/wallet/dist/src/index.js"));
const { parseJson } = await import(join(root, "packages/rpc/dist/src/json-parser.js"));

/** In their order: each is sent to a service that has processed those before. */
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

/** Last, since they may change the chain. */
const miningCalls = [
  ["start_mining", { threads_count: 1, do_background_mining: false, ignore_battery: true }],
  ["stop_mining", {}],
];

/** Of the node, in their order; each may use what those before answered. */
function nodeCallsOf({ address, txid, genesisId }) {
  const client = address.slice(0, 64);
  const auxiliary = [{ id: "11".repeat(32), hash: "22".repeat(32) }];
  return [
    ["get_block_template", { wallet_address: address, reserve_size: 8 }],
    ["add_aux_pow", ({ blocktemplate_blob }) => ({ blocktemplate_blob, aux_pow: auxiliary })],
    ["/start_save_graph", {}],
    ["/stop_save_graph", {}],
    ["rpc_access_submit_nonce", { client, nonce: 1, cookie: 1 }],
    ["rpc_access_pay", { client, paying_for: "get_info", payment: 1 }],
    ["rpc_access_data", {}],
    ["rpc_access_account", { client, delta_balance: 0 }],
    ["/get_transaction_pool_hashes.bin", {}],
    ["/get_blocks.bin", { block_ids: genesisId, start_height: 0, prune: true, max_block_count: 2 }],
    ["/get_blocks_by_height.bin", { heights: [1] }],
    ["/get_hashes.bin", { block_ids: genesisId, start_height: 0 }],
    ["/get_o_indexes.bin", { txid }],
    ["/get_outs.bin", { outputs: [{ amount: 0, index: 1 }], get_txid: true }],
    ["/get_output_distribution.bin", { amounts: [0], from_height: 0, to_height: 3, cumulative: true }],
  ];
}

/** Calls a method; throws what it answers as an error, as { code, message }. */
async function ask(url, token, { method, params }) {
  const response = await fetch(`${url}/json_rpc`, {
    method: "POST",
    body: JSON.stringify({ jsonrpc: "2.0", id: "0", method, params }),
    headers: { Authorization: `Bearer ${token}` },
  });
  const { result, error } = parseJson(await response.text());
  if (error !== undefined)
    throw Object.assign(new Error(`${method}: ${error.message}`), { code: error.code });
  return result;
}

/** A view-only wallet's outputs, imported by a wallet that has never been connected to a node. */
async function recordImport(call, { shop }) {
  const { key: viewkey } = await call("query_key", { key_type: "view_key" });
  const keys = { filename: "shop-online", address: shop.address, viewkey, password: "", restore_height: 0 };
  await call("generate_from_keys", keys);
  await call("refresh", {});
  const { outputs_data_hex } = await call("export_outputs", { all: true });
  const cold = { filename: "shop-offline", password: "", seed: shop.mnemonic, restore_height: 0 };
  await call("restore_deterministic_wallet", cold);
  await call("import_outputs", { outputs_data_hex }, true);
}

/** The second round of keys of a wallet of two out of three signers. */
async function recordFinalize(call) {
  const names = ["signer-1", "signer-2", "signer-3"];
  const prepared = [];
  for (const filename of names) {
    await call("create_wallet", { filename, password: "", language: "English" });
    prepared.push((await call("prepare_multisig", { enable_multisig_experimental: true })).multisig_info);
  }
  const infos = [];
  for (const [i, filename] of names.entries()) {
    await call("open_wallet", { filename, password: "" });
    const multisig_info = prepared.filter((_, other) => other !== i);
    infos.push((await call("make_multisig", { multisig_info, threshold: 2, password: "" })).multisig_info);
  }
  await call("finalize_multisig", { multisig_info: infos.slice(0, 2), password: "" }, true);
}

const bytesOf = (hex) => Buffer.from(hex, "hex");
/** Params whose bytes are hexadecimal, as a client takes them. */
const withBytes = ({ block_ids, txid, ...params }) => ({
  ...params,
  ...(block_ids !== undefined && { block_ids: [bytesOf(block_ids)] }),
  ...(txid !== undefined && { txid: bytesOf(txid) }),
});

/** A value of portable storage as JSON: bytes as hexadecimal, packed items one after the other. */
function inHex(value, schema) {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) {
    const items = value.map((item) => inHex(item, schema?.items));
    return schema?.type === "string" ? items.join("") : items;
  }
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(
    members.map(([name, member]) => [name, inHex(member, schema?.properties?.[name])]),
  );
}

/** What a node answers to a call, as { result } or { error }. */
async function askNode(url, call, params) {
  if (call.name.endsWith(".bin")) {
    const client = createClient({ it: { ...call, transport: "binary" } }, url);
    const schema = call.result.describe({ of: "answer", dialect: "contract" });
    try {
      return { result: inHex(await client.it(withBytes(params)), schema) };
    } finally {
      client.close();
    }
  }
  const isMethod = call.transport === "jsonRpc";
  const body = isMethod ? { jsonrpc: "2.0", id: "0", method: call.name, params } : params;
  const response = await fetch(isMethod ? `${url}/json_rpc` : url + call.name, {
    method: "POST",
    body: formatJson(body),
  });
  const answer = parseJson(await response.text());
  return isMethod ? answer : { result: answer };
}

async function recordNode(url, { address }) {
  const calls = new Map(Object.values(daemonMethods).map((call) => [call.name, call]));
  const [genesis, first] = [
    await askNode(url, calls.get("get_block"), { height: 0 }),
    await askNode(url, calls.get("get_block"), { height: 1 }),
  ].map(({ result }) => result.block_header);
  const ids = { genesisId: genesis.hash, txid: first.miner_tx_hash };
  const recorded = [];
  let template;
  for (const [name, input] of nodeCallsOf({ address, ...ids })) {
    const params = typeof input === "function" ? input(template) : input;
    const { result, error } = await askNode(url, calls.get(name), params);
    if (name === "get_block_template") template = result;
    recorded.push({ service: "node", call: name, params, result, error });
  }
  return recorded;
}

/** Returns requests and responses, as { service, call, params, result } or with an error in place of the result. */
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
    const call = async (method, params, isExample = false) => {
      const result = await ask(service.url, token, { method, params });
      if (isExample) recorded.push({ service: "wallet", call: method, params, result });
      return result;
    };
    for (const [method, input] of callsOf({ alice: alice.address, seed: shop.mnemonic })) {
      const result = await call(method, typeof input === "function" ? input(answers) : input, true);
      for (const name of ["webhook_id", "token_id", "integrated_address"])
        if (result[name] !== undefined) answers[name] = result[name];
    }
    await recordImport(call, { shop });
    await recordFinalize(call);
    const pool = parseJson(await (await fetch(`${net.nodeUrl}/get_transaction_pool`)).text());
    recorded.push({ service: "node", call: "/get_transaction_pool", params: {}, result: pool });
    recorded.push(...(await recordNode(net.nodeUrl, shop)));
    for (const [method, params] of miningCalls) await call(method, params, true);
    await service.stop();
    return recorded;
  } finally {
    await net.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

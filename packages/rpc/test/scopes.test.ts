/** What the declarations say about tokens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { daemonMethods } from "../src/daemon/daemon.ts";
import type { Call } from "../src/define.ts";
import { discover } from "../src/openrpc.ts";
import { walletResources } from "../src/wallet/resources.ts";
import { walletMethods } from "../src/wallet/wallet.ts";

const calls: readonly Call[] = [...Object.values(walletMethods), discover];
const named = (test: (call: Call) => boolean): string[] =>
  calls
    .filter(test)
    .map(({ name }) => name)
    .sort();

test("every call and resource of the wallet service says which scope it needs", () => {
  assert.deepEqual(
    named(({ scope }) => scope === undefined),
    [],
  );
  for (const { path, scope } of Object.values(walletResources)) assert.ok(scope !== undefined, path);
  assert.ok(
    Object.values(daemonMethods).every((call: Call) => call.scope === undefined),
    "the node has no tokens",
  );
});

test("what any token may call tells nothing of a wallet", () => {
  assert.deepEqual(
    named(({ scope }) => scope === "any"),
    ["get_languages", "get_version", "rpc.discover"],
  );
});

test("what is about the open wallet needs one; only the period of refreshes is also set without", () => {
  const withoutWallet = named(({ reach, needs }) => reach === "wallet" && !needs.includes("openWallet"));
  assert.deepEqual(withoutWallet, ["auto_refresh"]);
});

test("what takes the name of a wallet's file is about that wallet", () => {
  const taking = named(
    ({ params }) => "fields" in params && Object.hasOwn(params.fields as object, "filename"),
  );
  assert.deepEqual(
    named(({ reach }) => reach === "filename"),
    taking,
  );
});

test("what changes a wallet or sends is more than reading", () => {
  const acting = named(({ reads, scope }) => !reads && (scope === "read" || scope === "any"));
  assert.deepEqual(acting, []);
});

/** The names in a text of several lines. */
const namesIn = (text: string): string[] => text.trim().split(/\s+/);

// Whoever adds a call here or takes one away decides who may change what.
const acting = {
  spend: `
    add_address_book delete_address_book edit_address_book export_multisig_info freeze import_key_images
    import_multisig_info import_outputs relay_tx sign_multisig sign_transfer submit_multisig
    submit_transfer sweep_all sweep_dust sweep_single thaw transfer transfer_split
  `,
  receive: `
    create_account create_address label_account label_address refresh rescan_spent scan_tx
    set_account_tag_description set_attribute set_tx_notes store tag_accounts untag_accounts
  `,
  secrets: `
    prepare_multisig
  `,
  admin: `
    add_webhook auto_refresh change_wallet_password close_wallet create_token create_wallet
    enable_webhook exchange_multisig_keys finalize_multisig generate_from_keys make_multisig open_wallet
    remove_webhook replay_dead_letters rescan_blockchain restore_deterministic_wallet revoke_token
    set_daemon set_log_categories set_log_level set_subaddress_lookahead setup_background_sync
    start_background_sync start_mining stop_background_sync stop_mining stop_wallet
  `,
};

test("these calls of the wallet service act, each by the scope of what it changes; all others only read", () => {
  for (const [of, names] of Object.entries(acting))
    assert.deepEqual(
      named(({ reads, scope }) => !reads && scope === of),
      namesIn(names),
      of,
    );
  const all = Object.values(acting).flatMap(namesIn).sort();
  assert.deepEqual(
    named(({ reads }) => !reads),
    all,
  );
});

test("these calls of the node act; all others only read", () => {
  const names = `
    /in_peers /out_peers /pop_blocks /save_bc /send_raw_transaction /set_bootstrap_daemon /set_limit
    /set_log_categories /set_log_hash_rate /set_log_level /start_mining /stop_daemon /stop_mining
    /update flush_cache flush_txpool generateblocks prune_blockchain relay_tx rpc_access_account
    rpc_access_pay rpc_access_submit_nonce rpc_access_tracking set_bans submit_block
  `;
  const found = Object.values(daemonMethods).filter(({ reads }: Call) => !reads);
  assert.deepEqual(found.map(({ name }) => name).sort(), namesIn(names));
});

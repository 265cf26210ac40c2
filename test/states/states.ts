/** The states a wallet service can be in, and the way into each. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Dialect } from "@anulo/rpc";
import { CallFailed, call, type ExactObject, formatExact, loadChain } from "@anulo/testkit";
import { changeSettings } from "../interop/two-services.ts";

/** A wallet service that runs. */
export type Service = {
  readonly url: string;
  readonly walletDir: string;
  /** Where its node listens, as `host:port`. */
  readonly node: string;
};

export type ServiceOptions = {
  /** A service that opens no wallet but the one in its folder to begin with. */
  readonly restricted?: boolean;
  /** Whether it has a folder of wallets. */
  readonly hasDirectory?: boolean;
  readonly isOffline?: boolean;
  /** What ours speaks, if not what the others do. */
  readonly dialect?: Dialect;
  /** Left out, a new folder. */
  readonly walletDir?: string;
};

/** Starts a service, which lives until the test is over. */
export type Start = (options: ServiceOptions) => Promise<Service>;

export const stateNames = [
  "no wallet",
  "no wallet directory",
  "ordinary",
  "view-only",
  "multisig, not ready",
  "multisig, ready",
  "multisig, disabled",
  "offline",
  "untrusted node",
  "restricted",
  "background syncing",
  "background wallet",
] as const;
export type StateName = (typeof stateNames)[number];

const { alice, bob } = loadChain().wallets;
export const file = { filename: "wallet", password: "" } as const;

/** Something of everything a wallet stores besides what is in the chain. */
async function furnish({ url }: Service): Promise<void> {
  await call(url, "auto_refresh", { enable: false });
  await call(url, "create_address", { account_index: 0, label: "an address" });
  await call(url, "create_account", { label: "an account" });
  await call(url, "tag_accounts", { tag: "tag", accounts: [1] });
  await call(url, "set_account_tag_description", { tag: "tag", description: "of no matter" });
  await call(url, "set_attribute", { key: "key", value: "value" });
  await call(url, "set_tx_notes", { txids: ["5c".repeat(32)], notes: ["a note"] });
  await call(url, "add_address_book", { address: bob.address, description: "bob" });
}

/** Restores the wallet, gives it something to lose, and scans where there is a node. */
async function furnished(service: Service): Promise<Service> {
  await call(service.url, "restore_deterministic_wallet", { ...file, seed: alice.mnemonic });
  await furnish(service);
  return service;
}

async function scanned(service: Service): Promise<Service> {
  await furnished(service);
  await call(service.url, "refresh");
  return service;
}

async function viewOnly(service: Service): Promise<Service> {
  const { address, view_key: viewkey } = alice;
  await call(service.url, "generate_from_keys", { ...file, address, viewkey });
  await furnish(service);
  await call(service.url, "refresh");
  return service;
}

/** A wallet after the first round with others, of whom the threshold is two; answers what each of them says next. */
async function joined(start: Start, others: number): Promise<{ service: Service; told: string[] }> {
  const service = await scanned(await start({}));
  const signers = [service];
  for (let i = 0; i < others; i++) {
    const signer = await start({ dialect: "upstream" });
    await call(signer.url, "create_wallet", { ...file, language: "English" });
    signers.push(signer);
  }
  const first: string[] = [];
  for (const signer of signers) first.push(await prepare(signer));
  const told: string[] = [];
  for (const [i, { url }] of signers.entries()) {
    const multisig_info = first.toSpliced(i, 1);
    const made = await call(url, "make_multisig", { multisig_info, threshold: 2, password: "" });
    told.push(String(made.multisig_info));
  }
  return { service, told: told.slice(1) };
}

async function prepare({ url }: Service): Promise<string> {
  const experiment = { enable_multisig_experimental: true };
  return String((await call(url, "prepare_multisig", experiment)).multisig_info);
}

async function ready(start: Start): Promise<Service> {
  const { service, told } = await joined(start, 1);
  await call(service.url, "exchange_multisig_keys", { multisig_info: told, password: "" });
  return service;
}

const enter: { readonly [S in StateName]: (start: Start) => Promise<Service> } = {
  "no wallet": (start) => start({}),
  "no wallet directory": (start) => start({ hasDirectory: false }),
  ordinary: async (start) => scanned(await start({})),
  "view-only": async (start) => viewOnly(await start({})),
  "multisig, not ready": async (start) => (await joined(start, 2)).service,
  "multisig, ready": ready,
  "multisig, disabled": async (start) => {
    const service = await ready(start);
    await call(service.url, "close_wallet");
    await changeSettings(service, file.filename, { enable_multisig: 0 });
    await call(service.url, "open_wallet", file);
    return service;
  },
  offline: async (start) => furnished(await start({ isOffline: true })),
  "untrusted node": async (start) => {
    const service = await scanned(await start({}));
    await call(service.url, "set_daemon", { address: service.node, trusted: false });
    return service;
  },
  "background syncing": async (start) => {
    const service = await scanned(await start({}));
    const setup = { background_sync_type: "reuse-wallet-password", wallet_password: file.password };
    await call(service.url, "setup_background_sync", setup);
    await call(service.url, "start_background_sync");
    return service;
  },
  "background wallet": async (start) => {
    const service = await scanned(await start({}));
    await call(service.url, "setup_background_sync", {
      background_sync_type: "custom-background-password",
      wallet_password: file.password,
      background_cache_password: "b",
    });
    await call(service.url, "close_wallet");
    await call(service.url, "open_wallet", { filename: `${file.filename}.background`, password: "b" });
    return service;
  },
  restricted: async (start) => {
    const maker = await scanned(await start({}));
    await call(maker.url, "close_wallet");
    return await start({ restricted: true, walletDir: maker.walletDir });
  },
};

/** Brings a new service into a state. */
export const enterState = (name: StateName, start: Start): Promise<Service> => enter[name](start);

/** What a caller receives: the result, or code and message of the refusal. */
export type Told = { readonly result: ExactObject } | { readonly code: number; readonly message: string };

export async function ask({ url }: Service, method: string, params: ExactObject = {}): Promise<Told> {
  try {
    return { result: await call(url, method, params) };
  } catch (error) {
    if (!(error instanceof CallFailed)) throw error;
    return { code: error.code, message: error.reason };
  }
}

const everything = { in: true, out: true, pending: true, failed: true, pool: true, all_accounts: true };
const questions: readonly (readonly [string, ExactObject])[] = [
  ["get_height", {}],
  ["get_balance", { all_accounts: true }],
  ["get_accounts", {}],
  ["get_account_tags", {}],
  ["get_address", {}],
  ["get_transfers", everything],
  ["incoming_transfers", { transfer_type: "all" }],
  ["get_address_book", {}],
  ["get_attribute", { key: "key" }],
  ["get_tx_notes", { txids: ["5c".repeat(32)] }],
  ["is_multisig", {}],
  ["query_key", { key_type: "mnemonic" }],
  ["query_key", { key_type: "spend_key" }],
  ["query_key", { key_type: "view_key" }],
];

/** All that can be seen of a service: what it answers, and the bytes of its files but its log. */
export async function observe(service: Service): Promise<string> {
  const answers: string[] = [];
  for (const [method, params] of questions) {
    answers.push(`${method} ${formatExact((await ask(service, method, params)) as ExactObject)}`);
  }
  // In folders is what a service keeps of all its wallets. What addresses are recognised by is kept once it is computed.
  const names = readdirSync(service.walletDir, { withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^service\.log|\.anulo\.addresses$/.test(entry.name))
    .map(({ name }) => name);
  const files = names.sort().map((name) => {
    const bytes = readFileSync(join(service.walletDir, name));
    return `${name} ${createHash("sha256").update(bytes).digest("hex")}`;
  });
  return [...answers, ...files].join("\n");
}

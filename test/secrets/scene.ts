/** Wallets with secrets that are known, on a node with a login, all of it logged as much as it can be. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createClient, createLog, daemonMethods } from "@anulo/rpc";
import { call, type ExactObject, loadChain, type RunningDaemon, startDaemon } from "@anulo/testkit";
import { createWalletService, type WalletService } from "@anulo/wallet";
import type { Secret } from "./traces.ts";

const { alice, bob } = loadChain().wallets;
export const login = { user: "somebody", password: "kRz7-login-Vq31" };
export const passwords = ["pXw9-wallet-Ty52", "mQe4-changed-Lo86", "sJh2-wrong-Ni73"] as const;
export const seedOffset = "dFg5-offset-Ub94";
/** Enough for rings of unlocked outputs. */
const BLOCKS = 80;

export type Scene = {
  readonly node: RunningDaemon;
  readonly nodeLog: () => string;
  readonly service: WalletService;
  readonly others: readonly WalletService[];
  /** All that was logged by the wallet services, and said to the terminal by this process. */
  readonly said: () => string;
  readonly address: string;
};

/** What this process writes to the terminal by other ways than the test runner's. */
function listenToTerminal(t: TestContext): () => string {
  let text = "";
  const { write } = process.stderr;
  process.stderr.write = ((chunk: string | Uint8Array) => {
    text += String(chunk);
    return true;
  }) as typeof write;
  t.after(() => {
    process.stderr.write = write;
  });
  return () => text;
}

function shown(value: unknown): unknown {
  if (value instanceof Error) {
    const { stack, message, cause, ...more } = value;
    return { stack, message, cause: shown(cause), ...more };
  }
  if (typeof value === "bigint") return String(value);
  return value;
}

/** Two signers of one address, and the strings they exchanged. */
async function shareAddress(services: readonly WalletService[]): Promise<void> {
  const prepared = [];
  for (const [i, { url }] of services.entries()) {
    await call(url, "create_wallet", { filename: `signer${i}`, password: passwords[0], language: "English" });
    prepared.push(await call(url, "prepare_multisig", { enable_multisig_experimental: true }));
  }
  const strings = prepared.map(({ multisig_info }) => String(multisig_info));
  for (const [i, { url }] of services.entries()) {
    const multisig_info = [strings[1 - i]!];
    await call(url, "make_multisig", { multisig_info, threshold: 2, password: passwords[0] });
  }
}

export async function raise(t: TestContext): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), "anulo-secrets-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const nodeLog = join(folder, "node.log");
  const account = `${login.user}:${login.password}`;
  const node = await startDaemon(
    { kind: "ours" },
    { extra: ["--rpc-login", account, "--log-level", "4", "--log-file", nodeLog] },
  );
  t.after(() => node.stop());
  const terminal = listenToTerminal(t);
  let logged = "";
  const log = createLog({
    write: ({ event, fields }) => {
      const values = Object.entries(fields).map(([name, value]) => [name, shown(value)]);
      logged += `${event} ${JSON.stringify(Object.fromEntries(values))}\n`;
    },
    categories: "4",
  });
  const start = async () => {
    const service = await createWalletService({
      listen: [{ host: "127.0.0.1", port: 0 }],
      walletDirectory: folder,
      daemon: { url: node.url, login },
      trustedDaemon: true,
      network: "regtest",
      refreshPeriod: 0,
      dialect: "contract",
      log,
    });
    t.after(() => service.stop());
    return service;
  };
  const [service, ...others] = await Promise.all([start(), start(), start()]);
  const client = createClient(daemonMethods, node.url, { login });
  const mine = (blocks: number) =>
    client.generateBlocks({ amount_of_blocks: blocks, wallet_address: alice.address });
  await mine(BLOCKS);
  const made: ExactObject = { filename: "hot", password: passwords[0], seed: alice.mnemonic };
  await call(service!.url, "restore_deterministic_wallet", made);
  await call(service!.url, "refresh");
  const destinations = [{ address: bob.address, amount: 10 ** 12 }];
  await call(service!.url, "transfer", { destinations });
  await shareAddress(others);
  const [signer] = others;
  const shared = await call(signer!.url, "get_address", { account_index: 0 });
  const toSigners = [{ address: String(shared.address), amount: 10 ** 12 }];
  await call(service!.url, "transfer", { destinations: toSigners });
  await mine(12);
  client.close();
  for (const { url } of [service!, ...others]) await call(url, "refresh");
  for (const { url } of others) await call(url, "export_multisig_info");
  return {
    node,
    nodeLog: () => readFileSync(nodeLog, "utf8") + node.output(),
    service: service!,
    others,
    said: () => logged + terminal(),
    address: alice.address,
  };
}

/** Copies: what is wiped later stays known to the test. */
export function secretsOf({ service, others }: Pick<Scene, "service" | "others">): Secret[] {
  const of = (kind: Secret["kind"], values: Iterable<Uint8Array | string | undefined>): Secret[] =>
    [...values].flatMap((value) =>
      value === undefined
        ? []
        : [{ kind, value: typeof value === "string" ? value : Uint8Array.from(value) }],
    );
  const wallets = [service, ...others].map(({ opened }) => opened!.wallet);
  return [
    ...of("seed", [alice.mnemonic]),
    ...of(
      "spend key",
      wallets.map(({ signer }) => signer.keys.spendSecret),
    ),
    ...of(
      "view key",
      wallets.map(({ keys }) => keys.viewSecret),
    ),
    ...of(
      "transaction key",
      wallets.flatMap(({ state }) => [...state.txKeys].flatMap(([, keys]) => keys)),
    ),
    ...of(
      "multisig key",
      wallets.flatMap(({ signer }) => signer.keys.multisig?.shares ?? []),
    ),
    ...of(
      "multisig nonce",
      wallets.flatMap(({ state }) => [...state.multisigNonces.values()].flat()),
    ),
    ...of("wallet password", passwords),
    ...of("login password", [login.password]),
    ...of("seed offset", [seedOffset]),
  ];
}

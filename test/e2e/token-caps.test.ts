/** What tokens with caps may spend, on a chain with money. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Devnet, startDevnet } from "@anulo/devnet";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { parseJson } from "@anulo/rpc";
import { createWalletService, type WalletService } from "@anulo/wallet";

type Told = { readonly [key: string]: unknown };

const folder = mkdtempSync(join(tmpdir(), "anulo-caps-"));
let devnet: Devnet;
let service: WalletService;
let admin = "";

/** The service with alice's wallet, which takes tokens. */
async function start(): Promise<void> {
  service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory: folder,
    daemon: { url: devnet.nodeUrl },
    trustedDaemon: true,
    network: "regtest",
    refreshPeriod: 0,
    eventLog: { folder: join(folder, ".anulo-events") },
    access: { folder: join(folder, ".anulo-access"), firstTokenFile: join(folder, "first") },
  });
}

before(async () => {
  devnet = await startDevnet({ seed: 29 });
  await devnet.mine(130);
  await start();
  admin = readFileSync(join(folder, "first"), "utf8").trim();
  await ask(admin, "restore_deterministic_wallet", {
    filename: "alice",
    seed: devnet.wallets.alice.mnemonic,
  });
  await ask(admin, "refresh");
});
after(async () => {
  await service.stop();
  await devnet.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(token: string, method: string, params: object = {}): Promise<Told> {
  const body = JSON.stringify({ id: 0, method, params }, (_, value) =>
    typeof value === "bigint" ? `${value}` : value,
  );
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${service.url}/wallets/alice/json_rpc`, { method: "POST", body, headers });
  const { result, error } = parseJson(await response.text()) as { result: Told; error?: Told };
  if (error !== undefined)
    throw Object.assign(new Error(String(error.message)), { code: Number(error.code) });
  return result;
}

const make = async (cap: object): Promise<{ token: string; id: string }> => {
  const order = { name: "payer", scopes: ["read", "spend"], wallets: ["alice"], ...cap };
  const { token, token_id } = await ask(admin, "create_token", order);
  return { token: String(token), id: String(token_id) };
};

async function spentBy(id: string): Promise<bigint> {
  const { tokens } = await ask(admin, "list_tokens");
  return BigInt(String((tokens as Told[]).find(({ token_id }) => token_id === id)!.spent_hour));
}

const pay = (amount: bigint, more: object = {}) => ({
  destinations: [{ address: devnet.wallets.bob.address, amount }],
  ...more,
});
const outlayOf = ({ amount, fee }: Told): bigint => BigInt(String(amount)) + BigInt(String(fee));
const overCap = { code: -403, message: /^Forbidden: this token may not spend so much/ };

test("amount and fee are counted, and what is above the cap is not signed", async () => {
  const { token, id } = await make({ cap_hour: 3n * coin });
  const first = await ask(token, "transfer", pay(coin));
  assert.equal(await spentBy(id), outlayOf(first));
  // With its fee it is more than is left.
  await assert.rejects(ask(token, "transfer", pay(2n * coin)), overCap);
  assert.equal(await spentBy(id), outlayOf(first));
  const second = await ask(token, "transfer_split", pay(coin));
  const [amount] = second.amount_list as unknown[];
  const [fee] = second.fee_list as unknown[];
  assert.equal(await spentBy(id), outlayOf(first) + outlayOf({ amount, fee }));
});

test("what is swept is counted though nobody named an amount", async () => {
  const { token, id } = await make({ cap_day: coin });
  const address = devnet.wallets.bob.address;
  await assert.rejects(ask(token, "sweep_all", { address }), overCap);
  const { transfers } = await ask(token, "incoming_transfers", { transfer_type: "available" });
  const { key_image } = (transfers as Told[]).find(({ amount }) => BigInt(String(amount)) > coin)!;
  await assert.rejects(ask(token, "sweep_single", { address, key_image }), overCap);
  assert.equal(await spentBy(id), 0n);
});

test("of payments at once no more pass than the cap allows", async () => {
  const { token, id } = await make({ cap_hour: (5n * coin) / 2n });
  const tries = await Promise.allSettled(Array.from({ length: 8 }, () => ask(token, "transfer", pay(coin))));
  const paid = tries.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  assert.equal(paid.length, 2);
  for (const each of tries) if (each.status === "rejected") assert.equal(each.reason.code, -403);
  assert.equal(
    await spentBy(id),
    paid.reduce((sum, each) => sum + outlayOf(each), 0n),
  );
});

test("a payment repeated with its key is counted once, also after a restart", async () => {
  const { token, id } = await make({ cap_hour: (3n * coin) / 2n });
  const asked = pay(coin, { idempotency_key: "once" });
  const [first, ...others] = await Promise.all(
    Array.from({ length: 5 }, () => ask(token, "transfer", asked)),
  );
  for (const other of others) assert.deepEqual(other, first);
  assert.equal(await spentBy(id), outlayOf(first!));
  await service.stop();
  await start();
  assert.deepEqual(await ask(token, "transfer", asked), first);
  assert.equal(await spentBy(id), outlayOf(first!));
  await assert.rejects(ask(token, "transfer", pay(coin)), overCap);
});

test("nothing is signed to be sent later, and only what was counted may be sent again", async () => {
  const { token, id } = await make({ cap_hour: (3n * coin) / 2n });
  const later = { do_not_relay: true, get_tx_metadata: true };
  const notSent = { code: -403, message: /have anything signed that is not sent/ };
  await assert.rejects(ask(token, "transfer", pay(coin, { ...later, get_tx_hex: true })), notSent);
  assert.equal(await spentBy(id), 0n);
  const made = await ask(token, "transfer", pay(coin, { get_tx_metadata: true }));
  assert.equal(await spentBy(id), outlayOf(made));
  const elsewhere = await ask(admin, "transfer", pay(coin, later));
  const notCounted = { code: -403, message: /send what was not counted for it/ };
  await assert.rejects(ask(token, "relay_tx", { hex: elsewhere.tx_metadata }), notCounted);
  const other = await make({ cap_hour: 100n * coin });
  await assert.rejects(ask(other.token, "relay_tx", { hex: made.tx_metadata }), notCounted);
  assert.equal((await ask(token, "relay_tx", { hex: made.tx_metadata })).tx_hash, made.tx_hash);
  assert.equal(await spentBy(id), outlayOf(made));
});

test("key images are shown to tokens that may spend or have secrets, and to no other", async () => {
  const params = { transfer_type: "all" };
  const imagesFor = async (scopes: readonly string[]): Promise<unknown[]> => {
    const { token } = await ask(admin, "create_token", { name: "looks", scopes, wallets: ["alice"] });
    const { transfers } = await ask(String(token), "incoming_transfers", params);
    return (transfers as Told[]).map(({ key_image }) => key_image);
  };
  const [known, hidden] = [await imagesFor(["read", "secrets"]), await imagesFor(["read", "receive"])];
  assert.ok(known.length > 0 && known.every((image) => image !== ""));
  assert.deepEqual(
    hidden,
    known.map(() => ""),
  );
  assert.deepEqual(await imagesFor(["read", "spend"]), known);
});

test("what can't be counted is refused for a token with a cap", async () => {
  const { token } = await make({ cap_day: 1000n * coin });
  for (const [method, params] of [
    ["sign_transfer", { unsigned_txset: "00" }],
    ["submit_transfer", { tx_data_hex: "00" }],
    ["sign_multisig", { tx_data_hex: "00" }],
    ["submit_multisig", { tx_data_hex: "00" }],
  ] as const)
    await assert.rejects(ask(token, method, params), { code: -403, message: /can't be counted/ }, method);
});

test("each spend by a token is an event of its wallet", async () => {
  const { token, id } = await make({});
  const { tx_hash, amount, fee } = await ask(token, "transfer", pay(coin));
  const events = async (): Promise<Told[]> => {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch(`${service.url}/wallets/alice/events?types=token_spent&limit=1000`, {
      headers,
    });
    return (parseJson(await response.text()) as { events: Told[] }).events.filter(
      (event) => event.token_id === id,
    );
  };
  let told = await events();
  while (told.length === 0) told = await events();
  const [event] = told;
  assert.deepEqual([event!.tx_hashes, String(event!.amount)], [[tx_hash], `${outlayOf({ amount, fee })}`]);
});

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, type TestContext, test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import { CallFailed, call, type Devnet, type Exact, type ExactObject, startDevnet } from "@anulo/testkit";
import { type AliasOptions, createWalletService, type WalletServiceOptions } from "@anulo/wallet";
import { listOf } from "../actors.ts";

let devnet: Devnet;
const bob = () => devnet.wallets.bob.address;
const recordOf = (address: string) => `oa1:xmr recipient_address=${address}; recipient_name=Bob;`;

/** A name server: the texts of each name, whether it says that they were checked, what it was asked. */
const texts = new Map<string, readonly string[]>();
const askedFor: string[] = [];
let isChecked = true;
let port = 0;

function answerTo(question: Buffer): Buffer {
  const labels: string[] = [];
  for (let at = 12; question[at] !== 0; at += 1 + question[at]!)
    labels.push(question.toString("latin1", at + 1, at + 1 + question[at]!));
  askedFor.push(labels.join("."));
  const records = (texts.get(labels.join(".")) ?? []).map((text) => {
    const parts = text.match(/.{1,255}/g) ?? [];
    const data = Buffer.concat(
      parts.map((part) => Buffer.concat([Buffer.of(part.length), Buffer.from(part)])),
    );
    return Buffer.concat([Buffer.of(0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 60, 0, data.length), data]);
  });
  const answer = Buffer.concat([question, ...records]);
  answer.writeUInt16BE(isChecked ? 0x81a0 : 0x8180, 2);
  answer.writeUInt16BE(records.length, 6);
  return Buffer.concat([Buffer.of(answer.length >> 8, answer.length & 0xff), answer]);
}

const server = createServer((socket) => {
  socket.once("data", (bytes: Buffer) => socket.end(answerTo(bytes.subarray(2))));
});

before(async () => {
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  port = address !== null && typeof address === "object" ? address.port : 0;
  devnet = await startDevnet();
  await devnet.mine(80);
  texts.set("bob.example.org", ["v=spf1 -all", recordOf(bob())]);
});
after(async () => {
  await devnet.stop();
  server.close();
});

type Alice = (method: string, params?: Exact) => Promise<ExactObject>;

/** Calls of a service of its own with alice's wallet. */
async function startAlice(t: TestContext, options: Partial<WalletServiceOptions>): Promise<Alice> {
  const walletDirectory = mkdtempSync(join(tmpdir(), "anulo-alias-"));
  const service = await createWalletService({
    listen: [{ host: "127.0.0.1", port: 0 }],
    walletDirectory,
    daemon: { url: devnet.nodeUrl },
    trustedDaemon: true,
    dialect: "upstream",
    ...options,
  });
  t.after(async () => {
    await service.stop();
    rmSync(walletDirectory, { recursive: true, force: true });
  });
  const seed = devnet.wallets.alice.mnemonic;
  await call(service.url, "restore_deterministic_wallet", { filename: "alice", password: "", seed });
  askedFor.length = 0;
  return (method, params = {}) => call(service.url, method, params);
}

const servers = () => [{ host: "127.0.0.1", port }];
type Aliases = { readonly aliases: AliasOptions };
const trusting = (): Aliases => ({ aliases: { servers: servers(), trustServers: true } });
const doubting = () => ({ aliases: { servers: servers(), trustServers: false } });

const paying = (...addresses: string[]) => ({
  destinations: addresses.map((address) => ({ address, amount: coin })),
  get_tx_key: false,
});

function refusal(reason: string) {
  return (error: unknown) => {
    assert.ok(error instanceof CallFailed, String(error));
    assert.deepEqual([error.code, error.reason], [-2, reason]);
    return true;
  };
}
const noAddress = (text: string) => refusal(`WALLET_RPC_ERROR_CODE_WRONG_ADDRESS: ${text}`);
const unproven = refusal("Invalid DNSSEC for bob@example.org");

const validation = (found: string) => ({
  integrated: false,
  nettype: found === "" ? "" : "mainnet",
  openalias_address: found,
  subaddress: false,
  valid: found !== "",
});

test("a name whose answer a trusted resolver has checked stands for its address", async (t) => {
  const alice = await startAlice(t, trusting());
  await alice("refresh");
  const asked = { address: "bob@example.org", allow_openalias: true };
  assert.deepEqual(await alice("validate_address", asked), validation(bob()));
  assert.deepEqual(await alice("validate_address", { ...asked, any_net_type: true }), validation(bob()));
  const without = { address: "bob@example.org" };
  assert.deepEqual(await alice("validate_address", without), validation(""));

  askedFor.length = 0;
  const { tx_hash } = await alice("transfer", paying("bob@example.org", "bob.example.org", bob()));
  assert.deepEqual(askedFor, ["bob.example.org", "bob.example.org"]);
  const { transfer } = await alice("get_transfer_by_txid", { txid: String(tx_hash) });
  const destinations = listOf((transfer as ExactObject).destinations);
  assert.deepEqual(
    destinations.map(({ address }) => address),
    [bob(), bob(), bob()],
  );
  await devnet.mine(1);
  assert.equal((await devnet.wallets.bob.balance()).balance, 3n * coin);
  await alice("refresh");
  const single = { address: "bob.example.org", get_tx_keys: false };
  assert.equal(listOf((await alice("transfer_split", paying("bob.example.org"))).amount_list).length, 1);
  assert.ok(
    listOf((await alice("sweep_all", { ...single, below_amount: coin * 40n })).tx_hash_list).length > 0,
  );

  await alice("add_address_book", { address: "bob@example.org", description: "Bob" });
  await alice("add_address_book", { address: devnet.wallets.alice.address });
  await alice("edit_address_book", { index: 1, set_address: true, address: "bob.example.org" });
  const { entries } = await alice("get_address_book");
  assert.deepEqual(
    listOf(entries).map(({ address }) => address),
    [bob(), bob()],
  );
  const { signature } = await devnet.wallets.bob.call("sign", { data: "words" });
  const signed = { data: "words", signature: String(signature) };
  assert.equal((await alice("verify", { ...signed, address: "bob@example.org" })).good, true);
});

test("a name is not paid where its answer was not checked, or who says so is not trusted", async (t) => {
  const cases = [
    { options: trusting(), checked: false },
    { options: doubting(), checked: true },
  ];
  t.after(() => {
    isChecked = true;
  });
  for (const { options, checked } of cases) {
    isChecked = checked;
    const alice = await startAlice(t, options);
    const name = { address: "bob@example.org" };
    await assert.rejects(alice("transfer", paying("bob@example.org")), unproven);
    await assert.rejects(alice("transfer_split", paying(bob(), "bob@example.org")), unproven);
    await assert.rejects(alice("sweep_all", name), unproven);
    await assert.rejects(alice("sweep_single", { ...name, key_image: "00".repeat(32) }), unproven);
    await assert.rejects(alice("add_address_book", name), unproven);
    await assert.rejects(alice("verify", { ...name, data: "", signature: "" }), unproven);
    assert.equal(askedFor.length, 6);
    const asked = { ...name, allow_openalias: true };
    assert.deepEqual(await alice("validate_address", asked), validation(""));
    assert.equal((await alice("get_transfers", { out: true, pending: true, pool: true })).out, undefined);
  }
});

test("names without an address of the network, and texts that are no names, are no addresses", async (t) => {
  texts.set("testnet.example.org", [recordOf(`9${bob().slice(1)}`)]);
  texts.set("many.example.org", Array<string>(65).fill(recordOf(bob())));
  const alice = await startAlice(t, trusting());
  const names = ["nobody@example.org", "testnet.example.org", "many.example.org"];
  for (const name of names) {
    await assert.rejects(alice("transfer", paying(name, "never.example.org")), noAddress(name));
    const asked = { address: name, any_net_type: true, allow_openalias: true };
    assert.deepEqual(await alice("validate_address", asked), validation(""));
  }
  assert.deepEqual(
    askedFor,
    names.map((name) => name.replace("@", ".")).flatMap((name) => [name, name]),
  );
  askedFor.length = 0;
  for (const text of ["bob", `${bob()}x`, "monero:4?tx_amount=1.5"])
    await assert.rejects(alice("transfer", paying(text)), noAddress(text));
  assert.deepEqual(askedFor, []);
});

test("no name is asked for without leave", async (t) => {
  const alice = await startAlice(t, {});
  await assert.rejects(alice("transfer", paying("bob@example.org")), noAddress("bob@example.org"));
  assert.deepEqual(askedFor, []);
});

/** A SOCKS proxy that notes the ports it is asked for, and lets nobody through. */
async function startProxy(t: TestContext): Promise<{ port: number; asked: number[] }> {
  const asked: number[] = [];
  const proxy = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (bytes: Buffer) => {
      asked.push(bytes.readUInt16BE(2));
      socket.destroy();
    });
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  t.after(() => proxy.close());
  const address = proxy.address();
  return { port: address !== null && typeof address === "object" ? address.port : 0, asked };
}

test("behind a proxy only servers that were named are asked, through it", async (t) => {
  const proxy = await startProxy(t);
  const daemon = { url: devnet.nodeUrl, proxy: { host: "127.0.0.1", port: proxy.port } };
  const unnamed: Aliases = { aliases: { trustServers: true } };
  for (const options of [unnamed, trusting()]) {
    const alice = await startAlice(t, { daemon, ...options });
    await assert.rejects(alice("transfer", paying("bob@example.org")), noAddress("bob@example.org"));
    assert.deepEqual(askedFor, []);
    assert.equal(proxy.asked.includes(53), false);
    assert.equal(proxy.asked.includes(port), options.aliases.servers !== undefined);
  }
});

test("the documented answer of validate_address says whether the input was a name", async (t) => {
  const alice = await startAlice(t, { ...trusting(), dialect: "contract" });
  const asked = (address: string) => alice("validate_address", { address, allow_openalias: true });
  assert.deepEqual(await asked("bob@example.org"), { ...validation(bob()), openalias_address: true });
  assert.deepEqual(await asked(bob()), { ...validation(bob()), openalias_address: false });
});

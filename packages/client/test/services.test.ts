import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Devnet, startDevnet } from "@anulo/devnet";
import { realProgramsMissing, startDaemon, startWallet } from "@anulo/testkit";
import {
  createNodeClient,
  createWalletClient,
  HttpError,
  type NodeClient,
  RpcError,
  type WalletClient,
  walletErrorCodes,
} from "../src/index.ts";

let net: Devnet;
let node: NodeClient;
let alice: WalletClient;

before(async () => {
  net = await startDevnet();
  node = createNodeClient(net.nodeUrl);
  alice = createWalletClient(net.wallets.alice.url);
});
after(() => net.stop());

const amount = 1_234_567_890_123n;

test("mining, paying and reading, with exact amounts", async () => {
  const { address } = await alice.getAddress();
  const { height } = await node.generateBlocks({ amount_of_blocks: 80, wallet_address: address });
  assert.equal(height, 80);
  await alice.refresh();
  const { unlocked_balance } = await alice.getBalance();
  assert.equal(typeof unlocked_balance, "bigint");
  const sent = await alice.transfer({
    destinations: [{ address: net.wallets.bob.address, amount }],
    get_tx_key: true,
  });
  assert.equal(sent.amount, amount);
  assert.match(sent.tx_hash, /^[0-9a-f]{64}$/);
  const { transactions } = await node.getTransactionPool();
  assert.deepEqual(
    transactions.map(({ id_hash }) => id_hash),
    [sent.tx_hash],
  );
  assert.equal(transactions[0]!.fee, sent.fee);
  assert.deepEqual(await node.getBlockCount(), await node.getBlockCount([]));
  const { distributions } = await node.getOutputDistribution({ amounts: [0n] });
  assert.ok(distributions[0]!.distribution.length > 0);
});

test("a refusal has its code, and the name of its code", async () => {
  const destinations = [{ address: net.wallets.bob.address, amount: 2n ** 63n }];
  const failure = await alice.transfer({ destinations }).catch((error: unknown) => error);
  assert.ok(failure instanceof RpcError);
  assert.equal(failure.kind, "NOT_ENOUGH_MONEY");
  assert.equal(failure.code, walletErrorCodes.NOT_ENOUGH_MONEY);
  assert.equal(failure.call, "transfer");
  assert.match(failure.idempotencyKey ?? "", /^[0-9a-f]{32}$/);
  const unknown = await node.getBlock({ height: 1_000_000n }).catch((error: unknown) => error);
  assert.ok(
    unknown instanceof RpcError && unknown.kind === undefined && unknown.code === -2,
    String(unknown),
  );
});

test("a wallet is reached by its name", async () => {
  const named = createWalletClient(net.wallets.alice.url, { wallet: "my wallet" });
  await named.createWallet({ filename: "my wallet", password: "", language: "English" });
  const { address } = await named.getAddress();
  assert.notEqual(address, net.wallets.alice.address);
  await named.closeWallet();
  const { wallets } = await alice.listWallets();
  assert.ok(wallets.some(({ name }) => name === "my wallet"));
});

test("a payment that is not to be sent gets no key by itself", async () => {
  const destinations = [{ address: net.wallets.bob.address, amount: 1n }];
  await alice.transfer({ destinations, do_not_relay: true });
  const { intents } = await alice.listIntents();
  assert.equal(intents.length, 1);
});

const login = { user: "me", password: 'pass"word' };

/** Each call of its own, and many at once. */
async function callWithLogin(url: string): Promise<void> {
  const wallet = createWalletClient(url, { login });
  const versions = await Promise.all(Array.from({ length: 5 }, () => wallet.getVersion()));
  assert.ok(versions.every(({ version }) => version > 0));
  const denied = (error: unknown) => error instanceof HttpError && error.status === 401;
  await assert.rejects(
    createWalletClient(url, { login: { ...login, password: "other" } }).getVersion(),
    denied,
  );
  await assert.rejects(createWalletClient(url).getVersion(), denied);
}

test("a login of our wallet service", async () => {
  const service = await startWallet({ kind: "ours" }, { login: `${login.user}:${login.password}` });
  try {
    await callWithLogin(service.url);
  } finally {
    await service.stop();
  }
});

const skip = realProgramsMissing() ?? false;

test("a login of monero-wallet-rpc", { skip }, async () => {
  const service = await startWallet({ kind: "real" }, { login: `${login.user}:${login.password}` });
  try {
    await callWithLogin(service.url);
  } finally {
    await service.stop();
  }
});

test("monerod and monero-wallet-rpc answer as declared", { skip }, async () => {
  const daemon = await startDaemon({ kind: "real" });
  const service = await startWallet({ kind: "real" }, { daemonPort: daemon.port });
  try {
    const original = createNodeClient(daemon.url);
    const wallet = createWalletClient(service.url);
    await wallet.createWallet({ filename: "alice", password: "", language: "English" });
    const { address } = await wallet.getAddress();
    // A few at a time: on a busy machine its proof of work takes longer than one answer may.
    for (let blocks = 0; blocks < 80; blocks += 10)
      await original.generateBlocks({ amount_of_blocks: 10, wallet_address: address });
    const info = await original.getInfo();
    assert.deepEqual([info.height, info.difficulty, info.status], [81, 1n, "OK"]);
    await wallet.refresh();
    const { tx_hash } = await wallet.transfer({
      destinations: [{ address: net.wallets.bob.address, amount }],
    });
    const { txs } = await original.getTransactions({ txs_hashes: [tx_hash] });
    assert.equal(txs[0]!.in_pool, true);
    const { transfers } = await wallet.getTransferByTxid({ txid: tx_hash });
    assert.equal(transfers[0]!.amount, amount);
  } finally {
    await service.stop();
    await daemon.stop();
  }
});

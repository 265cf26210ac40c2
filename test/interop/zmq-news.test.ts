import assert from "node:assert/strict";
import { test } from "node:test";
import {
  call,
  type ExactObject,
  freePorts,
  loadChain,
  post,
  type RunningDaemon,
  sendTransaction,
  startDaemon,
  submitBlock,
  subscribe,
  until,
  type ZmqClient,
  zmqClientMissing,
} from "@anulo/testkit";
import { makerOf, needsRealPrograms } from "../actors.ts";

const skip = needsRealPrograms.skip || (zmqClientMissing() ?? false);
const chain = loadChain();
/** Blocks of the recorded chain the nodes begin with; there are payments in those that follow. */
const BEGINNING = chain.blocks.findIndex(({ txs }) => txs.length > 0);

/** A busy machine may take as long to report. */
const PATIENCE_MS = 300_000;
/** Blocks of the recorded chain that are announced, and the minimum number of messages, where more are wanted. */
const { ANULO_ZMQ_BLOCKS = "40", ANULO_ZMQ_MESSAGES = "0" } = process.env;

/** Two publishers side by side, each with a subscriber; what is done to one is done to the other. */
class Pair {
  readonly daemons: readonly RunningDaemon[];
  readonly clients: readonly ZmqClient[];

  constructor(daemons: readonly RunningDaemon[], clients: readonly ZmqClient[]) {
    this.daemons = daemons;
    this.clients = clients;
  }

  async each(act: (url: string) => Promise<unknown>): Promise<void> {
    for (const { url } of this.daemons) await act(url);
  }

  /** Sends a transaction to both, and waits until both have announced it. */
  async pay(hex: string, options: ExactObject = {}): Promise<void> {
    const before = this.clients.map(({ messages }) => told(messages));
    await this.each((url) =>
      Object.keys(options).length === 0
        ? sendTransaction(url, hex)
        : post(`${url}/send_raw_transaction`, { tx_as_hex: hex, do_sanity_checks: false, ...options }),
    );
    await this.#tell(before);
  }

  async #tell(before: readonly number[]): Promise<void> {
    for (const [i, client] of this.clients.entries())
      await client.until((messages) => told(messages) > before[i]!);
  }

  async relay(txid: string): Promise<void> {
    const before = this.clients.map(({ messages }) => told(messages));
    await this.each((url) => call(url, "relay_tx", { txids: [txid] }));
    await this.#tell(before);
  }

  async feed(blocks: typeof chain.blocks): Promise<void> {
    for (const { blob, txs } of blocks) {
      for (const hex of txs) await this.pay(hex);
      await this.each((url) => submitBlock(url, blob));
    }
  }

  /** Mines a block on the first and gives it (hex) to the other. */
  async mine(): Promise<string> {
    const [miner, other] = this.daemons as [RunningDaemon, RunningDaemon];
    const { height } = await call(miner.url, "get_info");
    await call(miner.url, "generateblocks", {
      amount_of_blocks: 1,
      wallet_address: chain.wallets.alice.address,
    });
    const { blob } = await call(miner.url, "get_block", { height: height! });
    await submitBlock(other.url, String(blob));
    return String(blob);
  }

  /** Waits until both have said as much, and the same; the number of messages. */
  async compare(mend: (theirs: readonly string[]) => readonly string[] = (them) => them): Promise<number> {
    const [given, ours] = this.clients.map(({ messages }) => messages) as [string[], string[]];
    await until(async () => given.length === ours.length, PATIENCE_MS);
    const theirs = mend(given);
    for (const [i, message] of theirs.entries()) assert.equal(ours[i], message, `message ${i}`);
    assert.equal(ours.length, theirs.length);
    return ours.length;
  }
}

/**
 * The original counts the fees of a branch as new coins in what it says of its end once more. Source: DIFFERENCES.md,
 * ZeroMQ; blockchain.cpp `handle_alternative_block`.
 */
function withoutFees(messages: readonly string[], payments: number): string[] {
  const short = messages.filter((message) => message.startsWith("json-minimal-txpool_add:"));
  const fees = short.slice(-payments).reduce((sum, text) => sum + BigInt(/"fee":(\d+)/.exec(text)![1]!), 0n);
  const at = messages.findLastIndex((message) => message.startsWith("json-full-miner_data:"));
  const mended = messages[at]!.replace(
    /(?<="already_generated_coins":)\d+/,
    (coins) => `${BigInt(coins) - fees}`,
  );
  return messages.with(at, mended);
}

/** How many of these announce transactions in short. */
function told(messages: readonly string[]): number {
  return messages.filter((message) => message.startsWith("json-minimal-txpool_add:")).length;
}

async function withPair(play: (pair: Pair) => Promise<void>): Promise<void> {
  const started: { stop(): Promise<void> }[] = [];
  const keep = <T extends { stop(): Promise<void> }>(it: T): T => {
    started.push(it);
    return it;
  };
  try {
    const makers = [makerOf("real"), makerOf("ours")];
    const ports = await freePorts(2);
    const endpoints = ports.map((port) => `tcp://127.0.0.1:${port}`);
    const daemons = await Promise.all(
      makers.map(async (maker, i) => keep(await startDaemon(maker, { publishAt: [endpoints[i]!] }))),
    );
    const clients = await Promise.all(endpoints.map(async (endpoint) => keep(await subscribe(endpoint))));
    const pair = new Pair(daemons, clients);
    // The subscription follows the handshake: from the first block that both announce nothing is missed.
    await pair.feed(chain.blocks.slice(0, 1));
    let first = 1;
    while (!clients.every(({ messages }) => messages.length > 0)) {
      await pair.feed(chain.blocks.slice(first, first + 1));
      first++;
    }
    for (const { messages } of clients) {
      const at = `"first_height":${first}`;
      await until(async () => messages.some((text) => text.includes(at)), PATIENCE_MS);
      (messages as string[]).length = 0;
    }
    await pair.feed(chain.blocks.slice(first, BEGINNING));
    await play(pair);
  } finally {
    for (const it of started.reverse()) await it.stop();
  }
}

test("blocks and payments are told of in the same words and order", { skip }, async (t) => {
  await withPair(async (pair) => {
    await pair.feed(chain.blocks.slice(BEGINNING, BEGINNING + Number(ANULO_ZMQ_BLOCKS)));
    while (pair.clients[1]!.messages.length < Number(ANULO_ZMQ_MESSAGES)) await pair.mine();
    t.diagnostic(`${await pair.compare()} messages`);
    assert.ok(pair.clients[0]!.messages.some((message) => message.startsWith("json-full-txpool_add:")));
  });
});

test("payments that wait while blocks come and go are told of alike", { skip }, async (t) => {
  await withPair(async (pair) => {
    // A block without payments, which comes back when some wait.
    const empty = await pair.mine();
    await pair.each((url) => post(`${url}/pop_blocks`, { nblocks: 1 }));
    const payments = chain.blocks.slice(BEGINNING).flatMap(({ txs }) => txs);
    for (const hex of payments.slice(0, 4)) await pair.pay(hex);
    await pair.each((url) => submitBlock(url, empty));
    for (let i = 0; i < 3; i++) await pair.mine();
    await pair.each((url) => post(`${url}/pop_blocks`, { nblocks: 4 }));
    await pair.each((url) => submitBlock(url, empty));
    for (let i = 0; i < 2; i++) await pair.mine();
    const count = await pair.compare();
    t.diagnostic(`${count} messages`);
    const waiting = pair.clients[1]!.messages.filter((message) => message.includes('"tx_backlog":[{'));
    assert.ok(waiting.length >= 2);
  });
});

test("a heavier branch is told of block by block, and once more", { skip }, async (t) => {
  await withPair(async (pair) => {
    const payments = chain.blocks.slice(BEGINNING).flatMap(({ txs }) => txs);
    const pop = (nblocks: number) => pair.each((url) => post(`${url}/pop_blocks`, { nblocks }));
    const lighter = [await pair.mine(), await pair.mine()];
    await pop(2);
    for (const hex of payments.slice(0, 2)) await pair.pay(hex);
    const heavier = [await pair.mine()];
    await pair.pay(payments[2]!);
    heavier.push(await pair.mine(), await pair.mine());
    await pop(3);
    for (const blob of [...lighter, ...heavier]) await pair.each((url) => submitBlock(url, blob));
    const count = await pair.compare((theirs) => withoutFees(theirs, 3));
    const { messages } = pair.clients[1]!;
    const repeated = messages.filter((message, i) => messages.indexOf(message) !== i);
    assert.ok(repeated.some((message) => message.startsWith("json-minimal-chain_main:")));
    t.diagnostic(`${count} messages, ${repeated.length} of them again`);
  });
});

test("what is kept here is told of at once, and again when it is let go", { skip }, async () => {
  await withPair(async (pair) => {
    await pair.pay(chain.blocks[BEGINNING]!.txs[0]!, { do_not_relay: true });
    const [, hash] = /^json-minimal-txpool_add:\[\{"id":"(\w+)"/.exec(pair.clients[1]!.messages.at(-1)!)!;
    await pair.relay(hash!);
    await pair.compare();
    assert.equal(
      pair.clients[1]!.messages.filter((message) => message.includes(`[{"id":"${hash}"`)).length,
      2,
    );
  });
});

test("libzmq gets what it subscribed to, and nothing else", {
  skip: zmqClientMissing() ?? false,
}, async () => {
  const [port] = await freePorts(1);
  const endpoint = `tcp://127.0.0.1:${port}`;
  const daemon = await startDaemon({ kind: "ours" }, { publishAt: [endpoint] });
  const clients: ZmqClient[] = [];
  try {
    for (const prefix of ["json-minimal", "json-full-miner_data", ""])
      clients.push(await subscribe(endpoint, [prefix]));
    let height = 1;
    const mine = () => submitBlock(daemon.url, chain.blocks[height++ - 1]!.blob);
    while (!clients.every(({ messages }) => messages.length > 0)) await mine();
    await mine();
    // What was published before may still be on its way: the last block is waited for by its height.
    const [short, work] = [`"first_height":${height - 1},`, `"height":${height},`];
    const hears = (client: ZmqClient, text: string) =>
      client.until((messages) => messages.some((message) => message.includes(text)));
    await hears(clients[0]!, short);
    await hears(clients[1]!, work);
    await hears(clients[2]!, short);
    await hears(clients[2]!, work);
    // One message of each block.
    for (const { messages } of clients.slice(0, 2)) assert.equal(new Set(messages).size, messages.length);
    const topicsOf = ({ messages }: ZmqClient) =>
      new Set(messages.map((text) => text.slice(0, text.indexOf(":"))));
    assert.deepEqual([...topicsOf(clients[0]!)], ["json-minimal-chain_main"]);
    assert.deepEqual([...topicsOf(clients[1]!)], ["json-full-miner_data"]);
    assert.equal(topicsOf(clients[2]!).size, 3);
    // xmrig takes no longer ones.
    assert.ok(clients[0]!.messages.every((text) => text.length <= 1024));
  } finally {
    for (const client of clients) await client.stop();
    await daemon.stop();
  }
});

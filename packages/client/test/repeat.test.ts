import assert from "node:assert/strict";
import { test } from "node:test";
import { startDevnet } from "@anulo/devnet";
import {
  BadAnswer,
  ConnectionFailed,
  createNodeClient,
  createWalletClient,
  HttpError,
  RpcError,
} from "../src/index.ts";
import { type Fate, reply, startCutter, startFakeService } from "./cutter.ts";

/** The first so many requests with this in their body have that fate. */
function dropFirst(count: number, part: string, fate: Fate) {
  let left = count;
  return ({ body }: { body: string }): Fate => (body.includes(part) && left-- > 0 ? fate : "pass");
}

test("a payment whose answer was lost is made once, by our service", async () => {
  const net = await startDevnet();
  const cutter = await startCutter(net.wallets.alice.url, dropFirst(2, '"method":"transfer"', "drop after"));
  try {
    const alice = createWalletClient(cutter.url);
    await net.mine(80);
    await alice.refresh();
    const destinations = [{ address: net.wallets.bob.address, amount: 5n }];
    const { tx_hash } = await alice.transfer({ destinations });
    const { pending } = await alice.getTransfers({ pending: true });
    assert.deepEqual(
      pending?.map(({ txid }) => txid),
      [tx_hash],
    );
    const keys = cutter.received
      .filter(({ body }) => body.includes('"method":"transfer"'))
      .map(({ body }) => /"idempotency_key":"(\w+)"/.exec(body)?.[1]);
    assert.equal(keys.length, 3);
    assert.deepEqual(new Set(keys).size, 1);
  } finally {
    await cutter.close();
    await net.stop();
  }
});

test("a payment is not repeated where the service does not know its key", async () => {
  const service = await startFakeService(({ body }, response) => {
    if (body.includes('"method":"transfer"')) response.destroy();
    else reply(response, '"error":{"code":-32601,"message":"Method not found"}');
  });
  try {
    const wallet = createWalletClient(service.url);
    const failure = await wallet.transfer({ destinations: [] }).catch((error: unknown) => error);
    assert.ok(failure instanceof ConnectionFailed);
    assert.match(failure.idempotencyKey ?? "", /^[0-9a-f]{32}$/);
    const sent = service.received.filter(({ body }) => body.includes('"method":"transfer"'));
    assert.equal(sent.length, 1);
  } finally {
    await service.close();
  }
});

test("payments without keys, and calls that change something, are sent once", async () => {
  const service = await startFakeService((_, response) => void response.destroy());
  try {
    const wallet = createWalletClient(service.url, { idempotencyKeys: false });
    await assert.rejects(wallet.transfer({ destinations: [] }), ConnectionFailed);
    await assert.rejects(wallet.createAddress({ account_index: 0 }), ConnectionFailed);
    assert.equal(service.received.length, 2);
    assert.ok(!service.received[0]!.body.includes("idempotency_key"));
  } finally {
    await service.close();
  }
});

test("reads are repeated as often as wanted, and no refusal is", async () => {
  let failures = 2;
  const service = await startFakeService((_, response) => {
    if (failures-- > 0) response.writeHead(503, { "Retry-After": "0" }).end();
    else reply(response, '"error":{"code":-2,"message":"Too big height"}');
  });
  try {
    await assert.rejects(createNodeClient(service.url).getBlock({ height: 5n }), RpcError);
    assert.equal(service.received.length, 3);
    failures = 1;
    await assert.rejects(createNodeClient(service.url, { retries: 0 }).getInfo(), HttpError);
    assert.equal(service.received.length, 4);
  } finally {
    await service.close();
  }
});

test("a call ends with its signal, and with its time", async () => {
  const service = await startFakeService(() => {});
  try {
    const node = createNodeClient(service.url, { retries: 0 });
    const control = new AbortController();
    const pending = node.getInfo({}, { signal: control.signal });
    const reason = new Error("no longer wanted");
    control.abort(reason);
    await assert.rejects(pending, reason);
    await assert.rejects(node.getInfo({}, { signal: control.signal }), reason);
    await assert.rejects(node.getInfo({}, { timeoutMs: 20 }), ConnectionFailed);
  } finally {
    await service.close();
  }
});

test("a token is sent as it was given", async () => {
  const service = await startFakeService((_, response) =>
    reply(response, '"result":{"version":65562,"release":true}'),
  );
  try {
    await createWalletClient(service.url, { token: "abc" }).getVersion();
    assert.equal(service.received[0]!.headers.authorization, "Bearer abc");
  } finally {
    await service.close();
  }
});

test("answers that are too long or not as declared are refused", async () => {
  const answers = [
    '"result":{"status":"OK"}',
    '"result":5',
    '"nothing":1',
    '"result":{"count":"1","status":"OK","untrusted":false}',
    '"error":{"code":"x"}',
  ];
  const service = await startFakeService((_, response) =>
    reply(response, answers.shift() ?? `"result":"${"x".repeat(5000)}"`),
  );
  try {
    const node = createNodeClient(service.url, { maxAnswerBytes: 1000 });
    for (let i = 0; i < 6; i++) await assert.rejects(node.getBlockCount(), BadAnswer, `answer ${i}`);
    assert.equal(service.received.length, 6);
  } finally {
    await service.close();
  }
});

test("an address that is none is refused at once", () => {
  for (const bad of ["localhost:18081", "ftp://localhost", "http://user:secret@localhost"])
    assert.throws(() => createNodeClient(bad), TypeError);
});

test("a wallet has no name by which a path leads elsewhere", () => {
  for (const wallet of ["", ".", ".."])
    assert.throws(() => createWalletClient("http://localhost:1", { wallet }), TypeError, wallet);
});

test("a token that no header can hold is refused at once, and not told", () => {
  for (const token of ["secret\nline", "secret ", "", "sécret"])
    assert.throws(
      () => createWalletClient("http://localhost:1", { token }),
      (error) => error instanceof TypeError && !error.message.includes("cret"),
    );
});

test("the body of a challenge is no longer than that of an answer", async () => {
  const service = await startFakeService((_, response) => {
    response.writeHead(401, { "WWW-Authenticate": 'Digest qop="auth",realm="r",nonce="n"' });
    response.end("x".repeat(5000));
  });
  try {
    const options = { login: { user: "a", password: "b" }, maxAnswerBytes: 1000 };
    await assert.rejects(createNodeClient(service.url, options).getBlockCount(), BadAnswer);
    assert.equal(service.received.length, 1);
  } finally {
    await service.close();
  }
});

test("a key that the service does not find is sent again only to a wallet with a name", async () => {
  const service = await startFakeService(({ body }, response) => {
    if (body.includes('"method":"transfer"')) response.destroy();
    else reply(response, '"error":{"code":-404,"message":"No such intent"}');
  });
  const transfers = () => service.received.filter(({ body }) => body.includes('"method":"transfer"')).length;
  try {
    const options = { retries: 1 };
    await assert.rejects(
      createWalletClient(service.url, options).transfer({ destinations: [] }),
      ConnectionFailed,
    );
    assert.equal(transfers(), 1);
    const named = createWalletClient(service.url, { ...options, wallet: "a" });
    await assert.rejects(named.transfer({ destinations: [] }), ConnectionFailed);
    assert.equal(transfers(), 3);
  } finally {
    await service.close();
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createRpcServer,
  type Dialect,
  implementFor,
  type ParamsOf,
  RpcError,
  wallet,
} from "../src/index.ts";

const { relayTx } = wallet.transfers;
const txid = "5c".repeat(32);

async function start(dialect: Dialect) {
  const heard: ParamsOf<typeof relayTx>[] = [];
  const calls = [
    ...implementFor<object>()(
      { relayTx, store: wallet.transfers.store },
      {
        relayTx: (params) => {
          heard.push(params);
          return { tx_hash: txid };
        },
        store: () => {
          throw new RpcError(-4, "lost", { tx_hash_list: [txid] });
        },
      },
    ),
  ];
  const listen = [{ host: "127.0.0.1", port: 0 }];
  const server = await createRpcServer({ calls, listen, dialect, context: () => ({}) });
  const post = async (body: unknown, key?: string) => {
    const headers = key === undefined ? {} : { "Idempotency-Key": key };
    const response = await fetch(`${server.urls[0]}/json_rpc`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return (await response.json()) as { error?: object; id: unknown };
  };
  const relay = (params: object, key?: string) => post({ method: "relay_tx", id: 1, params }, key);
  return { heard, post, relay, stop: () => server.stop() };
}

for (const dialect of ["contract", "upstream"] as const) {
  test(`a key comes as a field, as a header, in quotes or not, or as both: ${dialect}`, async (t) => {
    const { heard, relay, stop } = await start(dialect);
    t.after(stop);
    await relay({ hex: "" });
    await relay({ hex: "", idempotency_key: "one" });
    await relay({ hex: "" }, "one");
    await relay({ hex: "" }, '"one"');
    await relay({ hex: "", idempotency_key: "one" }, "one");
    await relay({ hex: "", idempotency_key: null }, "one");
    assert.deepEqual(
      heard.map(({ idempotency_key }) => idempotency_key),
      [undefined, "one", "one", "one", "one", "one"],
    );
  });

  test(`two different keys, or what is none, are refused before the call runs: ${dialect}`, async (t) => {
    const { heard, relay, stop } = await start(dialect);
    t.after(stop);
    const told = await relay({ hex: "", idempotency_key: "one" }, "two");
    const message = "Invalid params: the header Idempotency-Key and the field idempotency_key are different";
    assert.deepEqual(told.error, { code: -32602, message });
    for (const key of ["", " ", "a b", "é", "a".repeat(129), 5, true, ["a"]])
      assert.deepEqual((await relay({ hex: "", idempotency_key: key })).error, {
        code: -32602,
        message: "Invalid params",
      });
    assert.deepEqual((await relay({ hex: "" }, "a b")).error, { code: -32602, message: "Invalid params" });
    assert.deepEqual(heard, []);
    await relay({ hex: "", idempotency_key: "~".repeat(128) });
    assert.equal(heard.length, 1);
  });
}

test("a header does not go with a batch of calls that heed it", async (t) => {
  const { heard, post, stop } = await start("contract");
  t.after(stop);
  const relay = { method: "relay_tx", id: 1, params: { hex: "" } };
  const store = { method: "store", id: 2 };
  const message =
    "Invalid Request: the header Idempotency-Key does not go with a batch; give each call its idempotency_key";
  assert.deepEqual((await post([relay, store], "one")).error, { code: -32600, message });
  assert.deepEqual(heard, []);
  const keyed = [relay, relay].map((each, i) => ({ ...each, params: { hex: "", idempotency_key: `${i}` } }));
  await post(keyed);
  assert.deepEqual(
    heard.map(({ idempotency_key }) => idempotency_key),
    ["0", "1"],
  );
  assert.ok(Array.isArray(await post([store], "one")));
});

test("what programs are to read of a refusal is its data", async (t) => {
  const { post, stop } = await start("contract");
  t.after(stop);
  const { error } = await post({ method: "store", id: 1 });
  assert.deepEqual(error, { code: -4, data: { tx_hash_list: [txid] }, message: "lost" });
});

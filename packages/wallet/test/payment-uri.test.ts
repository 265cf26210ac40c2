import assert from "node:assert/strict";
import { test } from "node:test";
import { formatPaymentUri, parsePaymentUri } from "../src/keys/payment-uri.ts";
import { recorded } from "./recorded-node.ts";

const contract = { network: "regtest", takesPaymentIds: true } as const;
const upstream = { network: "regtest", takesPaymentIds: false } as const;
const request = {
  address: recorded.wallets.b!.address,
  paymentId: "",
  amount: 1_500_000_000_001n,
  recipientName: "",
  description: "",
};

test("texts are encoded as the original encodes them, = and ? besides, and read as they were written", () => {
  const description = " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\u007fäZ9";
  const uri = formatPaymentUri({ ...request, description }, contract);
  assert.ok(
    uri.endsWith(
      "?tx_amount=1.500000000001&tx_description=%20%21%22%23%24%25%26'()*%2B%2C-./%3A%3B%3C%3D%3E%3F%40%5B%5C%5D%5E_%60%7B%7C%7D%7E%7F%C3%A4Z9",
    ),
    uri,
  );
  assert.deepEqual(parsePaymentUri(uri, contract), { ...request, description, unknown: [] });
});

test("payment ids beside the address are for the contract; the original reads long ones and writes none", () => {
  const [short, long] = ["1".repeat(16), "2".repeat(64)];
  for (const paymentId of [short, long]) {
    const uri = formatPaymentUri({ ...request, paymentId }, contract);
    assert.equal(parsePaymentUri(uri, contract).paymentId, paymentId);
    assert.throws(() => formatPaymentUri({ ...request, paymentId }, upstream), /Standalone payment id/);
    if (paymentId === long) assert.equal(parsePaymentUri(uri, upstream).paymentId, long);
    else assert.throws(() => parsePaymentUri(uri, upstream), /Invalid payment id/);
  }
});

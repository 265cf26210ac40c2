import assert from "node:assert/strict";
import { test } from "node:test";
import { formatAddress, parseAddress } from "@anulo/protocol";
import { formatPaymentUri, parsePaymentUri } from "../src/keys/payment-uri.ts";
import { WalletRefusal } from "../src/refusal.ts";
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

const { spendPublic, viewPublic } = parseAddress(request.address, "regtest");
const integrated = formatAddress(
  { kind: "integrated", spendPublic, viewPublic, paymentId: new Uint8Array(8).fill(1) },
  "regtest",
);

test("a request that cannot be a URI is refused with its reason", () => {
  const refusal = (changes: object, message: RegExp) =>
    assert.throws(
      () => formatPaymentUri({ ...request, ...changes }, contract),
      (error) => error instanceof WalletRefusal && error.kind === "WRONG_URI" && message.test(error.message),
    );
  refusal({ address: "4nowhere" }, /supplied parameters: wrong address: 4nowhere$/);
  refusal({ address: integrated, paymentId: "1".repeat(16) }, /A single payment id is allowed$/);
  for (const paymentId of ["1", "1".repeat(17), "g".repeat(16), "1".repeat(63)])
    refusal({ paymentId }, /Invalid payment id$/);
});

test("an integrated address and no amount are written as they are", () => {
  const plain = { ...request, address: integrated, amount: 0n };
  assert.equal(formatPaymentUri(plain, upstream), `monero:${integrated}`);
  assert.deepEqual(parsePaymentUri(`monero:${integrated}`, upstream), { ...plain, unknown: [] });
  assert.deepEqual(parsePaymentUri(`monero:${integrated}?`, upstream), { ...plain, unknown: [] });
});

test("a URI that is none is refused with its reason", () => {
  const refusal = (uri: string, message: RegExp) =>
    assert.throws(
      () => parsePaymentUri(uri, contract),
      (error) => error instanceof WalletRefusal && error.kind === "WRONG_URI" && message.test(error.message),
    );
  const base = `monero:${request.address}`;
  refusal(request.address, /^Error parsing URI: URI has wrong scheme \(expected "monero:"\): /);
  refusal("monero:4nowhere?tx_amount=1", /URI has wrong address: 4nowhere$/);
  refusal(`${base}?tx_amount`, /URI has wrong parameter: tx_amount$/);
  refusal(`${base}?tx_amount=1&&`, /URI has wrong parameter: $/);
  refusal(`${base}?tx_amount=1&tx_amount=1`, /URI has more than one instance of tx_amount$/);
  refusal(`${base}?tx_amount=1e3`, /URI has invalid amount: 1e3$/);
  refusal(
    `monero:${integrated}?tx_payment_id=${"1".repeat(16)}`,
    /Separate payment id given with an integrated/,
  );
});

test("parameters that are not known are told as they stand", () => {
  const uri = `monero:${request.address}?tx_amount=1.500000000001&colour=blue&x==`;
  assert.deepEqual(parsePaymentUri(uri, contract), { ...request, unknown: ["colour=blue", "x=="] });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  BadAddress,
  encodeBase58,
  formatAddress,
  fromHex,
  type NetworkName,
  parseAddress,
  toHex,
} from "../src/index.ts";

/** The two wallets of the recorded chain, and one integrated address of the second. */
const alice = {
  standard: "49hyd11a1bgDmgGmSxMiTqGwD6njnGpT877qjbV8N2uaJXafMZwqJh8ALz4VWz1TRuSgsioiNgiow6i7ETAboAc8TLWVAan",
  subaddress:
    "8AurS6t77rNLe5YH8DjazubGaCP4kx4oHHp3DoFHiZVjKEo1h569ijFepkn55MLPF1QrVrK7FnN1j7D3C6FCm2fPM9LyQi2",
};
const bob = {
  standard: "47eZwHG3pxEBooiMXAxG7Yb263NqXKemdEaRRVJ54nfcK9LSCumznJxgUYdbVK2e6ai1pgCJwakVL2fMqcH33EEuStHeS9i",
  integrated:
    "4HMEx65YSDkBooiMXAxG7Yb263NqXKemdEaRRVJ54nfcK9LSCumznJxgUYdbVK2e6ai1pgCJwakVL2fMqcH33EEufPCKnJkNvBbEsarR5q",
};

test("recorded addresses are read and written the same", () => {
  for (const [kind, text] of [...Object.entries(alice), ...Object.entries(bob)]) {
    const address = parseAddress(text, "regtest");
    assert.equal(address.kind, kind);
    assert.deepEqual(address.networks, ["mainnet", "regtest"]);
    assert.equal(formatAddress(address, "regtest"), text);
  }
});

test("an integrated address holds the standard one and the payment id", () => {
  const integrated = parseAddress(bob.integrated);
  assert.ok(integrated.kind === "integrated");
  assert.equal(toHex(integrated.paymentId), "799b885a7f56b27a");
  const { spendPublic, viewPublic } = parseAddress(bob.standard);
  assert.deepEqual([integrated.spendPublic, integrated.viewPublic], [spendPublic, viewPublic]);
});

test("each network writes its own prefix and refuses the others'", () => {
  const { spendPublic, viewPublic } = parseAddress(alice.standard);
  const first = { mainnet: "4", stagenet: "5", testnet: "9A", regtest: "4" } as const;
  for (const [network, letter] of Object.entries(first) as [NetworkName, string][]) {
    for (const kind of ["standard", "subaddress"] as const) {
      const text = formatAddress({ kind, spendPublic, viewPublic }, network);
      assert.equal(text.length, 95);
      if (kind === "standard") assert.ok(letter.includes(text[0]!));
      assert.equal(parseAddress(text, network).kind, kind);
      const other = network === "testnet" ? "mainnet" : "testnet";
      assert.throws(() => parseAddress(text, other), BadAddress);
    }
    const paymentId = fromHex("0102030405060708");
    const text = formatAddress({ kind: "integrated", spendPublic, viewPublic, paymentId }, network);
    assert.equal(text.length, 106);
    assert.deepEqual(parseAddress(text, network), {
      ...parseAddress(text),
      kind: "integrated",
      spendPublic,
      viewPublic,
      paymentId,
    });
  }
});

test("an address with one letter changed, cut or added is refused", () => {
  const text = alice.standard;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] === "A" ? "B" : "A";
    assert.throws(() => parseAddress(text.slice(0, at) + letter + text.slice(at + 1)), BadAddress);
    assert.throws(() => parseAddress(text.slice(0, at)), BadAddress);
  }
  for (const bad of [`${text}1`, ` ${text}`, `${text} `, "", text.repeat(1000), "0".repeat(95)]) {
    assert.throws(() => parseAddress(bad), BadAddress);
  }
});

test("keys that are no points are refused even under a good checksum", () => {
  const { viewPublic } = parseAddress(alice.standard);
  const spendPublic = fromHex(`02${"00".repeat(31)}`);
  assert.throws(
    () => parseAddress(formatAddress({ kind: "standard", spendPublic, viewPublic }, "mainnet")),
    /not public keys/,
  );
});

test("any text is an address or BadAddress", () => {
  const texts = fc.oneof(
    fc.string({ maxLength: 120 }),
    fc.uint8Array({ maxLength: 80 }).map((bytes) => encodeBase58(bytes)),
  );
  fc.assert(
    fc.property(texts, (text) => {
      assert.throws(() => parseAddress(text), BadAddress);
    }),
  );
});

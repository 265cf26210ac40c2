import assert from "node:assert/strict";
import { test } from "node:test";
import { addressInRecord, aliasNameOf, resolveAddresses } from "../src/open-alias.ts";
import { turnsDuring } from "./event-loop-turns.ts";

const address = "4".repeat(95);
const integrated = "4".repeat(106);

test("a text record gives the address of its Monero part", () => {
  assert.equal(addressInRecord(`oa1:xmr recipient_address=${address}; recipient_name=A;`), address);
  assert.equal(addressInRecord(`oa1:xmr recipient_name=A;recipient_address=${integrated};`), integrated);
  assert.equal(
    addressInRecord(`oa1:btc recipient_address=1; oa1:xmr recipient_address=${address};`),
    address,
  );
});

test("a text record gives no address where it has none of a right length, or for another coin", () => {
  const records = [
    "",
    "v=spf1 -all",
    `recipient_address=${address};`,
    `oa1:btc recipient_address=${address};`,
    `recipient_address=${address}; oa1:xmr`,
    `oa1:xmr recipient_address=${address}`,
    `oa1:xmr recipient_address=${address}4;`,
    "oa1:xmr recipient_address=;",
  ];
  for (const record of records) assert.equal(addressInRecord(record), undefined, record);
});

test("names have a dot, or an @ in place of the first; nothing else is asked for", () => {
  assert.equal(aliasNameOf("donate@example.org"), "donate.example.org");
  assert.equal(aliasNameOf("donate.example.org"), "donate.example.org");
  const others = [
    "",
    "abc",
    address,
    `${address}.org`,
    "a@b@c.org",
    "a b.org",
    "monero:4?tx_amount=1.5",
    "a\0.org",
  ];
  for (const text of others) assert.equal(aliasNameOf(text), undefined, text);
});

test("many destinations are looked at in turns of the event loop", async () => {
  const destinations = Array.from({ length: 20_000 }, (_, i) => ({ address: `no address ${i}`, amount: i }));
  const service = { opened: undefined, options: { daemon: { url: "http://127.0.0.1:1" } } };
  const resolve = () => resolveAddresses(destinations, service);
  assert.ok((await turnsDuring(resolve)) > 1);
  assert.deepEqual(await resolve(), destinations);
});

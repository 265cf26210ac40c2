import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { RemoteError } from "@anulo/rpc";
import { WorkThreads } from "../src/threads/work-threads.ts";
import { startTestService, type TestServiceOptions } from "./service.ts";

/** Services with an ordinary wallet each, and the strings their wallets begin with. */
async function signers(count: number, dialect: NonNullable<TestServiceOptions["dialect"]>, t: TestContext) {
  const calls = [];
  for (let i = 0; i < count; i++) calls.push((await startTestService({ dialect }, t)).call);
  const strings: string[] = [];
  for (const call of calls) {
    await call.createWallet({ filename: "w", password: "p", language: "English" });
    strings.push((await call.prepareMultisig({ enable_multisig_experimental: true })).multisig_info);
  }
  return { calls, strings };
}

const isCode = (code: number) => (error: unknown) => error instanceof RemoteError && error.code === code;

test("by the interface document N of N signers are ready at once", async (t) => {
  const { calls, strings } = await signers(2, "contract", t);
  const [a, b] = calls as [(typeof calls)[0], (typeof calls)[0]];
  const made = [];
  for (const [i, call] of calls.entries())
    made.push(
      await call.makeMultisig({ multisig_info: strings.toSpliced(i, 1), threshold: 2, password: "p" }),
    );
  assert.deepEqual(made[0], { address: made[1]!.address, multisig_info: "" });
  assert.deepEqual(await a.isMultisig({}), { multisig: true, ready: true, threshold: 2, total: 2 });
  await assert.rejects(a.finalizeMultisig({ multisig_info: ["x"], password: "p" }), isCode(-28));
  await assert.rejects(b.prepareMultisig({}), isCode(-28));
});

test("a signer who was ready at once still confirms the address to one who asks for it", async (t) => {
  const [early] = (await signers(1, "contract", t)).calls as [
    Awaited<ReturnType<typeof startTestService>>["call"],
  ];
  const { calls, strings } = await signers(1, "upstream", t);
  const [late] = calls as [typeof early];
  const { multisig_info } = await early.prepareMultisig({});
  const made = { threshold: 2, password: "p" };
  await early.makeMultisig({ ...made, multisig_info: strings });
  const asked = await late.makeMultisig({ ...made, multisig_info: [multisig_info] });
  const answer = { multisig_info: [asked.multisig_info], password: "p" };
  const confirmed = await early.exchangeMultisigKeys(answer);
  await late.exchangeMultisigKeys({ multisig_info: [confirmed.multisig_info], password: "p" });
  assert.equal((await late.isMultisig({})).ready, true);
});

test("by the interface document N-1 of N signers are ready once finalized", async (t) => {
  const { calls, strings } = await signers(3, "contract", t);
  const next: string[] = [];
  for (const [i, call] of calls.entries()) {
    const others = strings.toSpliced(i, 1);
    next.push(
      (await call.makeMultisig({ multisig_info: others, threshold: 2, password: "p" })).multisig_info,
    );
  }
  const [a] = calls as [(typeof calls)[0]];
  assert.equal((await a.isMultisig({})).ready, false);
  await assert.rejects(a.exportMultisigInfo({}), isCode(-31));
  await assert.rejects(a.finalizeMultisig({ multisig_info: [next[1]!], password: "p" }), isCode(-33));
  const addresses = new Set<string>();
  for (const [i, call] of calls.entries()) {
    const { address } = await call.finalizeMultisig({ multisig_info: next.toSpliced(i, 1), password: "p" });
    addresses.add(address);
    assert.equal((await call.getAddress({})).address, address);
    assert.equal((await call.isMultisig({})).ready, true);
  }
  assert.equal(addresses.size, 1);
});

test("a signer's wallet is closed and opened again between the rounds, with its own password only", async (t) => {
  const { calls, strings } = await signers(2, "upstream", t);
  const [a, b] = calls as [(typeof calls)[0], (typeof calls)[0]];
  const first = { multisig_info: [strings[1]!], threshold: 2, password: "p" };
  await assert.rejects(a.makeMultisig({ ...first, password: "q" }), isCode(-22));
  assert.equal((await a.isMultisig({})).multisig, false);
  await a.makeMultisig(first);
  const told = await b.makeMultisig({ ...first, multisig_info: [strings[0]!] });
  await a.closeWallet({});
  await a.openWallet({ filename: "w", password: "p" });
  assert.deepEqual(await a.isMultisig({}), { multisig: true, ready: false, threshold: 2, total: 2 });
  const done = await a.exchangeMultisigKeys({ multisig_info: [told.multisig_info], password: "p" });
  assert.equal(done.address, told.address);
  const { key } = await a.queryKey({ key_type: "mnemonic" });
  assert.match(key, /^0200000002000000/);
  await a.closeWallet({});
  await a.openWallet({ filename: "w", password: "p" });
  assert.equal((await a.queryKey({ key_type: "mnemonic" })).key, key);
});

test("every round of a key exchange is worked out by a thread, not by the event loop", async (t) => {
  const { calls, strings } = await signers(3, "upstream", t);
  const { mock } = t.mock.method(WorkThreads.prototype, "run");
  const rounds = () =>
    mock.calls.map(({ arguments: [name] }) => name).filter((name) => name.endsWith("KeyExchange"));
  const made = { threshold: 2, password: "p" };
  const next: string[] = [];
  for (const [i, call] of calls.entries())
    next.push((await call.makeMultisig({ ...made, multisig_info: strings.toSpliced(i, 1) })).multisig_info);
  assert.deepEqual(rounds(), Array(3).fill("startKeyExchange"));
  const [a] = calls as [(typeof calls)[0]];
  const refused = a.exchangeMultisigKeys({ multisig_info: [next[1]!, "nonsense"], password: "p" });
  await assert.rejects(refused, /Error calling exchange_multisig_info: not a multisig string/);
  await a.exchangeMultisigKeys({ multisig_info: next.slice(1), password: "p" });
  assert.deepEqual(rounds().slice(3), Array(2).fill("continueKeyExchange"));
});

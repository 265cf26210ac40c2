/** Tokens: what they are made of, what they allow, how they end. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { silent } from "@anulo/rpc";
import { AuditLog } from "../src/access/audit-log.ts";
import { TokenBook, type TokenOrder } from "../src/access/token-book.ts";

function start(kept?: string) {
  const clock = { now: 1_700_000_000 };
  const files: string[] = kept === undefined ? [] : [kept];
  const disk = { isFull: false };
  const now = () => clock.now;
  const keep = async (text: string) => {
    if (disk.isFull) throw new Error("no space");
    files.push(text);
  };
  const audit = new AuditLog({ events: undefined, log: silent, now });
  const book = new TokenBook(kept, { keep, now, random: randomBytes, audit });
  return { book, clock, disk, written: () => files.at(-1) ?? "" };
}

const order = (more: Partial<TokenOrder> = {}): TokenOrder => ({
  name: "shop",
  scopes: ["read"],
  wallets: ["a"],
  validSeconds: 0,
  capHour: undefined,
  capDay: undefined,
  ...more,
});

test("a token is shown once; what is kept of it opens nothing, and knows it again", async () => {
  const { book, written } = start();
  const { id, text } = await book.create(order({ capDay: 2n ** 64n - 1n }), undefined);
  assert.match(text, /^anulo_[0-9a-f]{16}_[A-Za-z0-9_-]{43}$/);
  const secret = text.split("_").slice(2).join("_");
  assert.ok(!written().includes(secret));
  assert.ok(!written().includes(Buffer.from(secret, "base64url").toString("hex")));
  assert.equal(book.check(text)?.id, id);
  const again = start(written()).book.check(text);
  assert.equal(again?.record.capDay, 2n ** 64n - 1n);
  const { hash } = JSON.parse(written()).tokens[0];
  assert.equal(book.check(`anulo_${id}_${hash.slice(0, 43)}`), undefined, "the hash is no secret");
});

test("every other text is refused alike", async () => {
  const { book } = start();
  const { id, text } = await book.create(order(), undefined);
  const other = await book.create(order(), undefined);
  const secretOf = (token: string) => token.slice(23);
  const last = text.endsWith("A") ? "B" : "A";
  for (const wrong of [
    "",
    text.slice(0, -1),
    text.slice(0, -1) + last,
    `${text}A`,
    `${text} `,
    `${text}\n`,
    text.toUpperCase(),
    `anulo_${id}_`,
    `anulo_${id}_${secretOf(other.text)}`,
    `anulo_${"0".repeat(16)}_${secretOf(text)}`,
    "anulo_".repeat(10_000),
    "\u0000",
  ])
    assert.equal(book.check(wrong), undefined, JSON.stringify(wrong.slice(0, 80)));
  assert.equal(book.check(text)?.id, id);
});

test("it ends when its time is over or it is revoked, also after a restart", async () => {
  const { book, clock, written } = start();
  const short = await book.create(order({ validSeconds: 10 }), undefined);
  const long = await book.create(order(), undefined);
  clock.now += 9;
  assert.ok(book.check(short.text));
  clock.now += 1;
  assert.equal(book.check(short.text), undefined);
  const { ended } = book.check(long.text)!;
  assert.equal(await book.revoke(long.id, undefined), true);
  assert.ok(ended.aborted);
  assert.equal(book.check(long.text), undefined);
  assert.equal(start(written()).book.check(long.text), undefined);
  assert.equal(await book.revoke("none", undefined), false);
  assert.ok(book.isEmpty);
  clock.now += 31 * 24 * 3600;
  await book.create(order(), undefined);
  assert.equal(book.list().length, 1, "what has ended long ago is forgotten");
});

test("what can't be written is not made; what is revoked is so though that can't be written", async () => {
  const { book, disk, written } = start();
  const { id, text } = await book.create(order(), undefined);
  disk.isFull = true;
  await assert.rejects(book.create(order(), undefined), /can't be written: no space/);
  assert.equal(book.list().length, 1);
  await assert.rejects(book.revoke(id, undefined), /no space/);
  assert.equal(book.check(text), undefined);
  disk.isFull = false;
  assert.equal(await book.revoke(id, undefined), true, "said again, it is written");
  assert.notEqual(JSON.parse(written()).tokens[0].revoked, 0);
});

test("names, scopes and patterns that make no sense are refused, and caps that bound nothing", async () => {
  const { book } = start();
  const bad: [Partial<TokenOrder>, RegExp][] = [
    [{ name: "" }, /name/],
    [{ name: "a\nb" }, /name/],
    [{ scopes: [] }, /needs a scope/],
    [{ scopes: ["all"] }, /no such scope/],
    [{ scopes: ["any"] }, /no such scope/],
    [{ wallets: [] }, /patterns/],
    [{ wallets: ["x".repeat(256)] }, /patterns/],
    [{ wallets: Array(33).fill("a") }, /patterns/],
    [{ scopes: ["spend", "secrets"], capDay: 1n }, /cap means nothing beside the scope secrets/],
    [{ scopes: ["admin"], capHour: 1n }, /beside the scope admin/],
  ];
  for (const [more, why] of bad)
    await assert.rejects(
      Promise.resolve().then(() => book.create(order(more), undefined)),
      why,
    );
  assert.deepEqual(book.list(), []);
});

test("a token makes none that may do more than it may", async () => {
  const { book } = start();
  const made = await book.create(
    order({ scopes: ["admin", "read"], wallets: ["a", "b*"], validSeconds: 100 }),
    undefined,
  );
  const by = book.check(made.text)!;
  const tries = (more: Partial<TokenOrder>) => Promise.resolve().then(() => book.create(order(more), by));
  await tries({ scopes: ["read"], wallets: ["b*"], validSeconds: 100 });
  await assert.rejects(tries({ scopes: ["spend"], validSeconds: 1 }), /scope spend, which it lacks/);
  await assert.rejects(tries({ wallets: ["*"], validSeconds: 1 }), /wallets that it lacks/);
  await assert.rejects(tries({ validSeconds: 101 }), /more time/);
  await assert.rejects(tries({ validSeconds: 0 }), /more time/);
});

test("patterns name wallets by the file they open, in time of their length", async () => {
  const { book } = start();
  const tokenFor = async (...wallets: string[]) =>
    book.check((await book.create(order({ wallets }), undefined)).text)!;
  const a = await tokenFor("a");
  for (const name of ["a", "a.keys"]) assert.ok(a.mayUse(name), name);
  assert.deepEqual([a.covers("a"), a.covers("a.keys")], [true, false], "a wallet's own name has no ending");
  for (const name of ["", "b", "A", "aa", "a.keys.keys", "a.background", "*", "b/../a/x"])
    assert.ok(!a.mayUse(name), name);
  const endings = await tokenFor("*.keys");
  assert.ok(!endings.mayUse("a.keys"), "this opens a, whatever it is called");
  const several = await tokenFor("shop-*", "till?");
  assert.deepEqual(
    ["shop-", "shop-1", "shop", "till?", "till1", "x-shop-1"].map((name) => several.mayUse(name)),
    [true, true, false, true, false, false],
  );
  assert.deepEqual(
    [several.isForAll, (await tokenFor("*")).isForAll, (await tokenFor("**")).isForAll],
    [false, true, false],
  );
  const hard = await tokenFor(...Array<string>(32).fill("*a".repeat(127)));
  assert.ok(!hard.mayUse(`${"a".repeat(200)}b`), "what takes exponential time would not come to an end");
});

test("tokens that have ended leave room: the one that ended first is forgotten, and no valid one", async () => {
  const { book, clock } = start();
  const [early, late] = [
    await book.create(order(), undefined),
    await book.create(order({ validSeconds: 100 }), undefined),
  ];
  const live = await book.create(order(), undefined);
  clock.now += 1;
  await book.revoke(early.id, undefined);
  clock.now += 100;
  while (book.list().length < 1000) await book.create(order(), undefined);
  await book.create(order(), undefined);
  const isKept = (id: string) => book.of(id) !== undefined;
  assert.deepEqual(
    [early, late, live].map(({ id }) => isKept(id)),
    [false, true, true],
  );
  await book.create(order(), undefined);
  assert.deepEqual(
    [late, live].map(({ id }) => isKept(id)),
    [false, true],
  );
  await assert.rejects(book.create(order(), undefined), /there are 1000 tokens/);
});

test("a token that is revoked while it waits for its turn makes none", async () => {
  const { book } = start();
  const { id, text } = await book.create(order({ scopes: ["admin"] }), undefined);
  const by = book.check(text)!;
  const ending = book.revoke(id, undefined);
  await assert.rejects(book.create(order({ scopes: ["admin"] }), by), /this token has ended/);
  await ending;
});

import assert from "node:assert/strict";
import { cpSync, existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ATOMIC_UNITS_PER_COIN as coin } from "@anulo/protocol";
import type { Release, RunningDaemon } from "@anulo/testkit";
import { listOf, mine, needsReleases, onStage, type Stage, usualRelease } from "../actors.ts";
import { type Ask, asking, makeHistory } from "./wallet-history.ts";
import { type Picture, pictureOf, withoutPoolTimes } from "./wallet-picture.ts";
import { words } from "./words.ts";

const attributes = ["a key", "another", "none"];
const names = { filename: "kept", password: "pässword" };

function assertSame(seen: Picture, known: Picture, when: string): void {
  const [actual, expected] = [withoutPoolTimes(seen), withoutPoolTimes(known)];
  for (const field of Object.keys(expected))
    assert.deepEqual(actual[field], expected[field], `${field}, ${when}`);
}

/** Two services on one node, and how a wallet's files get from one to the other. */
async function twoServices(stage: Stage, daemon: RunningDaemon) {
  const real = await stage.service("real", daemon.port);
  const ours = await stage.service("ours", daemon.port);
  const copy = (from: string, to: string) => {
    for (const ending of ["", ".keys"]) cpSync(join(from, `kept${ending}`), join(to, `kept${ending}`));
  };
  return {
    real: asking(real.url),
    ours: asking(ours.url),
    toReal: () => copy(ours.walletDir, real.walletDir),
    toOurs: () => copy(real.walletDir, ours.walletDir),
    ourFile: (ending: string) => join(ours.walletDir, `kept${ending}`),
  };
}

/** What only the user of a wallet can do, each an edit of what was there before. */
async function edit(ask: Ask, txids: readonly string[], key_image: string): Promise<void> {
  await ask("set_tx_notes", { txids: txids.slice(0, 2), notes: ["edited", ""] });
  await ask("set_attribute", { key: "a key", value: "edited" });
  await ask("set_attribute", { key: "another", value: "new" });
  await ask("label_address", { index: { major: 0, minor: 1 }, label: "edited" });
  await ask("label_account", { account_index: 1, label: "edited" });
  await ask("tag_accounts", { tag: "other", accounts: [1] });
  await ask("set_account_tag_description", { tag: "other", description: "edited" });
  await ask("delete_address_book", { index: 0 });
  await ask("add_address_book", {
    address: String((await ask("get_address")).address),
    description: "myself",
  });
  await ask("thaw", { key_image });
}

for (const release of [usualRelease, "installed"] as const satisfies Release[]) {
  test(
    `a wallet goes to the ${release} original and back and forth with all it knows`,
    needsReleases(release),
    async (t) => {
      await onStage(async (stage) => {
        const daemon = await stage.daemon("ours", "upstream");
        const { real, ours, toReal, toOurs, ourFile } = await twoServices(stage, daemon);
        const bob = await stage.wallet("ours", { mnemonic: words.bob, daemonPort: daemon.port });
        const seed = { ...names, seed: words.alice, restore_height: 0 };
        const address = String((await ours("restore_deterministic_wallet", seed)).address);
        await mine(daemon, 90, address);
        await ours("refresh");
        const { txids, key_image } = await makeHistory(ours, bob, daemon);
        await bob.refresh();
        await bob.pay([{ address, amount: coin }]);
        await ours("refresh");
        await ours("store");
        assert.equal(statSync(ourFile("")).mode & 0o777, 0o600);

        const known = await pictureOf(ours, attributes);
        const kinds = Object.keys(known.transfers as object).toSorted();
        assert.deepEqual(kinds, ["in", "out", "pending", "pool"]);
        await ours("close_wallet");
        toReal();
        await real("open_wallet", names);
        assertSame(await pictureOf(real, attributes), known, "in the original, at once");
        await real("refresh");
        assertSame(await pictureOf(real, attributes), known, "in the original, after a scan");

        // The original goes on: it spends what we had found, and edits what was there.
        const destinations = [{ address: bob.address, amount: coin }];
        const theirs = String((await real("transfer", { destinations })).tx_hash);
        await edit(real, txids, key_image);
        await mine(daemon, 12, bob.address);
        await real("refresh");
        const edited = await pictureOf(real, attributes);
        await real("close_wallet");
        toOurs();
        await ours("open_wallet", names);
        await ours("refresh");
        assertSame(await pictureOf(ours, attributes), edited, "back here");
        assert.equal(typeof (await ours("get_tx_key", { txid: theirs })).tx_key, "string");

        // And once more, by a close alone.
        await ours("set_tx_notes", { txids: [theirs], notes: ["ours"] });
        await ours("transfer", { destinations });
        await mine(daemon, 12, bob.address);
        await ours("refresh");
        const again = await pictureOf(ours, attributes);
        await ours("close_wallet");
        toReal();
        await real("open_wallet", names);
        assertSame(await pictureOf(real, attributes), again, "in the original once more");
        const { key_images } = await spendAll(real, bob.address);
        assert.ok(key_images > 0, "every output can be spent there");
        await real("close_wallet");
        assert.ok(!existsSync(ourFile(".anulo.cache")));
        t.diagnostic(`${statSync(ourFile("")).size} bytes of cache`);
      }, release);
    },
  );
}

/** Spends all there is; the original computes each output's secret from what the cache says of its transaction. */
async function spendAll(ask: Ask, address: string): Promise<{ key_images: number }> {
  const { spent_key_images_list } = await ask("sweep_all", { account_index: 0, address });
  const lists = listOf(spent_key_images_list);
  return { key_images: lists.reduce((sum, { key_images }) => sum + (key_images as unknown[]).length, 0) };
}

test("what each program did alone is in both at the end", needsReleases(usualRelease), async () => {
  await onStage(async (stage) => {
    const daemon = await stage.daemon("ours", "upstream");
    const { real, ours, toReal, toOurs, ourFile } = await twoServices(stage, daemon);
    const txids = Array.from({ length: 3 }, (_, i) => String(i + 1).repeat(64));
    const notesOf = async (ask: Ask) => (await ask("get_tx_notes", { txids })).notes;
    await ours("restore_deterministic_wallet", { ...names, seed: words.alice, restore_height: 0 });
    await ours("refresh");
    await ours("set_tx_notes", { txids: [txids[0]!], notes: ["ours, before"] });
    await ours("store");
    toReal();
    // Both have it open at once: each goes on from the same cache.
    await real("open_wallet", names);
    await real("set_tx_notes", { txids: [txids[0]!, txids[1]!], notes: ["theirs", "theirs"] });
    await real("store");
    await ours("set_tx_notes", { txids: [txids[0]!, txids[2]!], notes: ["ours", "ours"] });
    toOurs();
    await ours("store");
    const both = ["ours", "theirs", "ours"];
    assert.deepEqual(await notesOf(ours), both, "taken over before the cache was replaced");
    await real("close_wallet");
    await ours("close_wallet");
    toReal();
    await real("open_wallet", names);
    assert.deepEqual(await notesOf(real), both);
    await real("close_wallet");
    // An old cache, put back, takes nothing away.
    const old = ourFile(".old-cache");
    cpSync(ourFile(""), old);
    await ours("open_wallet", names);
    await ours("set_tx_notes", { txids: [txids[1]!], notes: ["newer"] });
    await ours("close_wallet");
    cpSync(old, ourFile(""));
    await ours("open_wallet", names);
    assert.deepEqual(await notesOf(ours), ["ours", "newer", "ours"]);
    await ours("close_wallet");
    // Without our journal everything comes from the cache.
    rmSync(ourFile(".anulo"));
    await ours("open_wallet", names);
    assert.deepEqual(await notesOf(ours), ["ours", "newer", "ours"]);
  });
});

import assert from "node:assert/strict";
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { publicKeyOf } from "@anulo/crypto";
import { ATOMIC_UNITS_PER_COIN as coin, formatAddress, fromHex } from "@anulo/protocol";
import { CallFailed, type ExactObject, loadChain, type RunningWallet } from "@anulo/testkit";
import { createRuntime, readKeysFile } from "@anulo/wallet";
import { bigintOf, listOf, mine, needsRealPrograms, onStage, otherSide, type Side } from "../actors.ts";
import { type Ask, asking, carry, changeSettings, sides, withServices } from "./two-services.ts";
import { words } from "./words.ts";

const runtime = createRuntime();
const { alice, bob } = loadChain().wallets;
test("seeds in every language cross in keys files, both ways", needsRealPrograms, async (t) => {
  await withServices({}, async (services) => {
    const { languages } = await asking(services.real)("get_languages");
    assert.deepEqual((await asking(services.ours)("get_languages")).languages, languages);
    for (const side of sides) {
      const [from, to] = [asking(services[side]), asking(services[otherSide[side]])];
      for (const [at, language] of listOf(languages).map(String).entries()) {
        const file = { filename: `${side}-${at}`, password: "" };
        await from("create_wallet", { ...file, language });
        const { key } = await from("query_key", { key_type: "mnemonic" });
        await from("close_wallet");
        carry(services[side], services[otherSide[side]], file.filename);
        await to("open_wallet", file);
        assert.equal((await to("query_key", { key_type: "mnemonic" })).key, key, language);
        // And by the words themselves; once is enough.
        if (side === "ours") continue;
        const again = { filename: `${file.filename}-words`, password: "", restore_height: 0 };
        const { address } = await to("get_address", { account_index: 0 });
        const restored = await to("restore_deterministic_wallet", { ...again, seed: key! });
        assert.equal(restored.address, address, language);
        await to("close_wallet");
      }
    }
    t.diagnostic(`${listOf(languages).length} languages`);
  });
});

test(
  "keys that no seed stands for, and wallets of one key alone, cross in keys files",
  needsRealPrograms,
  async () => {
    const [spendkey, viewkey] = [alice.spend_key, bob.view_key];
    const [spendPublic, viewPublic] = [publicKeyOf(fromHex(spendkey)), publicKeyOf(fromHex(viewkey))];
    const address = formatAddress({ kind: "standard", spendPublic, viewPublic }, "mainnet");
    await withServices({}, async (services) => {
      for (const side of sides)
        for (const [name, keys] of [
          ["both", { spendkey, viewkey }],
          ["view", { viewkey }],
        ] as const) {
          const [from, to] = [asking(services[side]), asking(services[otherSide[side]])];
          const file = { filename: `${side}-${name}`, password: "p" };
          await from("generate_from_keys", { ...file, address, ...keys, restore_height: 3 });
          await from("close_wallet");
          carry(services[side], services[otherSide[side]], file.filename);
          await to("open_wallet", file);
          assert.equal((await to("get_address", { account_index: 0 })).address, address);
          assert.equal((await to("query_key", { key_type: "view_key" })).key, viewkey);
          await assert.rejects(to("query_key", { key_type: "mnemonic" }), CallFailed);
          const secret = to("query_key", { key_type: "spend_key" }).then(
            ({ key }) => key,
            () => undefined,
          );
          assert.match(String(await secret), name === "both" ? new RegExp(spendkey) : /^(undefined|0{64})$/);
          await to("close_wallet");
        }
    });
  },
);

test(
  "passwords changed by one program open in the other; so do files of more rounds of hashing",
  needsRealPrograms,
  async () => {
    await withServices({ extra: ["--kdf-rounds", "3"] }, async (services) => {
      for (const side of sides) {
        const filename = `${side}-changed`;
        let [from, to]: [Side, Side] = [side, otherSide[side]];
        await asking(services[from])("create_wallet", { filename, password: "", language: "English" });
        let password = "";
        for (const next of ["pässwörd パス", "", "x".repeat(500), "two words"]) {
          const passwords = { old_password: password, new_password: next };
          // Today's wants its cache beside the keys file before it changes the password.
          await asking(services[from])("store");
          await assert.rejects(
            asking(services[from])("change_wallet_password", { ...passwords, old_password: `${password}!` }),
            CallFailed,
          );
          await asking(services[from])("change_wallet_password", passwords);
          const { address } = await asking(services[from])("get_address", { account_index: 0 });
          await asking(services[from])("close_wallet");
          carry(services[from], services[to], filename);
          await assert.rejects(
            asking(services[to])("open_wallet", { filename, password: `${next}!` }),
            CallFailed,
          );
          if (next !== password)
            await assert.rejects(asking(services[to])("open_wallet", { filename, password }), CallFailed);
          await asking(services[to])("open_wallet", { filename, password: next });
          assert.equal((await asking(services[to])("get_address", { account_index: 0 })).address, address);
          password = next;
          [from, to] = [to, from];
        }
        await asking(services[from])("close_wallet");
        // With another number of rounds the same password is another.
        const image = readFileSync(join(services[from].walletDir, `${filename}.keys`));
        await assert.rejects(readKeysFile(image, { ...runtime, password, kdfRounds: 2 }));
        assert.ok((await readKeysFile(image, { ...runtime, password, kdfRounds: 3 })).keys.spendSecret);
      }
    });
  },
);

test(
  "both programs write the same settings into the file of the same wallet",
  needsRealPrograms,
  async () => {
    await withServices({}, async (services) => {
      const made = [];
      for (const side of sides) {
        const order = { filename: "same", password: "", seed: words.alice, restore_height: 1234 };
        await asking(services[side])("restore_deterministic_wallet", order);
        await asking(services[side])("close_wallet");
        const image = readFileSync(join(services[side].walletDir, "same.keys"));
        const { settings, createdAt } = await readKeysFile(image, { ...runtime, password: "" });
        assert.equal(settings.get("refresh_height"), 1234);
        made.push({ settings: [...settings], createdAt });
      }
      assert.deepEqual(made[0], made[1]);
    });
  },
);

test("files of another network, and of keys on a device, are refused", needsRealPrograms, async () => {
  await withServices({}, async (services) => {
    for (const [name, changes] of [
      ["stagenet", { nettype: 2 }],
      ["testnet", { nettype: 1 }],
    ] as const) {
      const file = { filename: name, password: "" };
      await asking(services.real)("create_wallet", { ...file, language: "English" });
      await asking(services.real)("close_wallet");
      await changeSettings(services.real, name, changes);
      carry(services.real, services.ours, name);
      for (const side of sides)
        await assert.rejects(asking(services[side])("open_wallet", file), CallFailed, `${side}: ${name}`);
    }
    const file = { filename: "device", password: "" };
    await asking(services.real)("create_wallet", { ...file, language: "English" });
    await asking(services.real)("close_wallet");
    await changeSettings(services.real, "device", { key_on_device: 1 });
    carry(services.real, services.ours, "device");
    await assert.rejects(asking(services.ours)("open_wallet", file), /keys are on a device/);
  });
});

test(
  "a look-ahead set in the keys file finds in both what the usual one does not reach",
  needsRealPrograms,
  async () => {
    await onStage(async (stage) => {
      const daemon = await stage.daemon("ours", "upstream");
      const payer = await stage.wallet("ours", { mnemonic: words.alice, daemonPort: daemon.port });
      const holder = await stage.wallet("ours", { mnemonic: words.bob, daemonPort: daemon.port });
      let far = "";
      for (let made = 0; made < 250; made += 50)
        far = String(
          listOf((await holder.call("create_address", { account_index: 0, count: 50 })).addresses).at(-1),
        );
      await mine(daemon, 80, payer.address);
      await payer.refresh();
      await payer.pay([{ address: far, amount: coin }]);
      await mine(daemon, 12, payer.address);
      await withServices({ daemonPort: daemon.port }, async (services) => {
        const order = { password: "", seed: words.bob, restore_height: 0 };
        for (const filename of ["usual", "far"]) {
          await asking(services.real)("auto_refresh", { enable: false }).catch(() => undefined);
          await asking(services.real)("restore_deterministic_wallet", { ...order, filename });
          await asking(services.real)("close_wallet", { autosave_current: false });
          const wanted = { subaddress_lookahead_major: 2, subaddress_lookahead_minor: 300 };
          if (filename === "far") await changeSettings(services.real, filename, wanted);
          // Without its cache the original makes its table anew.
          const fresh = `${filename}-fresh`;
          const path = (service: RunningWallet) => join(service.walletDir, `${fresh}.keys`);
          for (const side of sides)
            copyFileSync(join(services.real.walletDir, `${filename}.keys`), path(services[side]));
          for (const side of sides) {
            const ask = asking(services[side]);
            await ask("open_wallet", { filename: fresh, password: "" });
            await ask("refresh");
            const balance = bigintOf((await ask("get_balance", { account_index: 0 })).balance);
            assert.equal(balance, filename === "far" ? coin : 0n, `${side}: ${filename}`);
            await ask("close_wallet");
          }
        }
      });
    });
  },
);

test(
  "a key exchange goes on in the other program after each round, files and all",
  needsRealPrograms,
  async () => {
    await withServices({ extra: [] }, async (services) => {
      const password = "";
      const names = ["first", "second", "third"];
      for (const [at, filename] of names.entries())
        await asking(services[sides[at % 2]!])("create_wallet", { filename, password, language: "English" });
      // One service holds one open wallet, so each signer opens his own when it is his turn; then it moves.
      const homes: Side[] = names.map((_, at) => sides[at % 2]!);
      const at = async <T>(signer: number, task: (ask: Ask) => Promise<T>): Promise<T> => {
        const ask = asking(services[homes[signer]!]);
        await ask("open_wallet", { filename: names[signer]!, password });
        try {
          return await task(ask);
        } finally {
          await ask("close_wallet");
        }
      };
      const move = () => {
        for (const [signer, filename] of names.entries()) {
          const home = homes[signer]!;
          carry(services[home], services[otherSide[home]], filename);
          homes[signer] = otherSide[home];
        }
      };
      for (const side of sides) await asking(services[side])("close_wallet").catch(() => undefined);
      const all = async (task: (ask: Ask, others: string[]) => Promise<ExactObject>, told: string[]) => {
        const answers: ExactObject[] = [];
        for (const signer of names.keys())
          answers.push(await at(signer, (ask) => task(ask, told.toSpliced(signer, 1))));
        return answers;
      };
      const infos = (answers: readonly ExactObject[]) =>
        answers.map(({ multisig_info }) => String(multisig_info));
      const prepare = { enable_multisig_experimental: true };
      let told = infos(await all((ask) => ask("prepare_multisig", prepare), ["", "", ""]));
      // What prepares is not in the file yet: the original forgets the permission with it.
      told = infos(
        await all(async (ask, multisig_info) => {
          await ask("prepare_multisig", prepare);
          return await ask("make_multisig", { multisig_info, threshold: 2, password });
        }, told),
      );
      let address = "";
      for (let round = 0; round < 2; round++) {
        move();
        const answers = await all(
          (ask, multisig_info) => ask("exchange_multisig_keys", { multisig_info, password }),
          told,
        );
        told = infos(answers);
        address = String(answers[0]!.address);
      }
      move();
      for (const signer of names.keys())
        await at(signer, async (ask) => {
          assert.equal((await ask("get_address", { account_index: 0 })).address, address);
          const { ready, threshold, total } = await ask("is_multisig");
          assert.deepEqual([ready, Number(threshold), Number(total)], [true, 2, 3]);
        });
    });
  },
);

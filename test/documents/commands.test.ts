import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { call, freePorts, postgresMissing, startDaemon, startPostgres } from "@anulo/testkit";
import { importInto, monerodBlocks, recordedBlocks, withChain, writeRaw } from "../exchange/chains.ts";
import { monerodFile } from "../exchange/monerod-file.ts";
import { shellExamples, withReplaced } from "./examples.ts";
import { root, shellFor } from "./shell.ts";

const skip = process.platform === "win32" && "needs a shell";
const commandsIn = (example: string) => example.trimEnd().split("\n");
/** A command without what a comment says of it. */
const withoutComment = (line: string) => line.replace(/\s+#.*$/, "");
const isAt = /^height \d+: bob has 1\.230000000000, 1\.230000000000 of it unlocked$/m;

/** The responses that calls printed one after the other. */
function responsesIn(printed: string): { readonly result?: unknown; readonly error?: unknown }[] {
  return printed
    .split(/(?<=^\})(?=\{)/m)
    .filter((text) => text.trim() !== "")
    .map((text) => JSON.parse(text));
}

test("README's first commands start a devnet, and run tests", { skip }, async (t) => {
  const shell = shellFor(t, { folder: root });
  const [start = "", tests = "", ...others] = commandsIn(shellExamples("README.md", "Anulo")[0]!);
  assert.deepEqual(others, []);
  const devnet = await shell.start(withoutComment(start), isAt);
  await devnet.stop();
  // All tests would run this one, too.
  const short = withReplaced(withoutComment(tests), {
    "npm test": "npm test -- packages/limits/test/byte-budget",
  });
  assert.match(await shell.run(short), /^# fail 0$/m);
});

test("README's five minutes with curl: a payment to a subaddress arrives", { skip }, async (t) => {
  const [start, calls] = shellExamples("README.md", "Five minutes with curl");
  const [node, alice, bob] = await freePorts(3);
  const ports = { 28081: `${node}`, 28083: `${alice}`, 28084: `${bob}` };
  const shell = shellFor(t, { folder: root });
  const devnet = await shell.start(withReplaced(start!.trimEnd(), ports), isAt);
  const [, shown = ""] = /shows the first payment:\n\n```text\n(.*?)```/s.exec(
    readFileSync(join(root, "README.md"), "utf8"),
  )!;
  const lines = shown.trimEnd().split("\n");
  assert.equal(lines.length, 4);
  // The id differs each time, since signatures are random.
  const isShown = (line: string) => devnet.output.includes(line.replace(/[0-9a-f]{8}…$/, ""));
  assert.deepEqual(
    lines.filter((line) => !isShown(line)),
    [],
  );
  const responses = responsesIn(await shell.run(withReplaced(calls!, ports)));
  assert.deepEqual(
    responses.filter(({ error }) => error !== undefined),
    [],
  );
  const results = responses.map(({ result }) => result as Record<string, unknown>);
  assert.equal(results.length, calls!.match(/^rpc \$/gm)!.length);
  const [info, shop, , , pending, , , balance, description] = results;
  assert.equal(info!.nettype, "fakechain");
  assert.ok(calls!.includes(`shop=${shop!.address}`), "the address that the document says");
  assert.equal((pending!.pool as { amount: number }[])[0]!.amount, 2_500_000_000_000);
  assert.equal(balance!.unlocked_balance, 1_230_000_000_000 + 2_500_000_000_000);
  assert.ok(description!.openrpc);
  await devnet.stop();
});

test("README's programs start, and a wallet is made", { skip }, async (t) => {
  const [programs, wallet] = shellExamples("README.md", "The programs");
  const [mainnet = "", alone = "", service = "", devnet = "", ...others] = commandsIn(programs!).map(
    withoutComment,
  );
  assert.deepEqual(others, []);
  const shell = shellFor(t);
  const [nodePort, walletPort] = await freePorts(2);
  const isListening = /^node: http:\/\/127\.0\.0\.1:\d+/m;
  // Tests reach no network but the loopback.
  const offline = withReplaced(mainnet, { "./mainnet": `./mainnet --offline --rpc-bind-port ${nodePort}` });
  assert.equal(await (await shell.start(offline, isListening)).stop(), 0);
  const regtest = withReplaced(alone, { "./chain": `./chain --rpc-bind-port ${nodePort}` });
  assert.equal(await (await shell.start(regtest, isListening)).stop(), 0);
  const running = await shell.start(withReplaced(service, { 18083: `${walletPort}` }), /127\.0\.0\.1:\d+/);
  const [made, seed] = responsesIn(await shell.run(withReplaced(wallet!, { 18083: `${walletPort}` })));
  assert.deepEqual(made!.result, {});
  assert.equal((seed!.result as { key: string }).key.split(" ").length, 25);
  assert.equal(await running.stop(), 0);
  assert.match(await shell.run(devnet), isAt);
});

test("README's import and export: a monerod's chain comes and goes", { skip }, async (t) => {
  const shell = shellFor(t);
  const raw = join(shell.folder, "recorded.raw");
  writeRaw(raw, recordedBlocks.slice(0, 20));
  await importInto(join(shell.folder, "chain.mdb"), { from: raw });
  const blocks = await withChain(join(shell.folder, "chain.mdb"), (reader) =>
    monerodBlocks(reader, () => false),
  );
  mkdirSync(join(shell.folder, ".bitmonero/lmdb"), { recursive: true });
  writeFileSync(join(shell.folder, ".bitmonero/lmdb/data.mdb"), monerodFile(blocks));
  // A private chain, since none of mainnet's blocks are in the repository.
  const [commands] = shellExamples("README.md", "Come from monerod, and go back");
  await shell.run(
    withReplaced(commands!, {
      "anulo import": "anulo import --regtest --fixed-difficulty 1",
      "anulo export": "anulo export --regtest",
    }),
  );
  const again = await importInto(join(shell.folder, "again.mdb"), {
    from: join(shell.folder, "blockchain.raw"),
  });
  assert.equal(again.height, 20);
});

test("the commands of the program's README run", { skip }, async (t) => {
  const shell = shellFor(t);
  const [example] = shellExamples("bin/README.md", "anulo");
  for (const command of commandsIn(example!).map(withoutComment)) {
    if (command === "npx anulo devnet") await (await shell.start(command, isAt)).stop();
    else assert.match(await shell.run(command), command.endsWith("--help") ? /^\s+--help/m : isAt);
  }
});

test("docs/devnet.md: a snapshot by JSON-RPC", { skip }, async (t) => {
  const shell = shellFor(t);
  const [port] = await freePorts(1);
  const devnet = await shell.start(`anulo devnet --rpc --rpc-port ${port}`, isAt);
  const [command] = shellExamples("docs/devnet.md", "From a shell, and from other languages");
  const [answer] = responsesIn(await shell.run(withReplaced(command!, { PORT: `${port}` })));
  assert.ok((answer!.result as { snapshot_id?: unknown }).snapshot_id !== undefined, JSON.stringify(answer));
  assert.equal(await devnet.stop(), 0);
});

test("docs/fleet.md: a process of a fleet starts and serves a wallet", {
  skip: skip || postgresMissing(),
}, async (t) => {
  const database = await startPostgres();
  t.after(() => database.stop());
  const node = await startDaemon({ kind: "ours" });
  t.after(() => node.stop());
  const shell = shellFor(t);
  const [port, internal] = await freePorts(2);
  mkdirSync(join(shell.folder, "wallets"));
  const [command] = shellExamples("docs/fleet.md", "Past one machine");
  const service = await shell.start(
    withReplaced(command!.trimEnd(), {
      "/shared/wallets": "wallets",
      "postgres://anulo@db/wallets": `"${database.address}"`,
      "/etc/anulo/service.key": "service.key",
      "10.0.0.1:18090": `127.0.0.1:${internal}`,
      18083: `${port} --disable-rpc-login`,
      "10.0.0.9:18081": `127.0.0.1:${node.port}`,
    }),
    /127\.0\.0\.1:\d+/,
  );
  await call(`http://127.0.0.1:${port}/wallets/shop`, "create_wallet", { password: "", language: "English" });
  const { address } = await call(`http://127.0.0.1:${port}/wallets/shop`, "get_address");
  assert.match(String(address), /^4/);
  assert.equal(await service.stop(), 0);
});

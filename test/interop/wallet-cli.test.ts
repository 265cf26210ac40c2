/** The command line wallet of today's release on our node: what its user does in a day, one command after another. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { call, originalProgram, post, type RunningDaemon, startDaemon } from "@anulo/testkit";
import { needsRealPrograms } from "../actors.ts";

/** Somebody else's address. */
const STRANGER =
  "44SKxxLQw929wRF6BA9paQ1EWFshNnKhXM3qz6Mo3JGDE2YG3xyzVutMStEicxbQGRfrYvAAYxH6Fe8rnD56EaNwUiqhcwR";
const WITHIN_MS = 600_000;
/** Answers each question of the program: whether it may go on, and for the password. */
const YES = "y";

interface CommandLine {
  /** Runs the wallet with these arguments, and types these lines before it goes on with yes: all it prints. */
  run(args: readonly string[], lines?: readonly string[]): Promise<string>;
  /** The same for one command in a wallet. */
  command(wallet: string, ...command: string[]): Promise<string>;
}

function commandLineOf(folder: string, { port }: RunningDaemon): CommandLine {
  const common = [
    ...["--daemon-address", `127.0.0.1:${port}`, "--trusted-daemon", "--allow-mismatched-daemon-version"],
    ...["--log-file", join(folder, "cli.log"), "--password", YES],
  ];
  const run: CommandLine["run"] = async (args, lines = []) => {
    const child = spawn(originalProgram("monero-wallet-cli", "today"), [...common, ...args], {
      cwd: folder,
      timeout: WITHIN_MS,
    });
    const printed: Buffer[] = [];
    child.stdout.on("data", (bytes: Buffer) => printed.push(bytes));
    child.stderr.on("data", (bytes: Buffer) => printed.push(bytes));
    // A program that has ended does not read its answers.
    child.stdin.on("error", () => undefined);
    child.stdin.end([...lines, ...Array(20).fill(YES), ""].join("\n"));
    const code = await new Promise((resolve) => child.once("close", resolve));
    const output = Buffer.concat(printed).toString();
    assert.equal(code, 0, output);
    return output;
  };
  return {
    run,
    command: (wallet, ...command) => run(["--wallet-file", join(folder, wallet), "--command", ...command]),
  };
}

/** What a pattern's first group matches in a text. */
function found(text: string, pattern: RegExp): string {
  const match = pattern.exec(text)?.[1];
  assert.ok(match !== undefined, `${pattern} is not in: ${text}`);
  return match;
}

/** The last balance of a text. */
const balanceOf = (text: string) => found(text, /^[\s\S]*Balance: ([\d.]+)/);

async function mine(node: RunningDaemon, blocks: number, address: string): Promise<void> {
  await call(node.url, "generateblocks", { amount_of_blocks: blocks, wallet_address: address });
}

/** Pays somebody else, and proves it in each way the wallet knows. */
async function payAndProve({ command }: CommandLine, node: RunningDaemon, folder: string, own: string) {
  const paid = await command("wallet", "transfer", STRANGER, "1.5");
  const txid = found(paid, /submitted, transaction <([0-9a-f]{64})>/);
  assert.match(await command("wallet", "show_transfers", "pending"), new RegExp(txid));
  await mine(node, 1, STRANGER);
  await command("wallet", "refresh");
  assert.match(await command("wallet", "show_transfers", "out"), new RegExp(txid));
  const key = found(await command("wallet", "get_tx_key", txid), /Tx key: ([0-9a-f]{64})/);
  assert.match(await command("wallet", "check_tx_key", txid, key, STRANGER), /received 1\.500000000000/);
  await command("wallet", "get_tx_proof", txid, STRANGER, "message");
  const proof = join(folder, "monero_tx_proof");
  assert.match(await command("wallet", "check_tx_proof", txid, STRANGER, proof, "message"), /Good signature/);
  await command("wallet", "get_spend_proof", txid, "message");
  const spend = join(folder, "monero_spend_proof");
  assert.match(await command("wallet", "check_spend_proof", txid, spend, "message"), /Good signature/);
  await command("wallet", "get_reserve_proof", "all", "message");
  const reserve = join(folder, "monero_reserve_proof");
  assert.match(await command("wallet", "check_reserve_proof", own, reserve, "message"), /Good signature/);
  assert.ok(readFileSync(proof).length > 0);
}

test("the command line wallet creates, restores, refreshes, pays, sweeps, proves and rescans on our node", {
  ...needsRealPrograms,
  timeout: 900_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-cli-"));
  const node = await startDaemon({ kind: "ours", dialect: "contract" });
  try {
    const cli = commandLineOf(folder, node);
    const path = join(folder, "wallet");
    const made = await cli.run([
      ...["--generate-new-wallet", path, "--mnemonic-language", "English", "--command", "address"],
    ]);
    const address = found(made, /Generated new wallet: (\w{95})/);
    const seed = found(made, /immediate control\.\s+((?:[a-z]+\s+){24}[a-z]+)\s+\*/);
    await mine(node, 75, address);
    for (const setting of ["setup-background-mining", "ask-password"]) {
      await cli.command("wallet", "set", setting, "0");
    }
    assert.match(await cli.command("wallet", "refresh"), /blocks received: 75/);
    await payAndProve(cli, node, folder, address);
    const before = balanceOf(await cli.command("wallet", "balance"));
    await cli.command("wallet", "rescan_spent");
    assert.equal(balanceOf(await cli.command("wallet", "rescan_bc")), before);
    const words = seed.trim().split(/\s+/).join(" ");
    const restored = await cli.run(
      [
        ...["--restore-deterministic-wallet", "--electrum-seed", words, "--restore-height", "0"],
        ...["--command", "refresh"],
      ],
      ["copy", ""],
    );
    assert.equal(balanceOf(restored), before);
    const swept = await cli.command("wallet", "sweep_all", STRANGER);
    const txid = found(swept, /submitted, transaction <([0-9a-f]{64})>/);
    await mine(node, 1, STRANGER);
    const { txs } = await post(`${node.url}/get_transactions`, { txs_hashes: [txid] });
    assert.equal((txs as { in_pool: boolean }[])[0]!.in_pool, false);
  } finally {
    await node.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

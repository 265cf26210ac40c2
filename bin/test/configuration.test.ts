import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { configurationFlag, fromEnvironment, fromFile, readConfiguration } from "../src/configuration.ts";
import { type FlagTable, valuesOf } from "../src/flags.ts";

const table = {
  ...configurationFlag("node"),
  offline: { kind: "switch", help: "" },
  "rpc-bind-port": { kind: "number", value: "PORT", help: "" },
  "rpc-login": { kind: "text", value: "USER:PASSWORD", help: "" },
  peer: { kind: "each", value: "ADDRESS", help: "" },
} as const satisfies FlagTable;

const read = (text: string) => valuesOf(table, [fromFile(table, text, "f")]);

test("a configuration file has a flag a line, with comments", () => {
  const values = read("# mine\n\nrpc-bind-port = 80 # RPC\noffline\npeer=a\r\npeer=b#c\n");
  assert.equal(values["rpc-bind-port"], 80);
  assert.equal(values.offline, true);
  assert.deepEqual(values.peer, ["a", "b#c"]);
  assert.equal(read("offline=0").offline, false);
});

test("a line that cannot be obeyed is named", () => {
  assert.throws(() => read("\nrpc-bind-prot=1"), {
    message: "f:2: unknown flag rpc-bind-prot, did you mean --rpc-bind-port?",
  });
  assert.throws(() => read("peer"), { message: "f:1: peer needs a value" });
});

test("the environment has flags in capitals, and the login where the original has it", () => {
  const environment = { ANULO_RPC_BIND_PORT: "81", RPC_LOGIN: "a:b", ANULO_CRYPTO: "fma", ANULO_OFFLINE: "" };
  const values = valuesOf(table, [fromEnvironment(table, environment)]);
  assert.equal(values["rpc-bind-port"], 81);
  assert.equal(values["rpc-login"], "a:b");
  assert.equal(values.offline, false);
});

test("the command line comes before the file, and a file that is missing is an error", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "anulo-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "anulo.conf");
  writeFileSync(file, "rpc-bind-port=1\npeer=x\n");
  const values = readConfiguration("node", table, ["--config-file", file, "--rpc-bind-port", "2"]);
  assert.equal(values["rpc-bind-port"], 2);
  assert.deepEqual(values.peer, ["x"]);
  assert.throws(() => readConfiguration("node", table, ["--config-file", `${file}x`]), /cannot be read/);
});

test("the node's and the wallet's files do not stand in each other's way", (t) => {
  const home = mkdtempSync(join(tmpdir(), "anulo-"));
  const before = process.env.HOME;
  process.env.HOME = home;
  t.after(() => {
    process.env.HOME = before;
    rmSync(home, { recursive: true });
  });
  mkdirSync(join(home, ".anulo"));
  writeFileSync(join(home, ".anulo", "anulo.conf"), "db-sync-mode=safe\nrpc-bind-port=1\n");
  assert.equal(readConfiguration("wallet", table, [])["rpc-bind-port"], undefined);
  writeFileSync(join(home, ".anulo", "wallet.conf"), "rpc-bind-port=2\n");
  assert.equal(readConfiguration("wallet", table, [])["rpc-bind-port"], 2);
  assert.throws(() => readConfiguration("node", table, []), /anulo\.conf:1: unknown flag db-sync-mode/);
});

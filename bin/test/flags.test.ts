import assert from "node:assert/strict";
import { test } from "node:test";
import { BadUsage, describeWithoutEffect, type FlagTable, formatFlags, parseFlags } from "../src/flags.ts";
import { nodeFlags } from "../src/node.ts";
import { listenersOf, rpcFlags } from "../src/rpc-flags.ts";
import { walletFlags } from "../src/wallet.ts";
import { originalFlags } from "./original-flags.ts";

const table = {
  offline: { kind: "switch", help: "talk to nobody" },
  "rpc-bind-port": { kind: "number", value: "PORT", help: "the port" },
  "data-dir": { kind: "text", value: "FOLDER", help: "the folder" },
  mode: { kind: "text", choices: ["a", "b"], help: "the mode" },
  peer: { kind: "each", value: "ADDRESS", help: "a peer" },
} as const satisfies FlagTable;

const refusal = (...args: string[]): string => {
  try {
    parseFlags(table, args);
  } catch (error) {
    if (error instanceof BadUsage) return error.message;
    throw error;
  }
  return "none";
};

test("both ways of writing a value are read, switches stand alone, lists grow", () => {
  const values = parseFlags(table, [
    "--offline",
    "--rpc-bind-port",
    "80",
    "--data-dir=/a=b",
    "--peer",
    "x",
    "--peer=y",
  ]);
  assert.deepEqual(values, {
    offline: true,
    "rpc-bind-port": 80,
    "data-dir": "/a=b",
    mode: undefined,
    peer: ["x", "y"],
  });
});

test("a value may start with dashes and a switch may be turned off", () => {
  assert.equal(parseFlags(table, ["--data-dir", "--x"])["data-dir"], "--x");
  assert.equal(parseFlags(table, ["--offline=0"]).offline, false);
});

test("what cannot be obeyed is refused with the reason", () => {
  assert.equal(refusal("--of"), "unknown flag --of, did you mean --offline?");
  assert.equal(
    refusal("--rpc-bind-prot", "1"),
    "unknown flag --rpc-bind-prot, did you mean --rpc-bind-port?",
  );
  assert.equal(refusal("--zzzzzzzz"), "unknown flag --zzzzzzzz");
  assert.equal(refusal("offline"), "not a flag: a word after the command (quotes missing?)");
  assert.equal(refusal("--data-dir"), "--data-dir needs a value (FOLDER)");
  assert.equal(refusal("--rpc-bind-port", "80x"), "--rpc-bind-port needs a whole number: 80x");
  assert.equal(refusal("--rpc-bind-port=-1"), "--rpc-bind-port needs a whole number: -1");
  assert.equal(refusal("--mode", "c"), "--mode must be one of a, b: c");
  assert.equal(refusal("--offline=maybe"), "--offline takes no value, or true or false: maybe");
});

test("the help has a line for every flag", () => {
  assert.equal(formatFlags(table).split("\n").length, 5);
  assert.match(formatFlags(table), /--mode a\|b +the mode/);
});

test("every flag of the original is known by its name", () => {
  const namesOf = (text: string) => text.trim().split(/\s+/);
  const [node, wallet] = [namesOf(originalFlags.node), namesOf(originalFlags.wallet)];
  assert.deepEqual([node.length, wallet.length], [116, 69]);
  assert.deepEqual(
    node.filter((name) => !(name in nodeFlags)),
    [],
  );
  assert.deepEqual(
    wallet.filter((name) => !(name in walletFlags)),
    [],
  );
});

test("flags that change nothing are named with the reason, where they are given", () => {
  const inert = {
    igd: { kind: "text", value: "X", noEffect: "no port is mapped" },
    old: { kind: "switch", noEffect: "it is old" },
    live: { kind: "switch", help: "does something" },
    list: { kind: "each", value: "X", noEffect: "unused" },
  } as const satisfies FlagTable;
  assert.equal(describeWithoutEffect(inert, parseFlags(inert, ["--live", "--old=0"])), undefined);
  assert.equal(
    describeWithoutEffect(inert, parseFlags(inert, ["--igd", "enabled", "--old", "--live", "--list", "a"])),
    "flags without effect: --igd (no port is mapped), --old (it is old), --list (unused)",
  );
  assert.match(formatFlags(inert), /--old +accepted; it is old/);
});

test("a second port listens where flags of its own say", () => {
  const names = { ipv4: "rpc-restricted-bind-ip", ipv6: "rpc-restricted-bind-ipv6-address" };
  const listeners = (...args: string[]) => {
    const known = {
      ...rpcFlags,
      [names.ipv4]: nodeFlags[names.ipv4 as "rpc-restricted-bind-ip"],
      [names.ipv6]: nodeFlags["rpc-restricted-bind-ipv6-address"],
    };
    return listenersOf(parseFlags(known, args) as Parameters<typeof listenersOf>[0], 1, names).map(
      ({ host }) => host,
    );
  };
  assert.deepEqual(listeners(), ["127.0.0.1"]);
  assert.deepEqual(listeners("--rpc-bind-ip", "127.0.0.2"), ["127.0.0.1"]);
  assert.deepEqual(listeners("--rpc-restricted-bind-ip", "127.0.0.2", "--rpc-use-ipv6"), [
    "127.0.0.2",
    "::1",
  ]);
  assert.deepEqual(
    listeners("--rpc-restricted-bind-ipv6-address", "[::2]", "--confirm-external-bind", "--rpc-use-ipv6"),
    ["127.0.0.1", "::2"],
  );
  assert.throws(
    () => listeners("--rpc-restricted-bind-ip", "0.0.0.0"),
    /--rpc-restricted-bind-ip 0\.0\.0\.0 opens RPC/,
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { BadUsage, type FlagTable, formatFlags, parseFlags } from "../src/flags.ts";

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

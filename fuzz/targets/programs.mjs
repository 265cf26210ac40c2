import { fromFile } from "../../bin/dist/src/configuration.js";
import { BadUsage, parseFlags } from "../../bin/dist/src/flags.js";
import { nodeFlags } from "../../bin/dist/src/node.js";
import { walletFlags } from "../../bin/dist/src/wallet.js";
import { BadCheckpoints, parseCheckpoints } from "../../packages/consensus/dist/src/checkpoint-file.js";
import { BadBootstrap, readChoice } from "../../packages/node/dist/src/rpc/bootstrap-choice.js";
import { BadAddress } from "../../packages/p2p/dist/src/address.js";
import { anonymityZones } from "../../packages/p2p/dist/src/anonymity.js";
import { parseCategories } from "../../packages/rpc/dist/src/log/categories.js";
import { BadSyncMode, parseSyncMode } from "../../packages/storage/dist/src/sync-mode.js";
import { text } from "../corpus.mjs";

const lines = (table) =>
  Object.entries(table).map(([name, { kind }]) => (kind === "switch" ? `--${name}` : `--${name}=1`));

export const targets = {
  flags: {
    seeds: () =>
      text(lines(nodeFlags).join("\n"), lines(walletFlags).join("\n"), "--regtest\n--rpc-bind-port\n5"),
    refusals: [BadUsage],
    run(input) {
      const words = input.toString("utf8").split("\n");
      parseFlags(input.length % 2 === 0 ? nodeFlags : walletFlags, words);
    },
  },
  configuration: {
    seeds: () =>
      text("# a comment\nregtest=1\nrpc-bind-port=5\nadd-peer=a:1\nadd-peer=b:2\n", "log-level = 2\n"),
    refusals: [BadUsage],
    run: (input) => fromFile(nodeFlags, input.toString("utf8"), "anulo.conf"),
  },
  checkpoints: {
    seeds: () => text(`{"hashlines":[{"height":1,"hash":"${"ab".repeat(32)}"}]}`, "{}"),
    refusals: [BadCheckpoints],
    run: (input) => parseCheckpoints(input.toString("utf8")),
  },
  "flag-values": {
    seeds: () =>
      text(
        "tor,127.0.0.1:9050,10,disable_noise",
        `${"a".repeat(56)}.onion:18083,127.0.0.1:18083,25`,
        "fast:async:250000000bytes",
        "safe:sync:1000blocks",
        "http://[::1]:18081/",
        "node.example:18081",
      ),
    refusals: [BadAddress, BadSyncMode, BadBootstrap],
    run(input) {
      const value = input.toString("utf8");
      const readers = [
        () => anonymityZones([value], []),
        () => anonymityZones(["tor,127.0.0.1:9050"], [value]),
        () => parseSyncMode(value),
        () => readChoice({ address: value, login: undefined, proxy: "" }),
        () => readChoice({ address: "auto", login: undefined, proxy: value }),
      ];
      readers[input.length % readers.length]();
    },
  },
  "log-categories": {
    seeds: () => text("*:WARNING,net.p2p:DEBUG,a?b*:TRACE", "2,x:INFO"),
    run(input) {
      parseCategories(input.toString("utf8").slice(0, 4000))("net.p2p.traffic", "DEBUG");
    },
  },
};

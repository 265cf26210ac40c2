import { fromFile } from "../../bin/dist/src/configuration.js";
import { BadUsage, parseFlags } from "../../bin/dist/src/flags.js";
import { nodeFlags } from "../../bin/dist/src/node.js";
import { walletFlags } from "../../bin/dist/src/wallet.js";
import { BadCheckpoints, parseCheckpoints } from "../../packages/consensus/dist/src/checkpoint-file.js";
import { parseCategories } from "../../packages/rpc/dist/src/log/categories.js";
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
  "log-categories": {
    seeds: () => text("*:WARNING,net.p2p:DEBUG,a?b*:TRACE", "2,x:INFO"),
    run(input) {
      parseCategories(input.toString("utf8").slice(0, 4000))("net.p2p.traffic", "DEBUG");
    },
  },
};

import { daemon } from "../daemon/daemon.ts";
import { nodeDescriptions } from "../daemon/descriptions.ts";
import { nodeErrors } from "./error-catalogue.ts";
import { readExamples } from "./examples.ts";
import { amountsNote, type ServiceReference, version } from "./service-reference.ts";

/** What the node's document says beside its declarations. */
export function nodeReference(): ServiceReference {
  return {
    title: "Anulo node",
    version,
    description: `The node's calls, as monerod answers them. Methods are called at \`/json_rpc\`; \`x-paths\` are paths of their own, to which the params are sent as the body. ${amountsNote}`,
    server: {
      url: "http://127.0.0.1:18081/json_rpc",
      description: "The node's own port on mainnet; 28081 on testnet, 38081 on stagenet.",
    },
    subjects: [
      { name: "blocks", description: "Blocks and the chain they form.", calls: daemon.blocks },
      {
        name: "transactions",
        description: "Transactions by hash, key images, and sending transactions.",
        calls: daemon.transactions,
      },
      { name: "outputs", description: "Outputs and how many there are.", calls: daemon.outputs },
      { name: "pool", description: "The transaction pool and fees.", calls: daemon.pool },
      { name: "mining", description: "Making blocks, for miners and for tests.", calls: daemon.mining },
      { name: "network", description: "Peers, connections, bans and bandwidth.", calls: daemon.network },
      { name: "admin", description: "The node itself: state, version, logs, stop.", calls: daemon.admin },
      { name: "access", description: "Payment for access, which is not sold.", calls: daemon.access },
    ],
    descriptions: nodeDescriptions,
    errors: nodeErrors,
    examples: readExamples("node"),
  };
}

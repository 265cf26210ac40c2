import { costs } from "../costs.ts";
import { type DeclaredResource, resource } from "../resource.ts";
import { type QueryFields, queryNumber, queryText } from "../schema/query.ts";
import type { NeededScope } from "../scope.ts";

const MAX_EVENTS = 1000;

const walletResource = <const Query extends QueryFields>(
  declaration: DeclaredResource<Query> & { readonly scope: NeededScope },
) => resource(declaration);

/** What the wallet service answers to GET. */
export const walletResources = {
  events: walletResource({
    path: "/events",
    scope: "read",
    query: {
      /** Sequence number; 0 for all. */
      after: queryNumber({ absent: 0 }),
      limit: queryNumber({ min: 1, max: MAX_EVENTS, absent: 100 }),
      /** Types, with commas between them. */
      types: queryText({ longest: 1000, pattern: /^[a-z_]+(?:,[a-z_]+)*$/ }),
      /** Name of a wallet, in place of a path that names it. */
      wallet: queryText({ longest: 255 }),
    },
    cost: costs.medium,
    summary: "What happened in the wallets, oldest first; as a stream where that is accepted.",
  }),
};

import { type FlagTable, formatFlags } from "./flags.ts";

/** Headings of the help, and the flags below each, by name; the first match decides. */
const groups: readonly (readonly [title: string, names: RegExp])[] = [
  ["Running", /^(?:help|version|os-version|config-file|detach|pidfile|non-interactive|max-concurrency)$/],
  ["Logs and monitoring", /^(?:log-|max-log-|metrics-)/],
  [
    "RPC",
    /^(?:rpc-|restricted-rpc|disable-rpc-|confirm-external-bind|console|public-node|tokens|first-token-file)/,
  ],
  ["Notifications", /-notify$|^(?:zmq-|no-zmq|events|allow-private-webhooks|keep-events)/],
  ["Mining", /mining|^(?:extra-messages-file|portable-randomx)/],
  ["The node of the wallets", /^(?:daemon-|trusted-|untrusted-|allow-mismatched-)/],
  [
    "Wallets",
    /wallet|^(?:generate-from-json|password|prompt-for-password|store|service-key-file|accept-older-store|fleet|no-original-cache|kdf-|extra-entropy|hw-)/,
  ],
  [
    "Chain and database",
    /^(?:regtest|testnet|stagenet|data-dir|fixed-|fast-block-|db-|keep-alt-|prune-|check-)/,
  ],
  [
    "Peers and synchronization",
    /^(?:p2p-|hide-my-|allow-local-|add-|seed-node|out-peers|in-peers|max-connections|limit-|ban-list|enable-dns-|proxy|tx-proxy|anonymous-|pad-|no-sync|block-|max-txpool-|bootstrap-|offline|no-dns|trust-dns-)/,
  ],
];

const WITHOUT_EFFECT = "Accepted without effect";

/** The heading of a flag; undefined if none matches. */
export function groupOf(name: string): string | undefined {
  return groups.find(([, names]) => names.test(name))?.[0];
}

/** The table as help text in groups, with flags that have no effect last. */
export function formatGroups(table: FlagTable): string {
  const titles = [...groups.map(([title]) => title), "Other", WITHOUT_EFFECT];
  const entries = Object.entries(table);
  const titleOf = ([name, flag]: (typeof entries)[number]) =>
    flag.noEffect === undefined ? (groupOf(name) ?? "Other") : WITHOUT_EFFECT;
  const parts = titles.map((title) => {
    const flags = Object.fromEntries(entries.filter((entry) => titleOf(entry) === title));
    return Object.keys(flags).length === 0 ? "" : `${title}\n${formatFlags(flags)}`;
  });
  return parts.filter((part) => part !== "").join("\n\n");
}

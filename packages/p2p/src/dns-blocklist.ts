import type { Bans } from "./bans.ts";

/** Who publishes addresses to shut out, each the same list. Source: net_node.inl `update_dns_blocklist`. */
export const blocklistNames: readonly string[] = ["se", "org", "net", "no", "fr", "de", "ch"].map(
  (country) => `blocklist.moneropulse.${country}`,
);

/** Seconds a listed address is shut out, and between two looks. Source: `DNS_BLOCKLIST_LIFETIME`, `m_dns_blocklist_interval`. */
const LIFETIME_SECONDS = 8 * 24 * 60 * 60;
export const BLOCKLIST_INTERVAL_MS = 7000 * 1000;
/** Entries taken, at most, and the largest subnet: whoever forges answers shall not cut us off. */
const MAX_ENTRIES = 4096;
const MIN_SUBNET_BITS = 16;

/**
 * The texts that more than half of those asked gave alike; undefined where there is no such majority.
 * Source: dns_utils.cpp `load_txt_records_from_dns`.
 */
export function majorityOf(answers: readonly (readonly string[])[]): readonly string[] | undefined {
  const counts = new Map<string, number>();
  for (const texts of answers) {
    if (texts.length === 0) continue;
    const key = JSON.stringify([...new Set(texts)].sort());
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const [best] = [...counts].sort(([, a], [, b]) => b - a);
  if (best === undefined || best[1] < Math.floor(answers.length / 2) + 1) return undefined;
  return JSON.parse(best[0]) as string[];
}

function isTooWide(entry: string): boolean {
  const bits = /\/(\d+)$/.exec(entry)?.[1];
  return bits !== undefined && Number(bits) < MIN_SUBNET_BITS;
}

/** Shuts out what these texts name, addresses and subnets between semicolons; how many it was, and what was neither. */
export function banFromBlocklist(
  bans: Bans,
  texts: readonly string[],
): { banned: number; invalid: string[] } {
  const entries = texts.flatMap((text) => text.split(";")).map((entry) => entry.trim());
  const named = entries.filter((entry) => entry !== "").slice(0, MAX_ENTRIES);
  const invalid = named.filter((entry) => isTooWide(entry) || !bans.set(entry, LIFETIME_SECONDS));
  return { banned: named.length - invalid.length, invalid };
}

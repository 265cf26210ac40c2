import type { Bans } from "./bans.ts";

/** Names that publish the same list of addresses to ban. Source: net_node.inl `update_dns_blocklist`. */
export const blocklistNames: readonly string[] = ["se", "org", "net", "no", "fr", "de", "ch"].map(
  (country) => `blocklist.moneropulse.${country}`,
);

/**
 * Seconds for which a listed address is banned, and seconds between two requests of the list. Source:
 * `DNS_BLOCKLIST_LIFETIME`, `m_dns_blocklist_interval`.
 */
const LIFETIME_SECONDS = 8 * 24 * 60 * 60;
export const BLOCKLIST_INTERVAL_MS = 7000 * 1000;
/** Maximum number of entries, and minimum prefix length of a subnet, so that forged answers cannot ban all peers. */
const MAX_ENTRIES = 4096;
const MIN_SUBNET_BITS = 16;

/**
 * The texts that more than half of the names returned; undefined where there is no such majority. Source: dns_utils.cpp
 * `load_txt_records_from_dns`.
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

/**
 * Bans the entries of these texts, addresses and subnets separated by semicolons; returns how many were banned and
 * which entries were invalid.
 */
export function banFromBlocklist(
  bans: Bans,
  texts: readonly string[],
): { banned: number; invalid: string[] } {
  const entries = texts.flatMap((text) => text.split(";")).map((entry) => entry.trim());
  const named = entries.filter((entry) => entry !== "").slice(0, MAX_ENTRIES);
  const invalid = named.filter((entry) => isTooWide(entry) || !bans.set(entry, LIFETIME_SECONDS));
  return { banned: named.length - invalid.length, invalid };
}

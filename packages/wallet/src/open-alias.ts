/** Addresses that have names in DNS. Source: dns_utils.cpp `addresses_from_url`, openalias.org. */
import { mapSliced, TimeSlice } from "@anulo/limits";
import { BadAddress, type NetworkName, parseAddress } from "@anulo/protocol";
import { isDomainName, lookUpTexts, type NameServer } from "@anulo/rpc";
import { connectThrough, type SocksProxy } from "@anulo/socks";
import type { DaemonAddress } from "./daemon.ts";
import type { OpenWallet } from "./file/open-wallet.ts";
import { WalletRefusal } from "./refusal.ts";

export type AliasOptions = {
  /** The name servers; those of this machine if left out. */
  readonly servers?: readonly NameServer[];
  /** Whether the servers are trusted when they report that they checked the signatures of a response (DNSSEC). */
  readonly trustServers: boolean;
};

/** The properties of a service that decide how names are looked up. */
type Surroundings = {
  readonly opened: Pick<OpenWallet, "wallet"> | undefined;
  readonly options: {
    readonly aliases?: AliasOptions;
    readonly network?: NetworkName;
    readonly daemon: DaemonAddress;
  };
};

/** The address that DNS returned for a name. */
type Alias = {
  readonly address: string;
  /** Whether DNSSEC proves it, so that a payment may rely on it. */
  readonly isProven: boolean;
};

/** Time limit (milliseconds) for all the names of a request. */
const LOOK_UP_MS = 5_000;
/** Lengths (characters) of a plain address, and of one with a payment id. */
const ADDRESS_LENGTHS: readonly number[] = [95, 106];

/**
 * The domain name that a caller may mean, with the first "@" replaced by a dot. Source: dns_utils.cpp
 * `get_dns_format_from_oa_address`.
 */
export function aliasNameOf(text: string): string | undefined {
  const name = text.replace("@", ".");
  return isDomainName(name) ? name : undefined;
}

/** The Monero address in a text record. Source: dns_utils.cpp `address_from_txt_record`. */
export function addressInRecord(record: string): string | undefined {
  const ours = record.indexOf("oa1:xmr");
  if (ours < 0) return undefined;
  const [, address = ""] = /recipient_address=([^;]*);/.exec(record.slice(ours)) ?? [];
  return ADDRESS_LENGTHS.includes(address.length) ? address : undefined;
}

/**
 * A user who reaches the node through a proxy must not be visible to name servers: then only the servers named in the
 * options are used, through that proxy.
 */
function proxyOf({ opened, options }: Surroundings): SocksProxy | undefined {
  return opened?.wallet.daemon.address.proxy ?? options.daemon.proxy;
}

/**
 * Looks up the address of a name; undefined for text that is not a domain name, when DNS is off, and when DNS has no
 * address for it.
 */
export async function findAlias(
  text: string,
  service: Surroundings,
  signal = AbortSignal.timeout(LOOK_UP_MS),
): Promise<Alias | undefined> {
  const name = aliasNameOf(text);
  const { aliases } = service.options;
  if (name === undefined || aliases === undefined) return undefined;
  const { servers, trustServers } = aliases;
  const proxy = proxyOf(service);
  if (proxy !== undefined && servers === undefined) return undefined;
  const lookup = await lookUpTexts(name, {
    signal,
    ...(servers !== undefined && { servers }),
    ...(proxy !== undefined && { connect: connectThrough.bind(undefined, proxy) }),
  });
  const address = lookup?.texts.map(addressInRecord).find((each) => each !== undefined);
  if (lookup === undefined || address === undefined) return undefined;
  return { address, isProven: trustServers && lookup.isAuthenticated };
}

function isAddress(text: string, network: NetworkName): boolean {
  try {
    parseAddress(text, network);
    return true;
  } catch (error) {
    if (error instanceof BadAddress) return false;
    throw error;
  }
}

/**
 * Returns the address that a caller means: if the text is not an address of the wallet's network but a name, the
 * address DNS has for it. Other text is returned as it is. Throws WalletRefusal for a name that is not proven.
 * Source: wallet_rpc_server.cpp `validate_transfer`.
 */
export async function resolveAddress(
  text: string,
  service: Surroundings,
  signal?: AbortSignal,
): Promise<string> {
  const { network = "mainnet" } = service.options;
  if (isAddress(text, network)) return text;
  const alias = await findAlias(text, service, signal);
  if (alias === undefined) return text;
  if (!alias.isProven) throw new WalletRefusal("WRONG_ADDRESS", `Invalid DNSSEC for ${text}`);
  return isAddress(alias.address, network) ? alias.address : text;
}

/** Resolves several, one after another and in slices, up to the first name without address; each distinct name is looked up once. */
export async function resolveAddresses<T extends { readonly address: string }>(
  destinations: readonly T[],
  service: Surroundings,
): Promise<T[]> {
  const addresses = new Map<string, string>();
  const signal = AbortSignal.timeout(LOOK_UP_MS);
  const slice = new TimeSlice();
  for (const { address } of destinations) {
    if (slice.isOver) await slice.yield();
    if (addresses.has(address)) continue;
    const resolution = await resolveAddress(address, service, signal);
    if (aliasNameOf(resolution) !== undefined) break;
    addresses.set(address, resolution);
  }
  return await mapSliced(destinations, (each) => ({
    ...each,
    address: addresses.get(each.address) ?? each.address,
  }));
}

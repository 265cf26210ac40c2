import { type PeerAddress, unknownHosts, type Zone } from "./address.ts";
import { type Bans, banAll, createBans } from "./bans.ts";
import { systemClock } from "./clock.ts";
import type { SharedLines } from "./connection/link.ts";
import { type NetworkIo, systemNetworkIo } from "./connection/network-io.ts";
import { SharedMemory } from "./connection/peer-memory.ts";
import { SharedWork } from "./connection/shared-work.ts";
import type { OpenPort } from "./connection/tcp.ts";
import { ConnectionMaker } from "./connection-maker.ts";
import { createDial } from "./dial.ts";
import { BLOCKLIST_INTERVAL_MS, banFromBlocklist, majorityOf } from "./dns-blocklist.ts";
import { createFaults } from "./faults.ts";
import { readLists, type StoredLists, writeLists } from "./lists-file.ts";
import type { AnonymityZone, ListenEndpoint, PeerNetworkOptions } from "./options.ts";
import type { Peer } from "./peer.ts";
import type { NetStats, PeerLists, PeerNetwork } from "./peer-network.ts";
import { random64, systemRandom } from "./random.ts";
import { createSeeds } from "./seeds.ts";
import type { Session } from "./session.ts";
import { FairShare } from "./throttle.ts";
import { type NetworkContext, PeerZone } from "./zone.ts";
import { anonymityZoneOptions, networkDefaults, publicZoneOptions, type ZoneParts } from "./zone-options.ts";

const BYTES_PER_KB = 1024;
const TICK_MS = 1000;
const INCOMING_CHECK_INTERVAL_MS = 60 * 60_000;
const SAVE_INTERVAL_MS = 30 * 60_000;

/** Creates a network; tests pass their own `wires` in place of sockets. */
export function createPeerNetwork(
  options: PeerNetworkOptions,
  wires: NetworkIo = systemNetworkIo,
): PeerNetwork {
  return new Network(options, wires);
}

class Network implements PeerNetwork {
  readonly bans: Bans;
  readonly #options: PeerNetworkOptions;
  readonly #io: NetworkIo;
  readonly #lines: SharedLines;
  readonly #zones: readonly PeerZone[];
  readonly #public: PeerZone;
  readonly #abort = new AbortController();
  readonly #closed = { bytesIn: 0, bytesOut: 0, packetsIn: 0, packetsOut: 0 };
  #makers: readonly ConnectionMaker[] = [];
  #openPorts: OpenPort[] = [];
  #anonymityPorts: OpenPort[] = [];
  #storedLists: ReadonlyMap<Zone, StoredLists> = new Map();
  #cancelTick = () => {};
  #nextSave = 0;
  #nextIncomingCheck = 0;
  #nextBlocklist = 0;

  constructor(options: PeerNetworkOptions, wires: NetworkIo) {
    const { clock = systemClock, random = systemRandom, log = silent } = options;
    this.#options = options;
    this.#io = wires;
    this.bans = createBans(() => clock.seconds());
    const rate = (kilobytes: number) => new FairShare(clock, kilobytes * BYTES_PER_KB);
    this.#lines = {
      clock,
      up: rate(options.limitUp ?? networkDefaults.limitUp),
      down: rate(options.limitDown ?? networkDefaults.limitDown),
      memory: new SharedMemory(() => this.#sessions),
      work: new SharedWork(options.workClock ?? systemClock, options.turns),
    };
    const commons: NetworkContext = {
      lines: this.#lines,
      handlers: new Map(options.notifications.map((handler) => [handler.id, handler])),
      bans: this.bans,
      faults: createFaults(this.bans),
      log,
      random,
      allowLocal: options.allowLocal ?? false,
      ipv6: options.ipv6 ?? false,
      timedSyncIntervalMs: (options.timedSyncSeconds ?? 60) * 1000,
      syncData: () => options.syncData(),
      onSyncData: (peer, data) => options.onSyncData(peer, data),
      onConnected: (peer) => options.onConnected(peer),
      onClosed: (peer) => options.onClosed(peer),
      count: (session) => this.#add(session),
    };
    const parts: ZoneParts = {
      options,
      peerId: random64(random),
      port: () => this.ports[0],
      dialThrough: (proxy) => createDial({ wires, clock, proxy, stopped: this.#abort.signal }),
    };
    this.#public = new PeerZone(commons, publicZoneOptions(parts));
    const anonymityZones = (options.zones ?? []).map(
      (zone) => new PeerZone(commons, anonymityZoneOptions(zone, parts)),
    );
    this.#zones = [this.#public, ...anonymityZones];
    this.bans.onBan((covers) => this.#dropBanned(covers));
    for (const line of banAll(this.bans, options.banList ?? "")) {
      log.error("a line of the ban list is no address", { line });
    }
  }

  async start(): Promise<void> {
    this.#load();
    if (this.#options.offline === true) return;
    try {
      for (const endpoint of this.#options.listen ?? []) await this.#open(endpoint);
      for (const zone of this.#options.zones ?? []) await this.#openAnonymityPort(zone);
    } catch (error) {
      await this.#closePorts();
      throw error;
    }
    this.#makers = this.#zones.map((zone) => this.#maker(zone));
    this.#nextSave = this.#lines.clock.milliseconds() + SAVE_INTERVAL_MS;
    this.#nextIncomingCheck = this.#lines.clock.milliseconds() + INCOMING_CHECK_INTERVAL_MS;
    this.#tick();
  }

  async stop(): Promise<void> {
    this.#cancelTick();
    this.#save();
    this.#abort.abort();
    for (const zone of this.#zones) zone.stop();
    this.#lines.up.stop();
    this.#lines.down.stop();
    this.#lines.work.stop();
    await this.#closePorts();
  }

  peers(): readonly Peer[] {
    return this.#zones.flatMap((zone) => zone.peers);
  }

  lists(zone: Zone): PeerLists {
    const lists = this.#zones.find((candidate) => candidate.zone === zone)?.lists;
    return { white: lists?.white ?? [], gray: lists?.gray ?? [] };
  }

  counts(zone: Zone): { white: number; gray: number } {
    const lists = this.#zones.find((candidate) => candidate.zone === zone)?.lists;
    return lists?.counts ?? { white: 0, gray: 0 };
  }

  get stats(): NetStats {
    const total = { ...this.#closed };
    for (const session of this.#zones.flatMap((zone) => [...zone.sessions])) addTo(total, session);
    return total;
  }

  get memory(): { used: number; capacity: number } {
    const { used, capacity } = this.#lines.memory.budget;
    return { used, capacity };
  }

  get limits(): { up: number; down: number } {
    const { up, down } = this.#lines;
    return {
      up: up.bucket.bytesPerSecond / BYTES_PER_KB,
      down: down.bucket.bytesPerSecond / BYTES_PER_KB,
    };
  }

  setLimits({ up, down }: { up?: number; down?: number }): void {
    if (up !== undefined) this.#lines.up.bucket.bytesPerSecond = up * BYTES_PER_KB;
    if (down !== undefined) this.#lines.down.bucket.bytesPerSecond = down * BYTES_PER_KB;
  }

  get maxOut(): number {
    return this.#public.options.maxOut;
  }

  get maxIn(): number {
    return this.#public.options.maxIn;
  }

  setMaxOut(count: number): void {
    this.#public.options.maxOut = count;
    this.#public.shrink("out", count);
  }

  setMaxIn(count: number): void {
    this.#public.options.maxIn = count;
    this.#public.shrink("in", count);
  }

  get ports(): readonly number[] {
    return this.#openPorts.map(({ port }) => port);
  }

  #maker(zone: PeerZone): ConnectionMaker {
    const { nodes = {}, neededStripe = () => 0, isSynchronized = () => false, proxy } = this.#options;
    const { canLookUp = proxy === undefined } = this.#options;
    const of = (addresses: readonly PeerAddress[] = []) => {
      return addresses.filter(({ kind }) =>
        zone.zone === "public" ? kind.startsWith("ip") : kind === zone.zone,
      );
    };
    const isPublic = zone.zone === "public";
    for (const address of of(nodes.add)) {
      const peerId = random64(zone.random);
      zone.lists.addWhite({ address, peerId, lastSeen: 0, pruningSeed: 0, rpcPort: 0 });
    }
    return new ConnectionMaker(zone, {
      exclusive: of(nodes.exclusive),
      isExclusive: (nodes.exclusive ?? []).length > 0,
      priority: of(nodes.priority),
      anchors: this.#storedLists.get(zone.zone)?.anchors ?? [],
      // The proxy hides our address, so names are not looked up without it.
      seeds: createSeeds({
        addresses: of(nodes.seed),
        names: isPublic && canLookUp ? (nodes.seedNames ?? []) : [],
        lookUp: (name) => this.#io.lookUp(name),
      }),
      neededStripe: () => neededStripe(),
      // Chains are told of in the public zone alone.
      isSynchronized: (peer) => isPublic && isSynchronized(peer),
    });
  }

  async #open(endpoint: ListenEndpoint): Promise<void> {
    try {
      const port = await this.#io.listen(endpoint, (transport, from) => {
        this.#public.accept(transport, from);
      });
      this.#openPorts.push(port);
    } catch (error) {
      if (endpoint.isOptional !== true) throw error;
      this.#options.log?.warn("a port for peers cannot be opened", { ...endpoint, error });
    }
  }

  async #openAnonymityPort({ zone, inbound }: AnonymityZone): Promise<void> {
    if (inbound === undefined) return;
    const hidden = this.#zones.find((candidate) => candidate.zone === zone)!;
    const from: PeerAddress = { kind: zone, host: unknownHosts[zone], port: 0 };
    const port = await this.#io.listen(inbound.listen, (transport) => hidden.accept(transport, from));
    this.#anonymityPorts.push(port);
  }

  async #closePorts(): Promise<void> {
    const ports = [...this.#openPorts, ...this.#anonymityPorts];
    await Promise.all(ports.map((port) => port.close()));
  }

  #tick(): void {
    this.#cancelTick = this.#lines.clock.after(TICK_MS, () => this.#tick());
    for (const zone of this.#zones) zone.tick();
    for (const maker of this.#makers) maker.tick();
    this.#checkIncoming();
    this.#readBlocklist();
    if (this.#lines.clock.milliseconds() >= this.#nextSave) {
      this.#nextSave += SAVE_INTERVAL_MS;
      this.#save();
    }
  }

  /**
   * Once an hour, warns if there are no incoming connections: such a node is of little use to others. Source:
   * node_server `check_incoming_connections`.
   */
  #checkIncoming(): void {
    const now = this.#lines.clock.milliseconds();
    if (now < this.#nextIncomingCheck) return;
    this.#nextIncomingCheck = now + INCOMING_CHECK_INTERVAL_MS;
    const port = this.#public.nodeData().my_port;
    if (port === 0 || this.maxIn === 0 || this.#public.peersOf("in").length > 0) return;
    this.#options.log?.warn("no incoming connections: does the firewall or router let peers in?", { port });
  }

  /** Requests the block list from time to time. A request without an answer is repeated later. */
  #readBlocklist(): void {
    const { blocklistNames = [], log } = this.#options;
    const now = this.#lines.clock.milliseconds();
    if (blocklistNames.length === 0 || now < this.#nextBlocklist) return;
    this.#nextBlocklist = now + BLOCKLIST_INTERVAL_MS;
    const lookups = blocklistNames.map((name) => this.#io.lookUpTexts(name));
    void Promise.all(lookups).then((answers) => {
      const texts = majorityOf(answers);
      if (texts === undefined) return log?.warn("there is no block list that most agree on");
      const { banned, invalid } = banFromBlocklist(this.bans, texts);
      log?.info("addresses of the block list are shut out", { banned });
      if (invalid.length > 0) log?.warn("entries of the block list are no addresses", { invalid });
    });
  }

  get #sessions(): Session[] {
    return this.#zones.flatMap((zone) => [...zone.sessions]);
  }

  #dropBanned(covers: (address: PeerAddress) => boolean): void {
    for (const session of this.#sessions) if (covers(session.address)) session.drop("banned");
    for (const zone of this.#zones) zone.lists.forget(covers);
  }

  #add(session: Session): void {
    addTo(this.#closed, session);
  }

  #load(): void {
    const bytes = this.#options.storage?.load();
    if (bytes === undefined) return;
    try {
      this.#storedLists = readLists(bytes);
    } catch (error) {
      this.#options.log?.warn("the kept peer lists cannot be read; starting without", { error });
    }
    for (const zone of this.#zones) {
      const lists = this.#storedLists.get(zone.zone);
      for (const peer of lists?.gray ?? []) zone.lists.addGray(peer);
      for (const peer of lists?.white ?? []) zone.lists.addWhite(peer);
    }
  }

  #save(): void {
    const lists = this.#zones.map((zone) => {
      const anchors = zone.peersOf("out").map(({ address }) => address);
      return [zone.zone, { white: zone.lists.white, gray: zone.lists.gray, anchors }] as const;
    });
    try {
      this.#options.storage?.save(writeLists(new Map(lists)));
    } catch (error) {
      this.#options.log?.error("the peer lists cannot be kept", { error });
    }
  }
}

type Totals = { bytesIn: number; bytesOut: number; packetsIn: number; packetsOut: number };

function addTo(totals: Totals, { traffic, packets }: Session): void {
  totals.bytesIn += traffic.received;
  totals.bytesOut += traffic.sent;
  totals.packetsIn += packets.in;
  totals.packetsOut += packets.out;
}

const drop = () => {};
const silent = { error: drop, warn: drop, info: drop, debug: drop };

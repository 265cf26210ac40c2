import { connect, type Socket } from "node:net";
import { blockId, genesisBlock, networks } from "@anulo/protocol";
import { HostileConnection } from "./hostile-connection.ts";
import { message, objectEntry, stringEntry, uint8Entry, uint32Entry, uint64Entry } from "./portable-bytes.ts";

const HEADER_BYTES = 33;
const flags = { request: 1, response: 2 } as const;

/** Commands of the network. Source: p2p_protocol_defs.h, cryptonote_protocol_defs.h. */
export const commands = {
  handshake: 1001,
  timedSync: 1002,
  ping: 1003,
  supportFlags: 1007,
  newBlock: 2001,
  newTransactions: 2002,
  requestBlocks: 2003,
  blocks: 2004,
  requestChain: 2006,
  chain: 2007,
  newFluffyBlock: 2008,
  requestMissing: 2009,
  poolComplement: 2010,
} as const;

export interface FrameOptions {
  readonly flags?: number;
  readonly expectsResponse?: boolean;
  /** Length the header claims, where it is not that of the payload. */
  readonly claimedBytes?: number;
}

/** A frame by hand. Source: levin_base.h `bucket_head2`. */
export function frame(command: number, payload: Uint8Array, options: FrameOptions = {}): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write("0121010101010101", "hex");
  header.writeBigUInt64LE(BigInt(options.claimedBytes ?? payload.length), 8);
  header.writeUInt8(options.expectsResponse ? 1 : 0, 16);
  header.writeUInt32LE(command, 17);
  header.writeInt32LE(options.flags === flags.response ? 1 : 0, 21);
  header.writeUInt32LE(options.flags ?? flags.request, 25);
  header.writeUInt32LE(1, 29);
  return Buffer.concat([header, payload]);
}

export const requestFrame = (command: number, payload: Uint8Array) =>
  frame(command, payload, { expectsResponse: true });
export const responseFrame = (command: number, payload: Uint8Array) =>
  frame(command, payload, { flags: flags.response });

/** The chain a peer claims to have. */
export interface Claim {
  readonly height: number;
  readonly difficulty: bigint;
  readonly topId: Uint8Array;
  readonly pruningSeed?: number;
}

export const genesisClaim: Claim = {
  height: 1,
  difficulty: 1n,
  topId: blockId(genesisBlock(networks.regtest)),
};

export const claimEntry = ({ height, difficulty, topId, pruningSeed = 0 }: Claim) =>
  objectEntry(
    "payload_data",
    uint64Entry("cumulative_difficulty", BigInt.asUintN(64, difficulty)),
    uint64Entry("cumulative_difficulty_top64", difficulty >> 64n),
    uint64Entry("current_height", BigInt(height)),
    ...(pruningSeed === 0 ? [] : [uint32Entry("pruning_seed", pruningSeed)]),
    stringEntry("top_id", topId),
    uint8Entry("top_version", 16),
  );

export const nodeDataEntry = (peerId: bigint) =>
  objectEntry(
    "node_data",
    stringEntry("network_id", networks.regtest.peerNetworkId),
    uint32Entry("my_port", 0),
    uint64Entry("peer_id", peerId),
    uint32Entry("support_flags", 1),
  );

export interface ReceivedFrame {
  readonly command: number;
  readonly isResponse: boolean;
  readonly payload: Buffer;
}

/** A connection to the besieged node's port for peers, from an address of its own. */
export class HostilePeer extends HostileConnection {
  /** Sends so far; the first is the handshake. */
  sends = 0;
  onFrame: (frame: ReceivedFrame) => void = () => {};
  #rest: Buffer = Buffer.alloc(0);

  override async send(bytes: Uint8Array): Promise<boolean> {
    if (!this.isClosed) this.sends++;
    return await super.send(bytes);
  }

  protected override receive(bytes: Buffer): void {
    this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    while (this.#rest.length >= HEADER_BYTES) {
      const end = HEADER_BYTES + this.#rest.readUInt32LE(8);
      if (this.#rest.length < end) return;
      this.onFrame({
        command: this.#rest.readUInt32LE(17),
        isResponse: (this.#rest.readUInt32LE(25) & flags.response) !== 0,
        payload: this.#rest.subarray(HEADER_BYTES, end),
      });
      this.#rest = this.#rest.subarray(end);
    }
  }
}

/** Connects from an address of this machine (127.x.y.z); undefined where the node or system refuses. */
export function openSocket(port: number, localAddress: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, localAddress, noDelay: true });
    socket.once("connect", () => resolve(socket));
    socket.once("error", () => resolve(undefined));
  });
}

/** What begins a connection: who we claim to be and which chain we claim to have. */
export function greeting(peerId: bigint, claim: Claim = genesisClaim): Buffer {
  return requestFrame(commands.handshake, message(nodeDataEntry(peerId), claimEntry(claim)));
}

export type OnFrame = (frame: ReceivedFrame, peer: HostilePeer) => void;

export interface Handshake {
  readonly peerId: bigint;
  readonly claim?: Claim | undefined;
  /** Receives what the node sends from its response on. */
  readonly onFrame?: OnFrame | undefined;
}

/** Shakes hands; false where the node hangs up instead. */
export async function shakeHands(peer: HostilePeer, handshake: Handshake): Promise<boolean> {
  const { peerId, claim, onFrame } = handshake;
  const response = new Promise<true>((resolve) => {
    peer.onFrame = ({ command }) => {
      if (command !== commands.handshake) return;
      peer.onFrame = (received) => onFrame?.(received, peer);
      resolve(true);
    };
  });
  await peer.send(greeting(peerId, claim));
  return await Promise.race([response, peer.closed.then(() => false)]);
}

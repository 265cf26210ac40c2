import { type AddressInfo, createServer } from "node:net";
import {
  claimEntry,
  commands,
  genesisClaim,
  HostilePeer,
  nodeDataEntry,
  responseFrame,
} from "./hostile-peer.ts";
import {
  arrayEntry,
  fields,
  message,
  objectEntry,
  tags,
  uint8Entry,
  uint16Entry,
  uint32Entry,
  uint64Entry,
} from "./portable-bytes.ts";

/** An attacker who waits to be called. */
export interface HostileListener {
  readonly address: string;
  /** Connections that the node opened. */
  readonly calls: number;
  /** Receives each of them. */
  onCall: (peer: HostilePeer) => void;
  stop(): void;
}

/** Listens on a free port of 127.0.0.1. */
export async function startListener(): Promise<HostileListener> {
  const open = new Set<HostilePeer>();
  let calls = 0;
  const listener = {
    address: "",
    onCall: (peer: HostilePeer) => peer.leave(),
    get calls() {
      return calls;
    },
    stop() {
      server.close();
      for (const peer of open) peer.leave();
    },
  };
  const server = createServer((socket) => {
    calls++;
    const peer = new HostilePeer(socket);
    open.add(peer);
    void peer.closed.then(() => open.delete(peer));
    listener.onCall(peer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  listener.address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return listener;
}

/** What a peer announces about another: an IPv4 address as a number (first byte lowest) and a port. */
export interface ToldPeer {
  readonly ip: number;
  readonly port: number;
}

const toldFields = ({ ip, port }: ToldPeer) =>
  fields(
    objectEntry(
      "adr",
      objectEntry("addr", uint32Entry("m_ip", ip), uint16Entry("m_port", port)),
      uint8Entry("type", 1),
    ),
    uint64Entry("id", BigInt(ip) << 8n),
    uint64Entry("last_seen", 1n),
  );

/** The response to a handshake, with the peers it announces. */
export function handshakeResponse(peers: readonly ToldPeer[]): Buffer {
  const list = { count: peers.length, bytes: Buffer.concat(peers.map(toldFields)) };
  return responseFrame(
    commands.handshake,
    message(
      nodeDataEntry(99n),
      claimEntry(genesisClaim),
      arrayEntry("local_peerlist_new", tags.object, list),
    ),
  );
}

import { connect, type Socket } from "node:net";
import {
  blockId,
  epee,
  genesisBlock,
  networks,
  type PortableObject,
  readPortable,
  writeRecord,
} from "@anulo/protocol";

/** Frames as bytes, written apart from the code that is tested. Source: levin_base.h. */
export function frame(
  command: number,
  payload: Uint8Array,
  { isRequest = true, length = payload.length } = {},
): Buffer {
  const header = Buffer.alloc(33);
  header.write("0121010101010101", "hex");
  header.writeBigUInt64LE(BigInt(length), 8);
  header.writeUInt8(isRequest ? 1 : 0, 16);
  header.writeUInt32LE(command, 17);
  header.writeUInt32LE(1, 25);
  header.writeUInt32LE(1, 29);
  return Buffer.concat([header, payload]);
}

const nodeData = epee.record({
  network_id: epee.fixedBytes(16),
  my_port: epee.u32,
  peer_id: epee.u64,
  support_flags: epee.u32,
});
const syncData = epee.record({
  cumulative_difficulty: epee.u64,
  cumulative_difficulty_top64: epee.u64,
  current_height: epee.count64,
  top_id: epee.fixedBytes(32),
  top_version: epee.u8,
});
const handshake = epee.record({ node_data: nodeData, payload_data: syncData });
const timedSync = epee.record({ payload_data: syncData });
const genesis = {
  cumulative_difficulty: 1n,
  cumulative_difficulty_top64: 0n,
  current_height: 1,
  top_id: blockId(genesisBlock(networks.regtest)),
  top_version: 1,
};

/** The request that begins a connection. */
export function greeting(peerId: bigint, networkId: Uint8Array = networks.regtest.peerNetworkId): Buffer {
  const node_data = { network_id: networkId, my_port: 0, peer_id: peerId, support_flags: 1 };
  return frame(1001, writeRecord(handshake, { node_data, payload_data: genesis }));
}

export function newsRequest(): Buffer {
  return frame(1002, writeRecord(timedSync, { payload_data: genesis }));
}

export function pingRequest(): Buffer {
  return frame(1003, writeRecord(epee.record({}), {}));
}

/** A connection through which a test sends bytes. */
export interface RawPeer {
  readonly socket: Socket;
  /** Frames that came: command and payload. */
  readonly frames: readonly { readonly command: number; readonly fields: () => PortableObject }[];
  readonly isClosed: boolean;
}

/** Connects to a port of this machine from one of its addresses (127.x.y.z). */
export function callFrom(localAddress: string, port: number): Promise<RawPeer> {
  const frames: { command: number; fields: () => PortableObject }[] = [];
  const socket = connect({ host: "127.0.0.1", port, localAddress });
  let rest = Buffer.alloc(0);
  let isClosed = false;
  socket.on("data", (bytes: Buffer) => {
    rest = Buffer.concat([rest, bytes]);
    while (rest.length >= 33 && rest.length >= 33 + rest.readUInt32LE(8)) {
      const payload = rest.subarray(33, 33 + rest.readUInt32LE(8));
      frames.push({ command: rest.readUInt32LE(17), fields: () => readPortable(payload) });
      rest = rest.subarray(33 + payload.length);
    }
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
  });
  return new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => {
      resolve({
        socket,
        frames,
        get isClosed() {
          return isClosed;
        },
      });
    });
  });
}

import { setTimeout as delay } from "node:timers/promises";
import { post } from "@anulo/devnet";
import type { Attack } from "../attack.ts";
import { handshakeResponse } from "../hostile-listener.ts";
import { commands, frame, greeting } from "../hostile-peer.ts";

const MB = 1_000_000;
/** Addresses for measurements (RFC 2544), which lead nowhere; the first byte lowest. */
const NOWHERE = 198 + (18 << 8);
const fragment = { begin: 4, end: 8 } as const;

/** Connections, and what is not yet a message. */
export const connectionAttacks: Attack[] = [
  {
    name: "peer-half-open",
    by: "peer",
    does: "connections from hundreds of addresses that never say a word",
    stands: "connections that are opened and left",
    async run(siege) {
      for (let i = 0; i < siege.sized(600, 200) && !siege.isOver; i++) await siege.connect();
      await siege.end();
    },
  },
  {
    name: "peer-churn",
    by: "peer",
    does: "connections that shake hands and leave, hundreds a second, from ever new addresses",
    stands: "what a connection costs when it comes and goes",
    async run(siege) {
      const one = async () => {
        while (!siege.isOver) (await siege.meet())?.leave();
      };
      await Promise.all(Array.from({ length: 20 }, one));
    },
  },
  {
    name: "peer-slow-frames",
    by: "peer",
    does: "hundreds of peers send the beginning of a handshake, and then a byte in a while",
    stands: "messages that arrive for ever",
    async run(siege) {
      const bytes = greeting(1n);
      const one = async () => {
        const peer = await siege.connect();
        for (let at = 0; peer !== undefined && !peer.isClosed && !siege.isOver; at++) {
          await peer.send(bytes.subarray(at, at + 1));
          await delay(200);
        }
      };
      await Promise.all(Array.from({ length: siege.sized(300, 100) }, one));
    },
  },
  {
    name: "peer-unfinished-messages",
    by: "peer",
    does: "40 peers each send most of a message of 100 MB, and never its end",
    stands: "messages that are kept until they are whole",
    watchSeconds: 3,
    async run(siege) {
      const peers = await siege.meetMany(siege.sized(40, 12));
      const piece = Buffer.alloc(MB, 3);
      const start = frame(commands.newTransactions, piece, { claimedBytes: 99 * MB });
      await Promise.all(
        peers.map(async (peer) => {
          await Promise.race([peer.send(start), siege.end()]);
          for (let sent = 1; sent < 98 && !siege.isOver && !peer.isClosed; sent++) {
            await Promise.race([peer.send(piece), siege.end()]);
          }
        }),
      );
      await siege.end();
    },
  },
  {
    name: "peer-fragments",
    by: "peer",
    does: "fragments of a message that has a beginning and no end, small ones and large ones",
    stands: "messages in parts that are kept until they are whole",
    async run(siege) {
      await siege.flood(20, async (peer, turn) => {
        const payload = Buffer.alloc(turn % 2 === 0 ? 10 : 200_000, 5);
        await peer.send(frame(0, payload, { flags: turn % 50 === 0 ? fragment.begin : 0 }));
      });
    },
  },
  {
    name: "peer-long-claims",
    by: "peer",
    does: "frames of every command that claim more bytes than they may have, up to 2^63",
    stands: "lengths that are believed",
    mustGo: true,
    async run(siege) {
      const all = Object.values(commands);
      await siege.flood(20, async (peer, turn) => {
        const claimedBytes = [100_000_001, 2 ** 32 + 5, 2 ** 53, 2 ** 63][turn % 4]!;
        await peer.send(frame(all[turn % all.length]!, Buffer.alloc(10), { claimedBytes }));
        await peer.closed;
      });
    },
  },
  {
    name: "peer-handshakes",
    by: "peer",
    does: "one handshake after the other on a connection",
    stands: "steps of a protocol repeated out of turn",
    mustGo: true,
    async run(siege) {
      await siege.flood(20, async (peer, turn) => {
        await peer.send(greeting(BigInt(turn + 1000)));
        await peer.closed;
      });
    },
  },
  {
    name: "peer-poisoned-lists",
    by: "peer",
    isCalled: true,
    does: "a node that ours calls tells of hundreds of invented peers, hangs up, and is called again",
    stands: "peer lists filled by one who lies",
    async run(siege) {
      let listsSent = 0;
      siege.listener!.onCall = (peer) => {
        peer.onFrame = ({ command, isResponse }) => {
          if (command !== commands.handshake || isResponse) return;
          const list = Array.from({ length: 250 }, () => {
            const n = listsSent++;
            return { ip: (NOWHERE + ((n >> 8) << 16) + ((n & 255) << 24)) >>> 0, port: 1000 + (n % 60_000) };
          });
          void peer.send(handshakeResponse(list)).then(() => setTimeout(() => peer.leave(), 50));
        };
      };
      await siege.end();
      const { white_list = [], gray_list = [] } = await post(`${siege.target.url}/get_peer_list`, {});
      const [white, gray] = [white_list, gray_list].map((list) => (list as unknown[]).length);
      if (white! > 1000 || gray! > 5000) throw new Error(`${white} and ${gray} peers in the lists`);
    },
  },
  {
    name: "peer-too-many-told",
    by: "peer",
    isCalled: true,
    does: "a node that ours calls answers its handshake with 1,600 peers and megabytes of nothing",
    stands: "answers to our own questions",
    async run(siege) {
      siege.listener!.onCall = (peer) => {
        peer.onFrame = ({ command }) => {
          if (command !== commands.handshake) return;
          const list = Array.from({ length: 1600 }, (_, i) => ({ ip: NOWHERE + (i << 16), port: 18_080 }));
          void peer.send(Buffer.concat([handshakeResponse(list), Buffer.alloc(4 * MB)]));
        };
      };
      await siege.end();
    },
  },
];

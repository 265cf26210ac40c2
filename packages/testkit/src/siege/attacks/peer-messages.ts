import type { Attack } from "../attack.ts";
import { transactionsPayload } from "../hostile-data.ts";
import { commands, frame, requestFrame } from "../hostile-peer.ts";
import {
  arrayEntry,
  boolEntry,
  fields,
  message,
  objectEntry,
  stringEntry,
  stringsEntry,
  tags,
  uint8Entry,
} from "../portable-bytes.ts";

const MB = 1_000_000;
const PEERS = 8;

/** Messages whose bytes unfold into more memory or work than they cost to send. */
export const messageAttacks: Attack[] = [
  {
    name: "peer-unknown-array",
    by: "peer",
    does: "a message of new transactions, nearly as long as one may be, that is one unknown array of small numbers",
    stands: "bytes that become far larger values in fields nobody reads",
    mustGo: false,
    async run(siege) {
      const count = siege.sized(99.9 * MB, 20 * MB);
      const bytes = Buffer.alloc(count, 1);
      const payload = message(
        arrayEntry("x", tags.uint8, { count, bytes }),
        stringsEntry("txs", []),
        stringEntry("_", Buffer.alloc(0)),
        boolEntry("dandelionpp_fluff", true),
      );
      const peer = await siege.meet();
      await peer?.send(frame(commands.newTransactions, payload));
      await siege.end();
    },
  },
  {
    name: "peer-wrong-array",
    by: "peer",
    does: "the declared list of transactions as an array of numbers of 64 bits, tens of megabytes of them",
    stands: "declared fields of a type that is larger in memory than on the wire",
    mustGo: true,
    async run(siege) {
      const count = siege.sized(6 * MB, MB);
      const payload = message(arrayEntry("txs", tags.uint64, { count, bytes: Buffer.alloc(8 * count, 255) }));
      const peers = await siege.meetMany(4);
      await Promise.all(peers.map((peer) => peer.send(frame(commands.newTransactions, payload))));
      await siege.end();
    },
  },
  {
    name: "peer-nested-objects",
    by: "peer",
    does: "objects in objects, thousands of levels deep, in every command there is",
    stands: "nesting that exhausts a stack",
    mustGo: true,
    async run(siege) {
      const LEVELS = 20_000;
      const opening = Buffer.concat([fieldsOfOne("a")]);
      const inner = Buffer.concat([...Array.from({ length: LEVELS }, () => opening), fields()]);
      const payload = Buffer.concat([message().subarray(0, 9), inner]);
      await siege.flood(PEERS, async (peer, turn) => {
        const all = Object.values(commands);
        await peer.send(frame(all[turn % all.length]!, payload));
        await peer.closed;
      });
    },
  },
  {
    name: "peer-empty-objects",
    by: "peer",
    does: "arrays of millions of empty objects, of a byte each",
    stands: "elements that cost a byte to send and an object to keep",
    mustGo: true,
    async run(siege) {
      const count = siege.sized(3.9 * MB, MB);
      const payload = message(arrayEntry("b", tags.object, { count, bytes: Buffer.alloc(count) }));
      await siege.flood(PEERS, async (peer) => {
        await peer.send(frame(commands.newFluffyBlock, payload));
        await peer.closed;
      });
    },
  },
  {
    name: "peer-many-transactions",
    by: "peer",
    does: "messages of 16,000 transactions of a few bytes each, none of which is one",
    stands: "lists whose elements each cost more than their bytes",
    mustGo: true,
    async run(siege) {
      const txs = Array.from({ length: 16_000 }, (_, i) => Buffer.from([2, 0, 1, 255, i & 255, i >> 8]));
      const payload = transactionsPayload(txs);
      await siege.flood(PEERS, async (peer) => peer.send(frame(commands.newTransactions, payload)));
    },
  },
  {
    name: "peer-same-transaction",
    by: "peer",
    does: "messages that hold one valid transaction a thousand times over",
    stands: "repeated entries in one message",
    async run(siege) {
      const tx = Buffer.from(siege.chain.poolTransactions[0]!.hex, "hex");
      const payload = transactionsPayload(Array.from({ length: 1000 }, () => tx));
      await siege.flood(PEERS, async (peer) => peer.send(frame(commands.newTransactions, payload)));
    },
  },
  {
    name: "peer-unknown-commands",
    by: "peer",
    does: "a stream of frames with commands nobody knows, as requests and notifications",
    stands: "frames that are read for nothing",
    async run(siege) {
      const payload = Buffer.alloc(64 * 1024, 7);
      await siege.flood(PEERS, async (peer, turn) => {
        await peer.send(frame(3000 + turn, payload, { expectsResponse: turn % 2 === 0 }));
      });
    },
  },
  {
    name: "peer-requests-unread",
    by: "peer",
    does: "timed syncs, pings and questions for support flags without end, whose responses are never read",
    stands: "small requests with larger responses",
    async run(siege) {
      const bytes = Buffer.concat(
        Array.from({ length: 200 }, (_, i) =>
          requestFrame(
            [commands.ping, commands.supportFlags][i % 2]!,
            message(...(i % 5 === 0 ? [uint8Entry("x", 1)] : [])),
          ),
        ),
      );
      await siege.flood(PEERS, async (peer) => {
        peer.stopReading();
        await peer.send(bytes);
      });
    },
  },
];

/** The beginning of an object of one field that is an object. */
function fieldsOfOne(name: string): Buffer {
  const whole = fields(objectEntry(name));
  return whole.subarray(0, whole.length - 1);
}

import { useAnswer } from "../answers.ts";
import { formatBytes, formatCount, formatSpan } from "../format.ts";
import { Figure, Heading, Missing, Section } from "../parts/elements.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { askNode, type NodeAnswer } from "../rpc.ts";

type Connection = NonNullable<NodeAnswer<"get_connections">["connections"]>[number];

const EVERY_MS = 3000;

const columns: readonly Column<Connection>[] = [
  { name: "Address", cell: ({ address }) => <code>{address}</code> },
  { name: "Direction", cell: ({ incoming }) => (incoming ? "incoming" : "outgoing") },
  { name: "State", cell: ({ state }) => state },
  { name: "Height", isNumber: true, cell: ({ height }) => formatCount(height) },
  { name: "For", isNumber: true, cell: ({ live_time }) => formatSpan(live_time) },
  { name: "Received", isNumber: true, cell: ({ recv_count }) => formatBytes(recv_count) },
  { name: "Sent", isNumber: true, cell: ({ send_count }) => formatBytes(send_count) },
  { name: "Pruned", cell: ({ pruning_seed }) => (pruning_seed === 0 ? "no" : "yes") },
];

async function peersOf(signal: AbortSignal) {
  const [{ connections }, sync, traffic, { bans }] = await Promise.all([
    askNode("get_connections", {}, { signal }),
    askNode("sync_info", {}, { signal }),
    askNode("/get_net_stats", {}, { signal }),
    askNode("get_bans", {}, { signal }),
  ]);
  return { connections: connections ?? [], sync, traffic, bans: bans ?? [] };
}

/** Connections to other nodes. */
export function PeersPage() {
  const { answer, failure } = useAnswer(peersOf, { of: [], everyMs: EVERY_MS });
  if (answer === undefined) {
    return (
      <>
        <Heading title="Peers">Peers</Heading>
        <Missing failure={failure} />
      </>
    );
  }
  const { connections, sync, traffic, bans } = answer;
  const incoming = connections.filter((connection) => connection.incoming).length;
  return (
    <>
      <Heading title="Peers">Peers</Heading>
      {failure !== undefined && <Missing failure={failure} />}
      <dl class="figures">
        <Figure
          name="Connections"
          value={connections.length}
          note={`${connections.length - incoming} outgoing, ${incoming} incoming`}
        />
        <Figure
          name="Own height"
          value={formatCount(sync.height)}
          note={sync.target_height > sync.height ? `of ${formatCount(sync.target_height)}` : ""}
        />
        <Figure
          name="Received"
          value={formatBytes(Number(traffic.total_bytes_in))}
          note={`${formatCount(traffic.total_packets_in)} packets`}
        />
        <Figure
          name="Sent"
          value={formatBytes(Number(traffic.total_bytes_out))}
          note={`${formatCount(traffic.total_packets_out)} packets`}
        />
        <Figure name="Banned" value={formatCount(bans.length)} note="addresses" />
      </dl>
      <Section title="Connections">
        <Table
          caption="Connections to peers"
          columns={columns}
          rows={connections}
          keyOf={({ connection_id }) => connection_id}
          empty="No peers are connected."
        />
      </Section>
    </>
  );
}

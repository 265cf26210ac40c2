import { useAnswer } from "../answers.ts";
import { formatBytes, formatCount, formatSpan, formatTime } from "../format.ts";
import { Coins, Figure, Hash, Heading, Missing, Section } from "../parts/elements.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { askNode, type NodeAnswer } from "../rpc.ts";

type Waiting = NonNullable<NodeAnswer<"/get_transaction_pool">["transactions"]>[number];

const EVERY_MS = 2000;
/** Rows that are shown: a pool of ten thousands is answered by its figures. */
const MOST_ROWS = 200;

const feePerByte = ({ fee, weight }: Waiting) => BigInt(fee) / BigInt(Math.max(1, weight));

const columns: readonly Column<Waiting>[] = [
  { name: "Transaction", cell: ({ id_hash }) => <Hash value={id_hash} to="tx" /> },
  { name: "Fee", isNumber: true, cell: ({ fee }) => <Coins value={fee} /> },
  { name: "Piconero a byte", isNumber: true, cell: (row) => formatCount(feePerByte(row)) },
  { name: "Weight", isNumber: true, cell: ({ weight }) => formatBytes(weight) },
  { name: "Since", cell: ({ receive_time }) => (receive_time === 0 ? "–" : formatTime(receive_time)) },
  {
    name: "State",
    cell: ({ double_spend_seen, relayed }) => {
      if (double_spend_seen) return <span class="bad">double spend seen</span>;
      return relayed ? "relayed" : "not relayed";
    },
  },
];

async function poolOf(signal: AbortSignal) {
  const [{ transactions }, { pool_stats: stats }] = await Promise.all([
    askNode("/get_transaction_pool", {}, { signal }),
    askNode("/get_transaction_pool_stats", {}, { signal }),
  ]);
  return { transactions: transactions ?? [], stats };
}

/** Transactions that wait for a block. */
export function PoolPage() {
  const { answer, failure } = useAnswer(poolOf, { of: [], everyMs: EVERY_MS });
  if (answer === undefined) {
    return (
      <>
        <Heading title="Pool">Pool</Heading>
        <Missing failure={failure} />
      </>
    );
  }
  const { transactions, stats } = answer;
  const rows = transactions.toSorted((a, b) => Number(feePerByte(b) - feePerByte(a))).slice(0, MOST_ROWS);
  return (
    <>
      <Heading title="Pool">Pool</Heading>
      {failure !== undefined && <Missing failure={failure} />}
      <dl class="figures">
        <Figure
          name="Transactions"
          value={formatCount(stats.txs_total)}
          note={formatBytes(stats.bytes_total)}
        />
        <Figure name="Fees" value={<Coins value={stats.fee_total} />} />
        <Figure
          name="Oldest"
          value={stats.txs_total === 0 ? "–" : formatSpan(Date.now() / 1000 - stats.oldest)}
        />
        <Figure name="Not relayed" value={formatCount(stats.num_not_relayed)} />
        <Figure name="Double spends" value={formatCount(stats.num_double_spends)} />
      </dl>
      <Section
        title="Waiting"
        aside={
          transactions.length > MOST_ROWS ? `the ${MOST_ROWS} with the highest fees` : "highest fees first"
        }
      >
        <Table
          caption="Waiting transactions"
          columns={columns}
          rows={rows}
          keyOf={({ id_hash }) => id_hash}
          empty="Nothing waits."
        />
      </Section>
    </>
  );
}

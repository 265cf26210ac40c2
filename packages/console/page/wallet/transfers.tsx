import { useAnswer } from "../answers.ts";
import { formatCount, formatTime } from "../format.ts";
import { Coins, Hash, Missing, Section } from "../parts/elements.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { askWallet, type WalletAnswer } from "../rpc.ts";

type Lists = WalletAnswer<"get_transfers">;
type Transfer = NonNullable<Lists["in"]>[number];

const EVERY_MS = 3000;
const MOST_ROWS = 200;

const names: Readonly<Record<string, string>> = {
  in: "received",
  block: "mined",
  out: "sent",
  pending: "being sent",
  pool: "in the pool",
  failed: "failed",
};

const columns: readonly Column<Transfer>[] = [
  { name: "Time", cell: ({ timestamp }) => formatTime(timestamp) },
  {
    name: "Kind",
    cell: ({ type }) => <span class={type === "failed" ? "bad" : undefined}>{names[type] ?? type}</span>,
  },
  { name: "Amount", isNumber: true, cell: ({ amount }) => <Coins value={amount} /> },
  { name: "Fee", isNumber: true, cell: ({ fee }) => (BigInt(fee) === 0n ? "–" : <Coins value={fee} />) },
  { name: "Account", isNumber: true, cell: ({ subaddr_index: { major, minor } }) => `${major}/${minor}` },
  { name: "Height", isNumber: true, cell: ({ height }) => (height === 0 ? "–" : formatCount(height)) },
  { name: "Transaction", cell: ({ txid }) => <Hash value={txid} /> },
];

async function transfersOf(wallet: string, signal: AbortSignal): Promise<readonly Transfer[]> {
  const kinds = { in: true, out: true, pending: true, failed: true, pool: true, all_accounts: true };
  const lists = await askWallet(wallet, "get_transfers", kinds, { signal });
  return Object.values(lists)
    .flatMap((list) => list ?? [])
    .toSorted((a, b) => b.timestamp - a.timestamp || b.height - a.height);
}

/** What came in and went out, newest first. */
export function TransfersPart({ wallet }: { readonly wallet: string }) {
  const { answer, failure } = useAnswer((signal) => transfersOf(wallet, signal), {
    of: [wallet],
    everyMs: EVERY_MS,
  });
  if (answer === undefined) return <Missing failure={failure} />;
  const keyOf = ({ txid, type, subaddr_index: { major, minor } }: Transfer) =>
    `${txid}/${type}/${major}/${minor}`;
  return (
    <Section
      title="Transfers"
      aside={
        answer.length > MOST_ROWS
          ? `the newest ${MOST_ROWS} of ${formatCount(answer.length)}`
          : "newest first"
      }
    >
      <Table
        caption="Transfers"
        columns={columns}
        rows={answer.slice(0, MOST_ROWS)}
        keyOf={keyOf}
        empty="Nothing came in or went out."
      />
    </Section>
  );
}

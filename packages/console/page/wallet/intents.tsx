import { useAnswer } from "../answers.ts";
import { formatCount, formatTime } from "../format.ts";
import { Hash, Missing, Section } from "../parts/elements.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { askWallet, type WalletAnswer } from "../rpc.ts";

type Intent = NonNullable<WalletAnswer<"list_intents">["intents"]>[number];

const EVERY_MS = 3000;
/** The most that the service gives at once. */
const MOST = 1000;

const columns: readonly Column<Intent>[] = [
  { name: "Time", cell: ({ timestamp }) => formatTime(timestamp) },
  { name: "Key", cell: ({ idempotency_key }) => <code>{idempotency_key}</code> },
  { name: "Call", cell: ({ method }) => method },
  {
    name: "State",
    cell: ({ state, error }) =>
      error === undefined ? state : <span class="bad">{`${state}: ${error.message}`}</span>,
  },
  {
    name: "Transactions",
    cell: ({ transactions }) =>
      (transactions ?? []).map(({ tx_hash, state, height }) => (
        <div key={tx_hash}>
          <Hash value={tx_hash} /> {state}
          {height > 0 && ` at ${formatCount(height)}`}
        </div>
      )),
  },
];

/** What became of payments, by the key of the call that made them. */
export function IntentsPart({ wallet }: { readonly wallet: string }) {
  const { answer, failure } = useAnswer(
    (signal) => askWallet(wallet, "list_intents", { limit: MOST }, { signal }),
    {
      of: [wallet],
      everyMs: EVERY_MS,
    },
  );
  if (answer === undefined) return <Missing failure={failure} />;
  const intents = (answer.intents ?? []).toReversed();
  return (
    <Section
      title="Payments by idempotency key"
      aside={intents.length === MOST ? `the first ${MOST}` : "newest first"}
    >
      <Table
        caption="Payments by idempotency key"
        columns={columns}
        rows={intents}
        keyOf={({ idempotency_key }) => idempotency_key}
        empty="No call with a key was made."
      />
    </Section>
  );
}

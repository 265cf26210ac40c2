import { walletEventTypes } from "@anulo/client";
import { useEffect, useState } from "preact/hooks";
import { type ExactObject, parseExact } from "../exact-json.ts";
import { formatTime } from "../format.ts";
import { Coins, Hash, Heading, Missing } from "../parts/elements.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { CallFailed } from "../rpc.ts";

const MOST_ROWS = 200;

type Told = { readonly id: string; readonly type: string; readonly fields: ExactObject };

const columns: readonly Column<Told>[] = [
  { name: "Number", isNumber: true, cell: ({ id }) => id },
  {
    name: "Time",
    cell: ({ fields }) => (typeof fields.time === "number" ? formatTime(fields.time) : "–"),
  },
  { name: "Wallet", cell: ({ fields }) => String(fields.wallet ?? "") },
  { name: "Event", cell: ({ type }) => type.replaceAll("_", " ") },
  {
    name: "Amount",
    isNumber: true,
    cell: ({ fields: { amount } }) =>
      typeof amount === "number" || typeof amount === "bigint" ? <Coins value={amount} /> : "–",
  },
  { name: "Height", isNumber: true, cell: ({ fields }) => String(fields.height ?? "–") },
  { name: "Transaction", cell: ({ fields }) => <Hash value={String(fields.tx_hash ?? "")} /> },
];

/** The number of the newest event: where a reader that has read all goes on. Throws why there are none to read. */
async function newest(signal: AbortSignal): Promise<number> {
  const response = await fetch(`/events?after=${Number.MAX_SAFE_INTEGER}&limit=1`, { signal });
  if (response.status === 404)
    throw new CallFailed("This service keeps no log of events: start it with --events.");
  const answer = parseExact(await response.text()) as ExactObject;
  if (response.ok) return Number(answer.next);
  const { message } = (answer.error ?? {}) as { readonly message?: string };
  throw new CallFailed(message ?? `HTTP ${response.status}`);
}

function follow(last: number, onEvent: (event: Told) => void): EventSource {
  // A stream that breaks off is opened again by the browser, after the last event it has had.
  const stream = new EventSource(`/events?after=${Math.max(0, last - MOST_ROWS)}`);
  for (const type of walletEventTypes) {
    stream.addEventListener(type, ({ data, lastEventId }) =>
      onEvent({ id: lastEventId, type, fields: parseExact(data) as ExactObject }),
    );
  }
  return stream;
}

/** Events of all wallets of the service as they come, newest first. */
export function EventsPage() {
  const [events, setEvents] = useState<readonly Told[]>([]);
  const [refusal, setRefusal] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    const take = (event: Told) => setEvents((before) => [event, ...before].slice(0, MOST_ROWS));
    let stream: EventSource | undefined;
    newest(controller.signal)
      .then((last) => {
        if (!controller.signal.aborted) stream = follow(last, take);
      })
      .catch((error) => {
        if (!controller.signal.aborted) setRefusal((error as Error).message);
      });
    return () => {
      controller.abort();
      stream?.close();
    };
  }, []);
  return (
    <>
      <Heading title="Events">Events</Heading>
      {refusal !== undefined && <Missing failure={refusal} />}
      <Table
        caption="Events"
        columns={columns}
        rows={events}
        keyOf={({ id }) => id}
        empty="Nothing has happened yet."
      />
    </>
  );
}

import { useAnswer } from "../answers.ts";
import { type Exact, type ExactObject, parseExact } from "../exact-json.ts";
import { formatBytes, formatCount, formatTime } from "../format.ts";
import { Decoded } from "../parts/decoded.tsx";
import { Coins, Facts, Hash, Heading, Missing, Section } from "../parts/elements.tsx";
import { Table } from "../parts/table.tsx";
import { linkTo } from "../route.ts";
import { askNode, CallFailed } from "../rpc.ts";

const EVERY_MS = 5000;

type Entry = Awaited<ReturnType<typeof transactionOf>>;

async function transactionOf(hash: string, signal: AbortSignal) {
  const params = { txs_hashes: [hash], decode_as_json: true };
  const { txs } = await askNode("/get_transactions", params, { signal });
  const [entry] = txs ?? [];
  if (entry === undefined) throw new CallFailed("This node knows no such transaction.");
  const decoded = parseExact(entry.as_json) as ExactObject;
  return {
    ...entry,
    decoded,
    bytes: (entry.as_hex || entry.pruned_as_hex + entry.prunable_as_hex).length / 2,
  };
}

const list = (value: Exact | undefined): readonly ExactObject[] => (Array.isArray(value) ? value : []);
const member = (value: Exact | undefined, name: string): Exact | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as ExactObject)[name]
    : undefined;

/** Global indices of the outputs of a ring: the first one, and then the steps between them. */
function ringOf(offsets: Exact | undefined): readonly bigint[] {
  let at = 0n;
  return list(offsets).map((step) => {
    at += BigInt(step as unknown as number);
    return at;
  });
}

function Inputs({ inputs }: { readonly inputs: readonly ExactObject[] }) {
  const rows = inputs.map((input) => {
    const key = member(input, "key");
    const image = String(member(key, "k_image") ?? "");
    return {
      image,
      ring: ringOf(member(key, "key_offsets")),
      height: member(member(input, "gen"), "height"),
    };
  });
  return (
    <Table
      caption="Inputs"
      columns={[
        {
          name: "Key image",
          cell: ({ image, height }) =>
            image === "" ? `new coins at height ${height}` : <Hash value={image} />,
        },
        { name: "Ring", isNumber: true, cell: ({ ring }) => ring.length || "–" },
        {
          name: "Outputs of the ring, by global index",
          cell: ({ ring }) => ring.map((index) => formatCount(index)).join(" · "),
        },
      ]}
      rows={rows}
      keyOf={({ image }) => image}
      empty="None."
    />
  );
}

function Outputs({ entry }: { readonly entry: Entry }) {
  const rows = list(entry.decoded.vout).map((output, at) => {
    const target = member(output, "target");
    const tagged = member(target, "tagged_key");
    return {
      key: String(member(tagged, "key") ?? member(target, "key") ?? ""),
      tag: String(member(tagged, "view_tag") ?? "–"),
      amount: BigInt((output.amount ?? 0) as number | bigint),
      index: entry.output_indices?.[at],
    };
  });
  return (
    <Table
      caption="Outputs"
      columns={[
        { name: "One-time key", cell: ({ key }) => <Hash value={key} /> },
        { name: "View tag", cell: ({ tag }) => <code>{tag}</code> },
        {
          name: "Global index",
          isNumber: true,
          cell: ({ index }) => (index === undefined ? "–" : formatCount(index)),
        },
        {
          name: "Amount",
          isNumber: true,
          cell: ({ amount }) =>
            amount === 0n ? <span class="muted">hidden</span> : <Coins value={amount} />,
        },
      ]}
      rows={rows}
      keyOf={({ key }) => key}
      empty="None."
    />
  );
}

function stateOf({ in_pool, block_height, confirmations }: Entry) {
  if (in_pool) return "waits in the pool";
  return (
    <>
      in block <a href={linkTo("block", block_height!)}>{formatCount(block_height!)}</a>,{" "}
      {formatCount(confirmations ?? 0)} confirmations
    </>
  );
}

/** One transaction, from the chain or the pool. */
export function TransactionPage({ parts: [hash = ""] }: { readonly parts: readonly string[] }) {
  const { answer: entry, failure } = useAnswer((signal) => transactionOf(hash, signal), {
    of: [hash],
    everyMs: EVERY_MS,
  });
  if (entry === undefined) {
    return (
      <>
        <Heading title="Transaction">Transaction</Heading>
        <Missing failure={failure} />
      </>
    );
  }
  const { decoded } = entry;
  const fee = member(decoded.rct_signatures, "txnFee");
  return (
    <>
      <Heading title="Transaction">Transaction</Heading>
      {failure !== undefined && <Missing failure={failure} />}
      <Facts
        of={[
          ["Hash", <Hash value={entry.tx_hash} whole />],
          ["State", stateOf(entry)],
          ["Time", formatTime(Number(entry.block_timestamp ?? entry.received_timestamp ?? 0))],
          ["Fee", fee === undefined ? "–" : <Coins value={fee as number | bigint} />],
          ["Size", formatBytes(entry.bytes)],
          ["Version", String(decoded.version)],
          ["Unlock time", String(decoded.unlock_time)],
          ["Double spend seen", entry.double_spend_seen ? <span class="bad">yes</span> : "no"],
        ]}
      />
      <Section title="Inputs" aside={String(list(decoded.vin).length)}>
        <Inputs inputs={list(decoded.vin)} />
      </Section>
      <Section title="Outputs" aside={String(list(decoded.vout).length)}>
        <Outputs entry={entry} />
      </Section>
      <Section title="Decoded">
        <Decoded name="Transaction as JSON" value={decoded} />
      </Section>
    </>
  );
}

import { useEffect, useRef } from "preact/hooks";
import { useAnswer } from "../answers.ts";
import { formatBytes, formatCoins, formatCount, formatHashRate, formatSpan, formatTime } from "../format.ts";
import { Chart } from "../parts/chart.tsx";
import { Coins, Facts, Figure, Hash, Heading, Missing, Section } from "../parts/elements.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { linkTo } from "../route.ts";
import { askNode, type NodeAnswer } from "../rpc.ts";
import { say } from "../view.ts";
import { Search } from "./search.tsx";

type Info = NodeAnswer<"get_info">;
type Header = NodeAnswer<"get_block_headers_range">["headers"][number];

const EVERY_MS = 2000;
/** As many as charts and table show. */
const MOST_HEADERS = 60;
const MOST_ROWS = 20;

function networkOf({ mainnet, testnet, stagenet }: Info): string {
  if (mainnet) return "mainnet";
  return testnet ? "testnet" : stagenet ? "stagenet" : "private chain";
}

function syncOf({ height, target_height, synchronized, offline }: Info): string {
  if (target_height > height)
    return `${((100 * height) / target_height).toFixed(1)} % of ${formatCount(target_height)}`;
  if (offline) return "offline";
  return synchronized ? "synchronized" : "looking for peers";
}

function Figures({ info, fees }: { readonly info: Info; readonly fees: readonly (number | bigint)[] }) {
  return (
    <dl class="figures">
      <Figure name="Height" value={formatCount(info.height)} note={syncOf(info)} />
      <Figure
        name="Hash rate"
        value={formatHashRate(Number(info.difficulty) / info.target)}
        note={`difficulty ${formatCount(info.difficulty)}`}
      />
      <Figure name="Pool" value={formatCount(info.tx_pool_size)} note="transactions" />
      <Figure
        name="Peers"
        value={`${info.outgoing_connections_count} / ${info.incoming_connections_count}`}
        note="outgoing / incoming"
      />
      <Figure
        name="Fee a byte"
        value={fees.length === 0 ? "–" : formatCount(fees[0]!)}
        note={fees.length === 0 ? "" : `to ${formatCount(fees.at(-1)!)} piconero`}
      />
    </dl>
  );
}

const columns: readonly Column<Header>[] = [
  {
    name: "Height",
    isNumber: true,
    cell: ({ height }) => <a href={linkTo("block", height)}>{formatCount(height)}</a>,
  },
  { name: "Time", cell: ({ timestamp }) => formatTime(timestamp) },
  { name: "Transactions", isNumber: true, cell: ({ num_txes }) => formatCount(num_txes) },
  { name: "Weight", isNumber: true, cell: ({ block_weight }) => formatBytes(block_weight) },
  { name: "Reward", isNumber: true, cell: ({ reward }) => <Coins value={reward} /> },
  { name: "Hash", cell: ({ hash }) => <Hash value={hash} to="block" /> },
];

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

function Charts({ headers }: { readonly headers: readonly Header[] }) {
  const x = headers.map(({ height }) => height);
  const counts = headers.map(({ num_txes }) => num_txes);
  const weights = headers.map(({ block_weight }) => block_weight);
  const difficulties = headers.map(({ difficulty }) => Number(difficulty));
  const rewards = headers.map(({ reward }) => Number(reward) / 1e12);
  const span = `the last ${headers.length} blocks`;
  const most = (values: readonly number[]) => values.reduce((a, b) => Math.max(a, b), 0);
  const count = (value: number) => (Number.isInteger(value) ? formatCount(value) : "");
  return (
    <div class="charts">
      <Chart
        title="Transactions a block"
        summary={`${sum(counts)} in ${span}, at most ${most(counts)} in one`}
        {...{ x, y: counts, kind: "bars", format: count }}
      />
      <Chart
        title="Weight of blocks"
        summary={`${formatBytes(sum(weights))} in ${span}, at most ${formatBytes(most(weights))} in one`}
        {...{ x, y: weights, kind: "bars", format: formatBytes }}
      />
      <Chart
        title="Difficulty"
        summary={`at most ${formatCount(most(difficulties))} in ${span}`}
        {...{ x, y: difficulties, kind: "line", format: count }}
      />
      <Chart
        title="Reward with fees"
        summary={`at most ${most(rewards).toFixed(6)} coins in ${span}`}
        {...{ x, y: rewards, kind: "line", format: (value: number) => value.toPrecision(4) }}
      />
    </div>
  );
}

async function overview(signal: AbortSignal) {
  const info = await askNode("get_info", {}, { signal });
  const end = info.height - 1;
  const range = { start_height: Math.max(0, end - MOST_HEADERS + 1), end_height: end };
  const [{ headers }, { fees }] = await Promise.all([
    askNode("get_block_headers_range", range, { signal }),
    askNode("get_fee_estimate", {}, { signal }),
  ]);
  return { info, headers, fees };
}

/** Says new heights, but not the one that was there when the view opened. */
function useSaidHeight(height: number | undefined): void {
  const before = useRef<number | undefined>(undefined);
  useEffect(() => {
    if (before.current !== undefined && height !== undefined) say(`The height is ${height}`);
    before.current = height;
  }, [height]);
}

/** State of node and chain. */
export function OverviewPage() {
  const { answer, failure } = useAnswer(overview, { of: [], everyMs: EVERY_MS });
  useSaidHeight(answer?.info.height);
  if (answer === undefined) {
    return (
      <>
        <Heading title="Overview">Overview</Heading>
        <Missing failure={failure} />
      </>
    );
  }
  const { info, headers, fees } = answer;
  return (
    <>
      <Heading title="Overview">
        Overview <small>{networkOf(info)}</small>
      </Heading>
      {failure !== undefined && <Missing failure={failure} />}
      <Search />
      <Figures info={info} fees={fees} />
      <Section title="Chain" aside={`the last ${headers.length} blocks`}>
        <Charts headers={headers} />
      </Section>
      <Section title="Blocks" aside="newest first">
        <Table
          caption="Newest blocks"
          columns={columns}
          rows={headers.toReversed().slice(0, MOST_ROWS)}
          keyOf={({ hash }) => hash}
          empty="No blocks."
        />
      </Section>
      <Section title="Node">
        <Facts
          of={[
            ["Newest block", <Hash value={info.top_block_hash} to="block" />],
            ["Version", info.version || "–"],
            ["Running for", formatSpan(Date.now() / 1000 - Number(info.start_time))],
            ["Database", formatBytes(Number(info.database_size))],
            ["Disk left", formatBytes(Number(info.free_space))],
            ["Transactions", formatCount(info.tx_count)],
            ["Block weight limit", formatBytes(info.block_weight_limit)],
            ["Median weight", formatBytes(info.block_weight_median)],
            [
              "Known peers",
              `${formatCount(info.white_peerlist_size)} seen, ${formatCount(info.grey_peerlist_size)} heard of`,
            ],
            ["RPC connections", formatCount(info.rpc_connections_count)],
            ["Fee levels", fees.map((fee) => formatCount(fee)).join(" · ")],
            ["Newest reward", headers.length === 0 ? "–" : formatCoins(headers.at(-1)!.reward)],
          ]}
        />
      </Section>
    </>
  );
}

import { useAnswer } from "../answers.ts";
import { parseExact } from "../exact-json.ts";
import { formatBytes, formatCount, formatTime } from "../format.ts";
import { Decoded } from "../parts/decoded.tsx";
import { Coins, Facts, Hash, Heading, Missing, Section } from "../parts/elements.tsx";
import { Table } from "../parts/table.tsx";
import { linkTo } from "../route.ts";
import { askNode, type NodeAnswer } from "../rpc.ts";

type Block = NodeAnswer<"get_block">;

const EVERY_MS = 5000;

function BlockFacts({ block }: { readonly block: Block }) {
  const header = block.block_header;
  const next = header.height + 1;
  return (
    <Facts
      of={[
        ["Hash", <Hash value={header.hash} whole />],
        ["Time", formatTime(header.timestamp)],
        [
          "State",
          header.orphan_status ? (
            <span class="bad">not in the chain</span>
          ) : (
            `${formatCount(header.depth)} blocks above it`
          ),
        ],
        ["Reward", <Coins value={header.reward} />],
        ["Weight", formatBytes(header.block_weight)],
        ["Difficulty", formatCount(header.difficulty)],
        ["Version", `${header.major_version}.${header.minor_version}`],
        ["Nonce", String(header.nonce)],
        ["Before it", header.height === 0 ? "none" : <Hash value={header.prev_hash} to="block" />],
        [
          "After it",
          header.depth === 0 || header.orphan_status ? (
            "none"
          ) : (
            <a href={linkTo("block", next)}>{formatCount(next)}</a>
          ),
        ],
      ]}
    />
  );
}

/** One block, by its height or hash. */
export function BlockPage({ parts: [place = ""] }: { readonly parts: readonly string[] }) {
  const params = /^\d{1,12}$/.test(place) ? { height: Number(place) } : { hash: place };
  const { answer: block, failure } = useAnswer((signal) => askNode("get_block", params, { signal }), {
    of: [place],
    everyMs: EVERY_MS,
  });
  if (block === undefined) {
    return (
      <>
        <Heading title="Block">Block</Heading>
        <Missing failure={failure} />
      </>
    );
  }
  const hashes = [block.miner_tx_hash, ...(block.tx_hashes ?? [])];
  return (
    <>
      <Heading title={`Block ${block.block_header.height}`}>
        Block {formatCount(block.block_header.height)}
      </Heading>
      <BlockFacts block={block} />
      <Section title="Transactions" aside={`${hashes.length - 1} and the miner's`}>
        <Table
          caption="Transactions of this block"
          columns={[
            { name: "Transaction", cell: (hash) => <Hash value={hash} to="tx" whole /> },
            { name: "Kind", cell: (hash) => (hash === block.miner_tx_hash ? "miner" : "transfer") },
          ]}
          rows={hashes}
          keyOf={(hash) => hash}
          empty="None."
        />
      </Section>
      <Section title="Decoded">
        <Decoded name="Block as JSON" value={parseExact(block.json)} />
      </Section>
    </>
  );
}

import { useAnswer } from "../answers.ts";
import { formatCount } from "../format.ts";
import { Hash, Heading, Missing } from "../parts/elements.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { askNode, type NodeAnswer } from "../rpc.ts";

type Chain = NonNullable<NodeAnswer<"get_alternate_chains">["chains"]>[number];

const EVERY_MS = 5000;

const columns: readonly Column<Chain>[] = [
  { name: "Newest height", isNumber: true, cell: ({ height }) => formatCount(height) },
  { name: "Blocks", isNumber: true, cell: ({ length }) => formatCount(length) },
  { name: "Difficulty of all", isNumber: true, cell: ({ difficulty }) => formatCount(difficulty) },
  { name: "Newest block", cell: ({ block_hash }) => <Hash value={block_hash} to="block" /> },
  {
    name: "Leaves the chain after",
    cell: ({ main_chain_parent_block }) => <Hash value={main_chain_parent_block} to="block" />,
  },
];

/** Blocks outside the longest chain, as chains. */
export function ChainsPage() {
  const { answer, failure } = useAnswer((signal) => askNode("get_alternate_chains", {}, { signal }), {
    of: [],
    everyMs: EVERY_MS,
  });
  return (
    <>
      <Heading title="Side chains">Side chains</Heading>
      {answer === undefined ? (
        <Missing failure={failure} />
      ) : (
        <Table
          caption="Side chains"
          columns={columns}
          rows={answer.chains ?? []}
          keyOf={({ block_hash }) => block_hash}
          empty="The node has seen no block outside its chain."
        />
      )}
    </>
  );
}

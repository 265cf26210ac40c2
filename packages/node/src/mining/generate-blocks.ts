import { difficultyOfNextBlock } from "@anulo/consensus";
import { TimeSlice } from "@anulo/limits";
import { equalBytes } from "@anulo/protocol";
import { acceptBlock } from "../chain/chain.ts";
import type { IncomingBlock } from "../chain/incoming-block.ts";
import { placeOnTop } from "../chain/main-chain.ts";
import { atOnce, type ChainParts } from "../chain/parts.ts";
import { transact } from "../pool/parts.ts";
import type { Pow } from "../pow/pow.ts";
import { type BlockTemplate, createTemplate, NoTemplate, type TemplateOrder } from "./block-template.ts";
import { provenBlock, searchOf, withNonceOf } from "./prove-work.ts";
import { runWithoutFailures } from "./without-failures.ts";

/** Parameters for blocks that are mined at once, on test chains. */
export interface GenerateOrder extends TemplateOrder {
  readonly count: number;
  /** First nonce to try, 32 bits. */
  readonly startingNonce: number;
}

/** The mined blocks: their ids (32 bytes each) and the height of the last one. */
export interface GeneratedBlocks {
  readonly ids: readonly Uint8Array[];
  readonly height: number;
}

interface MinedBlock {
  readonly height: number;
  readonly incoming: IncomingBlock;
}

/**
 * Mines `count` consecutive blocks, the first on `previousId` or on the top. Many blocks share one flush to disk, and
 * all are on disk when the promise resolves. Rejects with NoTemplate or RuleViolation.
 */
export async function generateBlocks(
  parts: ChainParts,
  order: GenerateOrder,
  pow: Pick<Pow, "search">,
): Promise<GeneratedBlocks> {
  const blocks: MinedBlock[] = [];
  while (blocks.length < order.count) {
    const previousId = blocks.at(-1)?.incoming.id ?? order.previousId;
    const rest = { ...order, previousId, count: order.count - blocks.length };
    const isQuick = isTop(parts, previousId) && difficultyOfNextBlock(parts.state.view()) === 1n;
    if (isQuick) blocks.push(...(await mineOnTop(parts, rest)));
    else blocks.push(await mineOne(parts, rest, pow));
    await new TimeSlice().yield();
  }
  await parts.store.settled();
  const height = blocks.at(-1)?.height ?? parts.store.read.height();
  return { ids: blocks.map(({ incoming }) => incoming.id), height };
}

function isTop({ state }: ChainParts, id: Uint8Array | undefined): boolean {
  return id === undefined || equalBytes(id, state.view().topId);
}

/** The block of a template with the first nonce, which at difficulty 1 is valid like any other. */
function blockOfTemplate(template: BlockTemplate, { startingNonce }: GenerateOrder): MinedBlock {
  return { height: template.height, incoming: withNonceOf(template, startingNonce) };
}

/** At difficulty 1: mines as many blocks as fit into one slice, at least one, in one transaction. */
async function mineOnTop(parts: ChainParts, order: GenerateOrder): Promise<MinedBlock[]> {
  const blocks = await runWithoutFailures(parts, () => {
    const slice = new TimeSlice();
    return transact(parts, (writer) => {
      const blocks: MinedBlock[] = [];
      do {
        const template = createTemplate(parts, { ...order, previousId: undefined });
        if (template.difficulty > 1n) break;
        const block = blockOfTemplate(template, order);
        atOnce(placeOnTop(parts, writer, block.incoming));
        blocks.push(block);
      } while (blocks.length < order.count && !slice.isOver);
      return blocks;
    });
  });
  for (const { height, incoming } of blocks) parts.emit({ type: "blockAdded", height, id: incoming.id });
  return blocks;
}

/** Mines one block anywhere in the chain; if its nonce has to be searched, the search also computes its hash. */
async function mineOne(
  parts: ChainParts,
  order: GenerateOrder,
  pow: Pick<Pow, "search">,
): Promise<MinedBlock> {
  const template = await runWithoutFailures(parts, () => createTemplate(parts, order));
  const block =
    template.difficulty > 1n
      ? await mineByWork(parts, template, { order, pow })
      : blockOfTemplate(template, order);
  await acceptBlock(parts, block.incoming);
  return block;
}

interface WorkOrder {
  readonly order: GenerateOrder;
  readonly pow: Pick<Pow, "search">;
}

async function mineByWork(
  parts: ChainParts,
  template: BlockTemplate,
  { order, pow }: WorkOrder,
): Promise<MinedBlock> {
  const nonce = await pow.search(searchOf(template, order.startingNonce)).result;
  if (nonce === undefined) throw new NoTemplate("no nonce of this template meets the difficulty");
  return { height: template.height, incoming: provenBlock(parts, template, nonce.nonce) };
}

import { setImmediate } from "node:timers/promises";
import { equalBytes, writeBlock } from "@anulo/protocol";
import { acceptBlock } from "../chain/chain.ts";
import { type IncomingBlock, readIncomingBlock } from "../chain/incoming-block.ts";
import { appendToMainChain } from "../chain/main-chain.ts";
import { type ChainParts, transact } from "../chain/parts.ts";
import { type BlockTemplate, createTemplate, type TemplateOrder } from "./block-template.ts";
import { settleWithoutFailures } from "./without-failures.ts";

/** An order for blocks, mined at once: for test chains of difficulty 1. */
export interface GenerateOrder extends TemplateOrder {
  readonly count: number;
  /** First nonce to try, 32 bits. */
  readonly startingNonce: number;
}

/** The blocks made: their ids (32 bytes each) and the height of the last. */
export interface GeneratedBlocks {
  readonly ids: readonly Uint8Array[];
  readonly height: number;
}

interface MinedBlock {
  readonly height: number;
  readonly incoming: IncomingBlock;
}

/** Milliseconds of work between two turns of the event loop; one flush to disk comes on top. */
const TURN_MS = 15;

/**
 * Mines `count` blocks one on another, the first on `previousId` or on the top. Many blocks share one flush
 * to disk, and all are on disk when the promise resolves. Rejects with NoTemplate or RuleViolation.
 */
export async function generateBlocks(parts: ChainParts, order: GenerateOrder): Promise<GeneratedBlocks> {
  const blocks: MinedBlock[] = [];
  while (blocks.length < order.count) {
    const previousId = blocks.at(-1)?.incoming.id ?? order.previousId;
    const rest = { ...order, previousId, count: order.count - blocks.length };
    if (isTop(parts, previousId)) blocks.push(...(await mineOnTop(parts, rest)));
    else blocks.push(await mineBeside(parts, rest));
    await setImmediate();
  }
  const height = blocks.at(-1)?.height ?? parts.store.read.height();
  return { ids: blocks.map(({ incoming }) => incoming.id), height };
}

function isTop({ state }: ChainParts, id: Uint8Array | undefined): boolean {
  return id === undefined || equalBytes(id, state.view().topId);
}

/** The block of a template with the nonce wished for, which at difficulty 1 is as good as any. */
function mine({ block, height }: BlockTemplate, { startingNonce }: GenerateOrder): MinedBlock {
  const header = { ...block.header, nonce: startingNonce };
  return { height, incoming: readIncomingBlock(writeBlock({ ...block, header })) };
}

/** As many blocks as fit into one turn, at least one, in one transaction. */
async function mineOnTop(parts: ChainParts, order: GenerateOrder): Promise<MinedBlock[]> {
  const blocks = await settleWithoutFailures(parts, () => {
    const start = performance.now();
    return transact(parts, (writer) => {
      const made: MinedBlock[] = [];
      do {
        const block = mine(createTemplate(parts, { ...order, previousId: undefined }), order);
        appendToMainChain(parts, writer, block.incoming);
        made.push(block);
      } while (made.length < order.count && performance.now() - start < TURN_MS);
      return made;
    });
  });
  for (const { height, incoming } of blocks) parts.emit({ type: "blockAdded", height, id: incoming.id });
  return blocks;
}

/** One block that is not on the top: an alternative, until its branch is the heavier one. */
async function mineBeside(parts: ChainParts, order: GenerateOrder): Promise<MinedBlock> {
  const template = await settleWithoutFailures(parts, () => createTemplate(parts, order));
  const block = mine(template, order);
  await acceptBlock(parts, block.incoming);
  return block;
}

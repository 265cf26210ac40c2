/** What a program written with monero-ts asks of a node. */
import assert from "node:assert/strict";
import type { MoneroDaemonRpc } from "monero-ts";

export async function walkNode(daemon: MoneroDaemonRpc, txHash: string): Promise<void> {
  const height = await daemon.getHeight();
  const last = await daemon.getLastBlockHeader();
  assert.equal(last.getHeight(), height - 1);
  assert.equal(await daemon.getBlockHash(height - 1), last.getHash());
  assert.equal((await daemon.getBlockHeaderByHash(last.getHash())).getHeight(), height - 1);
  assert.equal((await daemon.getBlockHeaderByHeight(1)).getHeight(), 1);
  assert.equal((await daemon.getBlockHeadersByRange(1, 5)).length, 5);
  assert.equal((await daemon.getBlockByHash(last.getHash())).getHeight(), height - 1);
  assert.equal((await daemon.getBlockByHeight(2)).getHeight(), 2);
  assert.equal((await daemon.getBlocksByHeight([1, 3, 5])).length, 3);
  assert.equal((await daemon.getBlocksByRangeChunked(0, height - 1)).length, height);
  const [tx] = await daemon.getTxs([txHash]);
  assert.equal(tx?.getHash(), txHash);
  assert.ok(tx?.getIsConfirmed());
  assert.ok((await daemon.getTxHexes([txHash]))[0]!.length > 1000);
  const images = tx!.getInputs().map((input) => input.getKeyImage().getHex());
  assert.deepEqual(
    await daemon.getKeyImageSpentStatuses(images),
    images.map(() => 1),
  );
  assert.ok((await daemon.getMinerTxSum(0, height)).getEmissionSum() > 0n);
  assert.ok((await daemon.getFeeEstimate()).getFee() > 0n);
  assert.deepEqual(await daemon.getTxPool(), []);
  assert.equal((await daemon.getTxPoolStats()).getNumTxs(), 0);
  await daemon.flushTxPool();
  assert.ok((await daemon.getOutputHistogram()).length > 0);
  assert.equal((await daemon.getSyncInfo()).getHeight(), height);
  assert.ok((await daemon.getHardForkInfo()).getIsEnabled());
  assert.deepEqual(await daemon.getAltChains(), []);
  assert.deepEqual(await daemon.getAltBlockHashes(), []);
  await daemon.setDownloadLimit(1000);
  assert.equal(await daemon.getDownloadLimit(), 1000);
  await daemon.resetDownloadLimit();
  assert.deepEqual(await daemon.getPeers(), []);
  assert.ok(Array.isArray(await daemon.getKnownPeers()));
  await daemon.setOutgoingPeerLimit(8);
  await daemon.setIncomingPeerLimit(8);
  assert.ok(!(await daemon.getMiningStatus()).getIsActive());
  assert.ok((await daemon.getVersion()).getNumber() > 0);
}

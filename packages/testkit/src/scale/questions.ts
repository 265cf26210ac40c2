import { type PortableEntry, type PortableObject, writePortable } from "@anulo/protocol";
import { daemon } from "@anulo/rpc";
import { RawConnection } from "../http/connection.ts";

/** Requests as the original wallet sends them: in portable storage where there is such a path. */
export interface Questions {
  /** How many RingCT outputs each block has, compressed. */
  distribution(): Promise<void>;
  /** The same as JSON with packed numbers: eight times the bytes. */
  distributionInJson(): Promise<void>;
  histogram(): Promise<void>;
  feeEstimate(): Promise<void>;
  /** A ring of outputs all over the chain, others for each number. */
  ring(at: number): Promise<void>;
  /** Whether key images are spent that never were, others for each number. */
  keyImages(at: number): Promise<void>;
  close(): void;
}

const RING_SIZE = 16;
/** A prime: its multiples spread over all outputs. */
const STRIDE = 7_919_993;

const wholeChain = { amounts: [0n], from_height: 0, to_height: 0, cumulative: false };

function bodyOf(params: PortableEntry | undefined): Uint8Array {
  return writePortable((params as { readonly value: PortableObject }).value);
}

/** Asks a node over one connection, so that only its answers take time. */
export function createQuestions(url: string, outputs: number): Questions {
  const connection = new RawConnection(url);
  const ask = async (path: string, body: Uint8Array) => {
    const { http, reason } = await connection.exchange({ method: "POST", path, body });
    if (http !== 200) throw new Error(`${path}: HTTP ${http} ${reason}`);
  };
  const askMethod = (method: string, params: object) =>
    ask("/json_rpc", Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: "0", method, params })));
  const { getOutputDistributionBin, getOutsBin } = daemon.outputs;
  const places = Array.from({ length: RING_SIZE }, (_, i) => i);
  return {
    distribution() {
      const request = { ...wholeChain, binary: true, compress: true };
      return ask(
        getOutputDistributionBin.name,
        bodyOf(getOutputDistributionBin.params.writePortable(request)),
      );
    },
    distributionInJson: () =>
      askMethod("get_output_distribution", { ...wholeChain, amounts: [0], binary: true }),
    histogram: () => askMethod("get_output_histogram", { amounts: [0] }),
    feeEstimate: () => askMethod("get_fee_estimate", {}),
    ring(at) {
      const indices = places.map((i) => ((at * RING_SIZE + i) * STRIDE) % outputs);
      const outputNames = indices.map((index) => ({ amount: 0n, index: BigInt(index) }));
      const request = getOutsBin.params.writePortable({ outputs: outputNames, get_txid: false });
      return ask(getOutsBin.name, bodyOf(request));
    },
    keyImages(at) {
      const images = places.map((i) => Buffer.alloc(32, `image ${at} ${i} `).toString("hex"));
      return ask("/is_key_image_spent", Buffer.from(JSON.stringify({ key_images: images })));
    },
    close: () => connection.close(),
  };
}

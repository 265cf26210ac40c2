import { useState } from "preact/hooks";
import { linkTo } from "../route.ts";
import { askNode } from "../rpc.ts";

/** The address of what a text names: a height, or the hash of a block or transaction; undefined for neither. */
async function findPlace(text: string): Promise<string | undefined> {
  if (/^\d{1,12}$/.test(text)) return linkTo("block", text);
  if (!/^[0-9a-f]{64}$/i.test(text)) return undefined;
  const { txs } = await askNode("/get_transactions", { txs_hashes: [text], prune: true });
  return linkTo(txs.length > 0 ? "tx" : "block", text.toLowerCase());
}

/** Leads to a block or transaction. */
export function Search() {
  const [text, setText] = useState("");
  const [fault, setFault] = useState("");
  const find = async (event: Event) => {
    event.preventDefault();
    try {
      const place = await findPlace(text.trim());
      if (place === undefined) setFault("This is neither a height nor a hash of 64 digits.");
      else location.hash = place;
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <form class="search" onSubmit={find}>
      <input
        class="code"
        aria-label="Height, or hash of a block or transaction"
        placeholder="height, or hash of a block or transaction"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        spellcheck={false}
        autocomplete="off"
      />
      <button type="submit">Find</button>
      <span class="failure" role="status">
        {fault}
      </span>
    </form>
  );
}

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Coins, Heading, Section } from "../parts/elements.tsx";
import { askNode, CallFailed } from "../rpc.ts";

/** What came of a check, or why there was none. */
type Verdict = { readonly isGood: boolean; readonly text: ComponentChildren };

type Field = { readonly name: string; readonly label: string; readonly isLong?: boolean };

type CheckFormProps = {
  /** Tells its fields from those of other forms. */
  readonly title: string;
  readonly fields: readonly Field[];
  readonly check: (values: Readonly<Record<string, string>>) => Promise<Verdict>;
};

/** Fields, a button, and the verdict on what they hold. */
function CheckForm({ title, fields, check }: CheckFormProps) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [verdict, setVerdict] = useState<Verdict>();
  const set = (name: string, value: string) => {
    setValues({ ...values, [name]: value });
    setVerdict(undefined);
  };
  const run = async (event: Event) => {
    event.preventDefault();
    try {
      setVerdict(await check(values));
    } catch (error) {
      setVerdict({ isGood: false, text: (error as Error).message });
    }
  };
  return (
    <form class="fields" onSubmit={run}>
      {fields.map(({ name, label, isLong }) => {
        const id = `${title}-${name}`;
        const shared = { id, value: values[name] ?? "", spellcheck: false };
        return (
          <div key={name}>
            <label htmlFor={id}>{label}</label>
            {isLong ? (
              <textarea {...shared} onInput={(event) => set(name, event.currentTarget.value)} />
            ) : (
              <input
                class="code"
                autocomplete="off"
                {...shared}
                onInput={(event) => set(name, event.currentTarget.value)}
              />
            )}
          </div>
        );
      })}
      <div class="row">
        <button type="submit">Check</button>
        <span class={verdict?.isGood ? "good" : "bad"} role="status">
          {verdict?.text}
        </span>
      </div>
    </form>
  );
}

async function checkMessage({
  address = "",
  message = "",
  signature = "",
}: Readonly<Record<string, string>>): Promise<Verdict> {
  const { signerOf } = await import("./check.ts");
  const key = signerOf(address, message, signature);
  if (key === undefined) return { isGood: false, text: "Bad: the address did not sign this text." };
  return { isGood: true, text: `Good: signed with the ${key} key of the address.` };
}

async function checkPayment(values: Readonly<Record<string, string>>): Promise<Verdict> {
  const { txid = "", address = "", message = "", proof = "" } = values;
  const { provenAmount } = await import("./check.ts");
  const { txs } = await askNode("/get_transactions", { txs_hashes: [txid.trim()] });
  const [entry] = txs ?? [];
  if (entry === undefined) throw new CallFailed("This node knows no such transaction.");
  const transaction = entry.as_hex || entry.pruned_as_hex + entry.prunable_as_hex;
  const amount = provenAmount({ txid, transaction, address, message, proof });
  if (amount === undefined) return { isGood: false, text: "Bad: this proves nothing about the transaction." };
  const place = entry.in_pool
    ? "It waits in the pool."
    : `It has ${entry.confirmations ?? 0} confirmations, says the node.`;
  return {
    isGood: amount > 0n,
    text: (
      <>
        Good: the address received <Coins value={amount} />. {place}
      </>
    ),
  };
}

const address = { name: "address", label: "Address" };

function MessageCheck() {
  return (
    <Section title="Signature of a text" aside="checked in this page; nothing is sent">
      <CheckForm
        title="text"
        fields={[
          address,
          { name: "message", label: "Text", isLong: true },
          { name: "signature", label: "Signature", isLong: true },
        ]}
        check={checkMessage}
      />
    </Section>
  );
}

/** Checks of what wallets prove, where the chain is at hand. */
export function NodeProofsPage() {
  return (
    <>
      <Heading title="Proofs">Proofs</Heading>
      <Section
        title="Proof of a payment"
        aside="checked in this page; the node is asked for the transaction alone"
      >
        <CheckForm
          title="payment"
          fields={[
            { name: "txid", label: "Transaction" },
            address,
            { name: "message", label: "Text it is bound to, if any" },
            { name: "proof", label: "Proof", isLong: true },
          ]}
          check={checkPayment}
        />
      </Section>
      <MessageCheck />
    </>
  );
}

/** The checks that need no chain. */
export function WalletProofsPage() {
  return (
    <>
      <Heading title="Proofs">Proofs</Heading>
      <MessageCheck />
    </>
  );
}

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Coins, Heading, Section } from "../parts/elements.tsx";

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

/** Where the node says a transaction is. */
const placeOf = ({ inPool, confirmations }: { inPool: boolean; confirmations: number }): string =>
  inPool ? "It waits in the pool." : `It has ${confirmations} confirmations, says the node.`;

async function checkPayment(values: Readonly<Record<string, string>>): Promise<Verdict> {
  const { txid = "", address = "", message = "", proof = "" } = values;
  const [{ provenAmount }, { askTransactions }] = await Promise.all([
    import("./check.ts"),
    import("./transactions.ts"),
  ]);
  const [answer] = await askTransactions([txid.trim()]);
  const amount = provenAmount({ txid, transaction: answer!.hex, address, message, proof });
  if (amount === undefined) return { isGood: false, text: "Bad: this proves nothing about the transaction." };
  return {
    isGood: amount > 0n,
    text: (
      <>
        Good: the address received <Coins value={amount} />. {placeOf(answer!)}
      </>
    ),
  };
}

async function checkSpend(values: Readonly<Record<string, string>>): Promise<Verdict> {
  const { txid = "", message = "", proof = "" } = values;
  const { provenSpend } = await import("./spend.ts");
  const answer = await provenSpend({ txid, message, proof });
  if (answer === undefined) return { isGood: false, text: "Bad: others could have made this proof." };
  return { isGood: true, text: `Good: who proves this has made the transaction. ${placeOf(answer)}` };
}

async function checkReserve(values: Readonly<Record<string, string>>): Promise<Verdict> {
  const { address = "", message = "", proof = "" } = values;
  const { provenReserve } = await import("./reserve.ts");
  const reserve = await provenReserve({ address, message, proof });
  if (reserve === undefined) return { isGood: false, text: "Bad: this proves no funds of the address." };
  const { total, spent } = reserve;
  return {
    isGood: total > spent,
    text: (
      <>
        {total > spent ? "Good" : "Spent"}: the address has had <Coins value={total} />, of which{" "}
        <Coins value={spent} /> are spent by now, says the node.
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
      <Section
        title="Proof of spending"
        aside="checked in this page; the node is asked for the transaction and the keys of its rings"
      >
        <CheckForm
          title="spending"
          fields={[
            { name: "txid", label: "Transaction" },
            { name: "message", label: "Text it is bound to, if any" },
            { name: "proof", label: "Proof", isLong: true },
          ]}
          check={checkSpend}
        />
      </Section>
      <Section
        title="Proof of funds"
        aside="checked in this page; the node is asked for transactions and key images"
      >
        <CheckForm
          title="funds"
          fields={[
            address,
            { name: "message", label: "Text it is bound to, if any" },
            { name: "proof", label: "Proof", isLong: true },
          ]}
          check={checkReserve}
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

import { useState } from "preact/hooks";
import { useAnswer } from "../answers.ts";
import { formatCount } from "../format.ts";
import { Coins, Missing, Section } from "../parts/elements.tsx";
import { QrCode } from "../parts/qr-code.tsx";
import { Table } from "../parts/table.tsx";
import { askWallet, type WalletAnswer } from "../rpc.ts";
import { say } from "../view.ts";

async function addressesOf(wallet: string, account: number, signal: AbortSignal) {
  const [{ subaddress_accounts: accounts }, { addresses }] = await Promise.all([
    askWallet(wallet, "get_accounts", {}, { signal }),
    askWallet(wallet, "get_address", { account_index: account }, { signal }),
  ]);
  return { accounts, addresses };
}

type NewAddressProps = { readonly wallet: string; readonly account: number; readonly onMade: () => void };

function NewAddress({ wallet, account, onMade }: NewAddressProps) {
  const [label, setLabel] = useState("");
  const [fault, setFault] = useState("");
  const make = async (event: Event) => {
    event.preventDefault();
    try {
      await askWallet(wallet, "create_address", { account_index: account, label });
      setLabel("");
      setFault("");
      say("A new address was made");
      onMade();
    } catch (error) {
      setFault((error as Error).message);
    }
  };
  return (
    <form class="fields" onSubmit={make}>
      <label>
        Label of a new address
        <input value={label} onInput={(event) => setLabel(event.currentTarget.value)} autocomplete="off" />
      </label>
      <div class="row">
        <button type="submit">Make an address</button>
        <span class="failure" role="status">
          {fault}
        </span>
      </div>
    </form>
  );
}

type AccountTableProps = {
  readonly accounts: readonly WalletAnswer<"get_accounts">["subaddress_accounts"][number][];
  readonly account: number;
  readonly onChoose: (account: number) => void;
};

function AccountTable({ accounts, account, onChoose }: AccountTableProps) {
  return (
    <Section title="Accounts">
      <Table
        caption="Accounts"
        columns={[
          {
            name: "Account",
            cell: ({ account_index: index }) => (
              <button
                type="button"
                class="plain"
                aria-current={index === account}
                onClick={() => onChoose(index)}
              >
                {index}
              </button>
            ),
          },
          { name: "Label", cell: ({ label }) => label || "–" },
          { name: "Balance", isNumber: true, cell: ({ balance }) => <Coins value={balance} /> },
          {
            name: "Can be spent",
            isNumber: true,
            cell: ({ unlocked_balance }) => <Coins value={unlocked_balance} />,
          },
        ]}
        rows={accounts}
        keyOf={({ account_index }) => String(account_index)}
        empty="None."
      />
    </Section>
  );
}

/** Accounts with their balances, and the addresses of one. */
export function AddressesPart({ wallet }: { readonly wallet: string }) {
  const [account, setAccount] = useState(0);
  const [addressesMade, setMade] = useState(0);
  const [qrAddress, setQrAddress] = useState("");
  const { answer, failure } = useAnswer((signal) => addressesOf(wallet, account, signal), {
    of: [wallet, account, addressesMade],
  });
  if (answer === undefined) return <Missing failure={failure} />;
  return (
    <>
      <AccountTable accounts={answer.accounts ?? []} account={account} onChoose={setAccount} />
      <Section title="Addresses" aside={`of account ${account}`}>
        <Table
          caption={`Addresses of account ${account}`}
          columns={[
            { name: "Index", isNumber: true, cell: ({ address_index }) => formatCount(address_index) },
            { name: "Label", cell: ({ label }) => label || "–" },
            { name: "Used", cell: ({ used }) => (used ? "yes" : "no") },
            { name: "Address", cell: ({ address }) => <code class="long">{address}</code> },
            {
              name: "Code",
              cell: ({ address, address_index: index }) => (
                <button
                  type="button"
                  class="plain"
                  aria-expanded={address === qrAddress}
                  onClick={() => setQrAddress(address === qrAddress ? "" : address)}
                >
                  {address === qrAddress ? "Hide" : "Show"}
                  <span class="unseen"> the QR code of address {index}</span>
                </button>
              ),
            },
          ]}
          rows={answer.addresses}
          keyOf={({ address }) => address}
          empty="None."
        />
        {qrAddress !== "" && <QrCode text={`monero:${qrAddress}`} name={`QR code of ${qrAddress}`} />}
        <NewAddress wallet={wallet} account={account} onMade={() => setMade(addressesMade + 1)} />
      </Section>
    </>
  );
}

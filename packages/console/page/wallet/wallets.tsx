import { useState } from "preact/hooks";
import { useAnswer } from "../answers.ts";
import { Heading, Missing } from "../parts/elements.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { linkTo } from "../route.ts";
import { askWallet, type WalletAnswer } from "../rpc.ts";

type Listed = WalletAnswer<"list_wallets">["wallets"][number];

const EVERY_MS = 5000;
const AT_ONCE = 100;

const columns: readonly Column<Listed>[] = [
  { name: "Wallet", cell: ({ name }) => <a href={linkTo("wallet", name)}>{name}</a> },
  { name: "State", cell: ({ open }) => (open ? "open" : <span class="muted">closed</span>) },
];

/** The wallets of the service's folder, a hundred at a time. */
export function WalletsPage() {
  const [after, setAfter] = useState("");
  const { answer, failure } = useAnswer(
    (signal) => askWallet("", "list_wallets", { after, limit: AT_ONCE }, { signal }),
    { of: [after], everyMs: EVERY_MS },
  );
  const last = answer?.wallets.at(-1)?.name;
  return (
    <>
      <Heading title="Wallets">Wallets</Heading>
      {answer === undefined ? (
        <Missing failure={failure} />
      ) : (
        <>
          <Table
            caption="Wallets"
            columns={columns}
            rows={answer.wallets}
            keyOf={({ name }) => name}
            empty="The folder of wallets is empty."
          />
          <p class="row">
            {after !== "" && (
              <button type="button" onClick={() => setAfter("")}>
                First ones
              </button>
            )}
            {answer.more && last !== undefined && (
              <button type="button" onClick={() => setAfter(last)}>
                Next {AT_ONCE}
              </button>
            )}
          </p>
        </>
      )}
    </>
  );
}

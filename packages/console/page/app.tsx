import { useEffect, useState } from "preact/hooks";
import { useAnswer } from "./answers.ts";
import { nodeViews } from "./node/views.tsx";
import { Heading, Missing } from "./parts/elements.tsx";
import { linkTo, type Route, useRoute } from "./route.ts";
import { askNode, askWallet, CallFailed } from "./rpc.ts";
import { ThemeButton } from "./theme.tsx";
import type { View } from "./view.ts";
import { walletViews } from "./wallet/views.tsx";

type Kind = "node" | "wallet service";

const METHOD_NOT_FOUND = -32601;

/** Which of the two services answers here: only nodes know `get_info`. */
async function findKind(signal: AbortSignal): Promise<Kind> {
  try {
    await askNode("get_info", {}, { signal });
    return "node";
  } catch (error) {
    if (!(error instanceof CallFailed) || error.code !== METHOD_NOT_FOUND) throw error;
    await askWallet("", "get_version", {}, { signal });
    return "wallet service";
  }
}

function Navigation({ views, route }: { readonly views: readonly View[]; readonly route: Route }) {
  const [first = ""] = route;
  return (
    <nav aria-label="Views">
      <ul>
        {views
          .filter(({ name }) => name !== undefined)
          .map(({ path, name, holds = [] }) => (
            <li key={path}>
              <a
                href={linkTo(...(path === "" ? [] : [path]))}
                aria-current={path === first || holds.includes(first) ? "page" : undefined}
              >
                {name}
              </a>
            </li>
          ))}
      </ul>
    </nav>
  );
}

function Content({ views, route }: { readonly views: readonly View[]; readonly route: Route }) {
  const [first = "", ...rest] = route;
  const view = views.find(({ path }) => path === first);
  if (view === undefined) {
    return (
      <>
        <Heading title="Nothing here">Nothing here</Heading>
        <p>
          This service has no such view. <a href={linkTo()}>Begin at the first one.</a>
        </p>
      </>
    );
  }
  const { Page } = view;
  return <Page key={route.join("/")} parts={rest} />;
}

/** The whole page: who answers, the views there are, and the one that is open. */
export function App() {
  const route = useRoute();
  const [notice, setNotice] = useState("");
  const { answer: kind, failure } = useAnswer(findKind, { of: [] });
  const views = kind === undefined ? [] : kind === "node" ? nodeViews : walletViews;
  useEffect(() => {
    const hear = (event: Event) => setNotice((event as CustomEvent<string>).detail);
    addEventListener("said", hear);
    return () => removeEventListener("said", hear);
  }, []);
  const skip = () => document.querySelector("h1")?.focus();
  return (
    <div class="frame">
      <button type="button" class="skip" onClick={skip}>
        Skip to content
      </button>
      <header class="side">
        <p class="brand">
          Anulo <span>{kind ?? "…"}</span>
        </p>
        <Navigation views={views} route={route} />
        <div class="foot">
          <ThemeButton />
        </div>
      </header>
      <main>
        {kind === undefined ? <Missing failure={failure} /> : <Content views={views} route={route} />}
      </main>
      <div class="unseen" role="status" aria-live="polite">
        {notice}
      </div>
    </div>
  );
}

import { useEffect, useState } from "preact/hooks";

type Theme = "system" | "light" | "dark";
const next: Readonly<Record<Theme, Theme>> = { system: "light", light: "dark", dark: "system" };
const KEY = "theme";

function storedTheme(): Theme {
  const stored = localStorage.getItem(KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

/** Changes between the colours of the system, light and dark ones; the choice stays in this browser. */
export function ThemeButton() {
  const [theme, setTheme] = useState(storedTheme);
  useEffect(() => {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    dispatchEvent(new Event("themechange"));
  }, [theme]);
  return (
    <button type="button" class="plain" onClick={() => setTheme(next[theme])}>
      Colours: {theme}
    </button>
  );
}

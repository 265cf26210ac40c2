// Search and colours. Without scripts every page can still be read.
const MOST_RESULTS = 30;
const input = document.querySelector("#search");
const found = document.querySelector("#found");
const button = document.querySelector("#theme");
const { root, index } = document.body.dataset;

/** Loads what is searched when somebody first does. */
function loadIndex() {
  if (self.searchIndex !== undefined || document.querySelector("script[data-search]")) return;
  const script = document.createElement("script");
  script.src = index;
  script.dataset.search = "";
  script.addEventListener("load", search);
  document.head.append(script);
}

/** Titles that begin with the words come first, then titles with them, then texts. */
function rank([, title, text], words) {
  const [name, rest] = [title.toLowerCase(), text.toLowerCase()];
  if (!words.every((word) => name.includes(word) || rest.includes(word))) return 0;
  if (name.startsWith(words.join(" ")) || name.startsWith(`/${words.join(" ")}`)) return 3;
  return words.every((word) => name.includes(word)) ? 2 : 1;
}

function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 || self.searchIndex === undefined) return found.replaceChildren();
  const hits = self.searchIndex
    .map((entry) => ({ entry, rank: rank(entry, words) }))
    .filter((hit) => hit.rank > 0)
    .sort((a, b) => b.rank - a.rank);
  const list = document.createElement("ul");
  for (const { entry } of hits.slice(0, MOST_RESULTS)) {
    const link = document.createElement("a");
    link.href = root + entry[0];
    link.textContent = entry[1];
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
  }
  const count = document.createElement("p");
  count.textContent = hits.length === 1 ? "1 place" : `${hits.length} places`;
  found.replaceChildren(count, list);
}

input.addEventListener("focus", loadIndex);
input.addEventListener("input", () => {
  loadIndex();
  search();
});
input.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    input.value = "";
    search();
  }
  if (event.key === "Enter") found.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? "")) return;
  event.preventDefault();
  input.focus();
});

const next = { system: "light", light: "dark", dark: "system" };
let theme = localStorage.getItem("theme") ?? "system";
function paint() {
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = `Colours: ${theme}`;
}
button.addEventListener("click", () => {
  theme = next[theme] ?? "system";
  if (theme === "system") localStorage.removeItem("theme");
  else localStorage.setItem("theme", theme);
  paint();
});
paint();
